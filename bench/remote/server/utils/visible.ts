/** The handwritten authorization: published posts and own posts of the caller's organization; all its posts for editors. */
import { and, eq, or, type SQL } from 'drizzle-orm'
import { createError, type H3Event } from 'h3'
import { posts } from '#tables'

export interface Caller {
  id: number
  organizationId: number
  permissions: readonly string[]
}

/** @throws 401 and 403 */
export function requireCaller(event: H3Event): Caller {
  const user = event.context.user as Caller | undefined
  if (!user) throw createError({ statusCode: 401 })
  if (!user.permissions.includes('posts:read')) throw createError({ statusCode: 403 })
  return user
}

/** @throws 401 and 403 */
export function visibleFor(event: H3Event, condition?: SQL): SQL | undefined {
  const user = requireCaller(event)
  return and(
    condition,
    eq(posts.organizationId, user.organizationId),
    user.permissions.includes('posts:edit') ? undefined : or(eq(posts.status, 'published'), eq(posts.authorId, user.id)),
  )
}
