/** Posts: every caller reads published posts, writers also their own drafts, editors all posts of their organization. */
import { or } from 'drizzle-orm'
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { posts } from '../database/schema'
import { isMine, nothing, readablePosts } from './visibility'

export const postsAuth = defineResourceAuth<typeof posts>({
  permissions: {
    read: true,
    create: 'posts:write',
    update: 'posts:write',
    delete: 'posts:delete',
    restore: 'posts:delete',
    purge: 'posts:purge',
  },
  listFilter: (table, ctx) => {
    if (ctx.permissions.includes('posts:edit'))
      return undefined
    // Callers can read posts of others, but update only their own.
    if (ctx.operation === 'update')
      return or(isMine(table.authorId, ctx), isMine(table.createdBy, ctx)) ?? nothing
    return readablePosts(table, ctx)
  },
  fields: {
    status: { write: 'posts:publish' },
    featured: { write: 'posts:edit' },
  },
})
