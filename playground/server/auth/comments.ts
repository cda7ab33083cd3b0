/** Comments: visible with their post after approval, written by signed-in callers as themselves, moderated by editors. */
import { and, eq, or } from 'drizzle-orm'
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { comments } from '../database/schema'
import { isMine, nothing, onReadablePost } from './visibility'

export const commentsAuth = defineResourceAuth<typeof comments>({
  permissions: {
    read: true,
    create: 'comments:write',
    update: 'comments:write',
    delete: 'comments:write',
    restore: 'comments:moderate',
    purge: 'posts:purge',
  },
  listFilter: (table, ctx) => {
    if (ctx.permissions.includes('comments:moderate'))
      return undefined
    const mine = isMine(table.createdBy, ctx)
    if (ctx.operation === 'update' || ctx.operation === 'delete')
      return mine ?? nothing
    return and(onReadablePost(table.postId, ctx), or(eq(table.status, 'approved'), mine))
  },
  fields: {
    status: { write: 'comments:moderate' },
    authorId: { write: 'comments:moderate' },
  },
})
