/** Registers the measured tables. */
import { createModuleImport } from 'nuxt-auto-api'
import { createResolver, defineNuxtModule } from 'nuxt/kit'

/** Number of resources. Resources after the sixth are never requested. */
const RESOURCES = Number(process.env.BENCH_RESOURCES ?? 6)

export default defineNuxtModule({
  meta: { name: 'bench-posts' },
  setup(_options, nuxt) {
    const { resolve } = createResolver(import.meta.url)

    nuxt.hook('autoApi:registerSchema', (registry) => {
      registry.register('posts', {
        schema: createModuleImport(resolve('../server/database/schema'), 'posts'),
        authorization: createModuleImport(resolve('../server/auth/posts'), 'postsAuth'),
        computed: createModuleImport(resolve('../server/auth/posts'), 'postsComputed'),
        nested: { comments: ['create'] },
      })
      registry.register('hooked', {
        schema: createModuleImport(resolve('../server/database/schema'), 'posts'),
        authorization: createModuleImport(resolve('../server/auth/posts'), 'postsAuth'),
        computed: createModuleImport(resolve('../server/auth/posts'), 'postsComputed'),
        nested: { comments: ['create'] },
        hooks: createModuleImport(resolve('../server/hooks'), 'postsHooks'),
      })
      registry.register('users', {
        schema: createModuleImport(resolve('../server/database/schema'), 'users'),
        authorization: createModuleImport(resolve('../server/auth/posts'), 'usersAuth'),
      })
      registry.register('comments', {
        schema: createModuleImport(resolve('../server/database/schema'), 'comments'),
        authorization: createModuleImport(resolve('../server/auth/posts'), 'commentsAuth'),
      })
      registry.register('tags', {
        schema: createModuleImport(resolve('../server/database/schema'), 'tags'),
        authorization: createModuleImport(resolve('../server/auth/posts'), 'tagsAuth'),
      })
      registry.register('auditLog', {
        schema: createModuleImport(resolve('../server/database/schema'), 'auditLog'),
        authorization: createModuleImport(resolve('../server/auth/posts'), 'auditLogAuth'),
      })
      for (const name of process.env.BENCH_WEBHOOKS ? ['webhooks', 'webhookDeliveries'] : []) {
        registry.register(name, {
          schema: createModuleImport(resolve('../server/database/webhooks'), name),
          authorization: createModuleImport(resolve('../server/auth/webhooks'), `${name}Auth`),
        })
      }
      for (let index = 6; index < RESOURCES; index++) {
        registry.register(`more${index}`, {
          schema: createModuleImport(resolve('../server/database/schema'), 'organizations'),
          authorization: createModuleImport(resolve('../server/auth/posts'), 'organizationsAuth'),
        })
      }
    })
  },
})
