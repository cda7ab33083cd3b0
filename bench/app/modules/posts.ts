/** Registers the measured tables: this is all that our side of the comparison is written with. */
import { createModuleImport } from 'nuxt-auto-api'
import { createResolver, defineNuxtModule } from 'nuxt/kit'

/** How many there are in all; nobody asks those that fill up. */
const RESOURCES = Number(process.env.BENCH_RESOURCES ?? 5)

export default defineNuxtModule({
  meta: { name: 'bench-posts' },
  setup(_options, nuxt) {
    const { resolve } = createResolver(import.meta.url)

    nuxt.hook('autoApi:registerSchema', (registry) => {
      registry.register('posts', {
        schema: createModuleImport(resolve('../server/database/schema'), 'posts'),
        authorization: createModuleImport(resolve('../server/auth/posts'), 'postsAuth'),
      })
      registry.register('hooked', {
        schema: createModuleImport(resolve('../server/database/schema'), 'posts'),
        authorization: createModuleImport(resolve('../server/auth/posts'), 'postsAuth'),
        hooks: createModuleImport(resolve('../server/hooks'), 'postsHooks'),
      })
      registry.register('users', {
        schema: createModuleImport(resolve('../server/database/schema'), 'users'),
        authorization: createModuleImport(resolve('../server/auth/posts'), 'usersAuth'),
      })
      for (let index = 3; index < RESOURCES; index++) {
        registry.register(`more${index}`, {
          schema: createModuleImport(resolve('../server/database/schema'), 'organizations'),
          authorization: createModuleImport(resolve('../server/auth/posts'), 'organizationsAuth'),
        })
      }
    })
  },
})
