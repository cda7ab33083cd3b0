/** Example of the docs pages on plugins. */
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
