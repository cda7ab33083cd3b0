/** Example of the docs page `overview`: several plugins in their order. */
import { requestMetadata, responseCache } from 'nuxt-auto-api/plugins'

export default {
  modules: ['nuxt-auto-api'],
  autoApi: {
    plugins: [
      requestMetadata(),
      './server/api-plugins',
      responseCache({ ttl: 60 }),
    ],
  },
}
