/** Registers the measured tables. */
import { createModuleImport } from '@websideproject/nuxt-auto-api'
import { createResolver, defineNuxtModule } from 'nuxt/kit'

export default defineNuxtModule({
  meta: { name: 'bench-posts' },
  setup(_options, nuxt) {
    const { resolve } = createResolver(import.meta.url)
    nuxt.hook('autoApi:registerSchema' as never, ((registry: { register: (name: string, resource: object) => void }) => {
      registry.register('posts', {
        schema: createModuleImport(resolve('../server/schema'), 'posts'),
        authorization: createModuleImport(resolve('../server/auth'), 'postsAuth'),
        validation: createModuleImport(resolve('../server/auth'), 'postsValidation'),
      })
      registry.register('users', { schema: createModuleImport(resolve('../server/schema'), 'users') })
    }) as never)
  },
})
