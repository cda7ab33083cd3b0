/** The same rules by hand: the caller's organisation, and of it what is published or the caller's own; everything for editors. */
import { and, eq, or, type SQL } from 'drizzle-orm'
import { createError, type H3Event } from 'h3'
import { posts } from '../database/schema'

interface Caller {
  id: number
  organizationId: number
  permissions: readonly string[]
}

/** @throws 401 and 403 */
export function visibleFor(event: H3Event, condition?: SQL): SQL | undefined {
  const user = event.context.user as Caller | undefined
  if (!user) throw createError({ statusCode: 401 })
  if (!user.permissions.includes('posts:read')) throw createError({ statusCode: 403 })
  return and(
    condition,
    eq(posts.organizationId, user.organizationId),
    user.permissions.includes('posts:edit') ? undefined : or(eq(posts.status, 'published'), eq(posts.authorId, user.id)),
  )
}
