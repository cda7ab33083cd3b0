/** Row rules that several resources share, in SQL. */
import { and, eq, exists, isNull, or, sql, type Column, type SQL } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/sqlite-core'
import type { AutoApiContext } from 'nuxt-auto-api/define'
import { posts } from '../database/schema'

type Viewer = Pick<AutoApiContext, 'user' | 'permissions'>

/** No row at all. */
export const nothing = sql`1 = 0`

/** The column holds the caller's id; `undefined` (no condition) for callers who are not signed in. */
export function isMine(column: Column, { user }: Viewer): SQL | undefined {
  return user ? eq(column, user.id) : undefined
}

/** Published, or the caller's own, or anything for an editor. */
export function readablePosts(table: typeof posts, viewer: Viewer): SQL | undefined {
  if (viewer.permissions.includes('posts:edit'))
    return undefined
  return or(eq(table.status, 'published'), isMine(table.authorId, viewer), isMine(table.createdBy, viewer))
}

/** What hangs on a post is visible where the post is: `exists (select … from posts where posts.id = <postId> and …)`. */
export function onReadablePost(postId: Column, viewer: Viewer): SQL {
  return exists(
    new QueryBuilder()
      .select({ id: posts.id })
      .from(posts)
      .where(and(eq(posts.id, postId), isNull(posts.deletedAt), readablePosts(posts, viewer))),
  )
}
