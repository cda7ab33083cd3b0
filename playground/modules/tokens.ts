/** Registers the API tokens of the plugin `apiTokens`. */
import { createModuleImport } from 'nuxt-auto-api'
import { createResolver, defineNuxtModule } from 'nuxt/kit'

export default defineNuxtModule({
  meta: { name: 'newsroom-tokens' },
  setup(_options, nuxt) {
    const { resolve } = createResolver(import.meta.url)

    nuxt.hook('autoApi:registerSchema', (registry) => {
      registry.register('apiTokens', {
        schema: createModuleImport(resolve('../server/database/schema'), 'apiTokens'),
        authorization: createModuleImport(resolve('../server/auth/api-tokens'), 'apiTokensAuth'),
        metadata: { label: 'API tokens' },
      })
    })
  },
})
