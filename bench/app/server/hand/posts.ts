/** The handwritten authorization: permission and visible rows, as in an app with a few routes. */
import { and, eq, inArray, or, type SQL } from 'drizzle-orm'
import { createError, type H3Event } from 'h3'
import { posts, users } from '../database/schema'
import type { CountAuthors } from './draft'

export interface Caller {
  id: number
  organizationId: number
  permissions: readonly string[]
}

/** @throws 401 and 403 */
export function requireReader(event: H3Event): Caller {
  const user = event.context.user as Caller | undefined
  if (!user) throw createError({ statusCode: 401 })
  if (!user.permissions.includes('posts:read')) throw createError({ statusCode: 403 })
  return user
}

/** Published posts and own posts of the caller's organization; all its posts for editors. */
export function visibleTo({ id, organizationId, permissions }: Caller, condition?: SQL): SQL | undefined {
  return and(
    condition,
    eq(posts.organizationId, organizationId),
    permissions.includes('posts:edit') ? undefined : or(eq(posts.status, 'published'), eq(posts.authorId, id)),
  )
}

export const countAuthors: CountAuthors = (ids, organization) =>
  useDatabase()
    .select({ id: users.id })
    .from(users)
    .where(and(inArray(users.id, [...ids]), eq(users.organizationId, organization)))
    .all().length
