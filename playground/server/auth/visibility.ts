/** Row filters of several resources. */
import { and, eq, exists, isNull, or, sql, type Column, type SQL } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/sqlite-core'
import type { AutoApiContext } from 'nuxt-auto-api/define'
import { posts } from '../database/schema'

type Viewer = Pick<AutoApiContext, 'user' | 'permissions'>

/** A condition that is never true. */
export const nothing = sql`1 = 0`

/** Rows with the caller's id in the column; `undefined` (no condition) for anonymous callers. */
export function isMine(column: Column, { user }: Viewer): SQL | undefined {
  return user ? eq(column, user.id) : undefined
}

/** Published posts and the caller's own; all posts for editors. */
export function readablePosts(table: typeof posts, viewer: Viewer): SQL | undefined {
  if (viewer.permissions.includes('posts:edit'))
    return undefined
  return or(eq(table.status, 'published'), isMine(table.authorId, viewer), isMine(table.createdBy, viewer))
}

/** Rows of a visible post: `exists (select … from posts where posts.id = <postId> and …)`. */
export function onReadablePost(postId: Column, viewer: Viewer): SQL {
  return exists(
    new QueryBuilder()
      .select({ id: posts.id })
      .from(posts)
      .where(and(eq(posts.id, postId), isNull(posts.deletedAt), readablePosts(posts, viewer))),
  )
}
