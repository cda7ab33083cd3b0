/** Example of the docs page `webhooks`. */
import { createModuleImport } from 'nuxt-auto-api'
import { webhooks } from 'nuxt-auto-api/plugins'

export default {
  autoApi: {
    plugins: [
      webhooks({ findUser: createModuleImport('~~/server/users', 'findUser') }),
    ],
  },
}
