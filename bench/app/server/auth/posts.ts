/** Authorization of the registered resources. */
import { eq, or, sql } from 'drizzle-orm'
import { computed, defineResourceAuth } from 'nuxt-auto-api/define'
import { posts, type auditLog, type comments, type organizations, type tags, type users } from '../database/schema'

export const postsAuth = defineResourceAuth<typeof posts>({
  permissions: { read: 'posts:read', create: 'posts:read', update: 'posts:read' },
  listFilter: (table, { user, permissions }) =>
    permissions.includes('posts:edit') ? undefined : or(eq(table.status, 'published'), eq(table.authorId, user!.id as number)),
})

export const postsComputed = { titleLength: computed.integer(sql`length(${posts.title})`, { lazy: true }) }

export const usersAuth = defineResourceAuth<typeof users>({ permissions: { read: 'posts:read' } })

export const commentsAuth = defineResourceAuth<typeof comments>({ permissions: { read: 'posts:read', create: 'posts:read' } })

export const tagsAuth = defineResourceAuth<typeof tags>({ permissions: { read: 'posts:read' } })

export const organizationsAuth = defineResourceAuth<typeof organizations>({ permissions: { read: 'posts:read' } })

export const auditLogAuth = defineResourceAuth<typeof auditLog>({ permissions: { read: 'posts:edit' } })
