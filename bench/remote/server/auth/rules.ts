/** Authorization of the registered resources. */
import { eq, or } from 'drizzle-orm'
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { posts, users } from '#tables'

export const postsAuth = defineResourceAuth<typeof posts>({
  permissions: { read: 'posts:read' },
  listFilter: (table, { user, permissions }) =>
    permissions.includes('posts:edit') ? undefined : or(eq(table.status, 'published'), eq(table.authorId, user!.id as number)),
})

export const usersAuth = defineResourceAuth<typeof users>({ permissions: { read: 'posts:read' } })
