/** Registers the tables of the playground, except those of `server/resources`. */
import { createModuleImport } from 'nuxt-auto-api'
import { createResolver, defineNuxtModule } from 'nuxt/kit'
import { COMMENT_STATUS, POST_STATUS } from '../app/statuses'

export default defineNuxtModule({
  meta: { name: 'newsroom' },
  setup(_options, nuxt) {
    const { resolve } = createResolver(import.meta.url)

    nuxt.hook('autoApi:registerSchema', (registry) => {
      registry.register('posts', {
        schema: createModuleImport(resolve('../server/database/schema'), 'posts'),
        authorization: createModuleImport(resolve('../server/auth/posts'), 'postsAuth'),
        protectedFields: ['views'],
        nested: { comments: ['create', 'update', 'delete'] },
        computed: createModuleImport(resolve('../server/computed/posts'), 'postsComputed'),
        validation: createModuleImport(resolve('../server/validation/posts'), 'postsValidation'),
        metadata: {
          icon: 'i-lucide-newspaper',
          fields: {
            ...inTable('id', 'title', 'status', 'authorId', 'publishedAt').fields,
            status: { column: 2, ...POST_STATUS },
            readingTime: { label: 'Minutes to read' },
            commentCount: { label: 'Comments', column: 5 },
          },
        },
      })
      registry.register('comments', {
        schema: createModuleImport(resolve('../server/database/schema'), 'comments'),
        authorization: createModuleImport(resolve('../server/auth/comments'), 'commentsAuth'),
        metadata: {
          icon: 'i-lucide-message-square',
          fields: {
            ...inTable('id', 'body', 'status', 'postId', 'createdAt').fields,
            status: { column: 2, ...COMMENT_STATUS },
          },
        },
      })
      registry.register('media', {
        schema: createModuleImport(resolve('../server/database/schema'), 'media'),
        authorization: createModuleImport(resolve('../server/auth/media'), 'mediaAuth'),
        metadata: { icon: 'i-lucide-image', singular: 'media file', ...inTable('filename', 'kind', 'bytes', 'postId') },
      })
      registry.register('users', {
        schema: createModuleImport(resolve('../server/database/schema'), 'users'),
        authorization: createModuleImport(resolve('../server/auth/users'), 'usersAuth'),
        hiddenFields: ['passwordHash'],
        metadata: { icon: 'i-lucide-users', ...inTable('id', 'name', 'role', 'email', 'salary') },
      })
      registry.register('organizations', {
        schema: createModuleImport(resolve('../server/database/schema'), 'organizations'),
        authorization: createModuleImport(resolve('../server/auth/organizations'), 'organizationsAuth'),
        disabled: ['create', 'delete', 'purge'],
        metadata: { label: 'Organisations', singular: 'organisation', icon: 'i-lucide-building', ...inTable('id', 'name', 'city') },
      })
      registry.register('auditLog', {
        schema: createModuleImport(resolve('../server/database/schema'), 'auditLog'),
        authorization: createModuleImport(resolve('../server/auth/audit-log'), 'auditLogAuth'),
        metadata: { label: 'Audit log', ...inTable('at', 'kind', 'resource', 'recordId', 'userId') },
      })
    })
  },
})

/** Marks the fields that the tables of the playground show, in their order. */
function inTable(...names: string[]) {
  return { fields: Object.fromEntries(names.map((name, column) => [name, { column }])) }
}
