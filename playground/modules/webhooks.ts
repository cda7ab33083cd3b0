/** Registers the webhooks of the plugin `webhooks`, and their deliveries. */
import { createModuleImport } from 'nuxt-auto-api'
import { createResolver, defineNuxtModule } from 'nuxt/kit'

export default defineNuxtModule({
  meta: { name: 'newsroom-webhooks' },
  setup(_options, nuxt) {
    const { resolve } = createResolver(import.meta.url)

    nuxt.hook('autoApi:registerSchema', (registry) => {
      registry.register('webhooks', {
        schema: createModuleImport(resolve('../server/database/schema'), 'webhooks'),
        authorization: createModuleImport(resolve('../server/auth/webhooks'), 'webhooksAuth'),
      })
      registry.register('webhookDeliveries', {
        schema: createModuleImport(resolve('../server/database/schema'), 'webhookDeliveries'),
        authorization: createModuleImport(resolve('../server/auth/webhooks'), 'webhookDeliveriesAuth'),
      })
    })
  },
})
