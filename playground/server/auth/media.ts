/** Media: anonymous callers see files of published posts, staff sees all files. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { media } from '../database/schema'
import { isMine, nothing, onReadablePost } from './visibility'

export const mediaAuth = defineResourceAuth<typeof media>({
  permissions: {
    read: true,
    create: 'media:write',
    update: 'media:write',
    delete: 'media:delete',
  },
  listFilter: (table, ctx) => {
    if (ctx.permissions.includes('posts:edit'))
      return undefined
    if (ctx.operation === 'update')
      return isMine(table.createdBy, ctx) ?? nothing
    return ctx.permissions.includes('media:write') ? undefined : onReadablePost(table.postId, ctx)
  },
})
