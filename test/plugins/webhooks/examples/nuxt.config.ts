/** Example of docs/4.plugins/8.webhooks.md. */
import { createModuleImport } from 'nuxt-auto-api'
import { webhooks } from 'nuxt-auto-api/plugins'

export default {
  autoApi: {
    plugins: [
      webhooks({ findUser: createModuleImport('~~/server/users', 'findUser') }),
    ],
  },
}
