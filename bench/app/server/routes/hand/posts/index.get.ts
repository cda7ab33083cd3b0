/** `GET /hand/posts`: a page of posts with a total, or with `hasMore` for `count=none`. */
import { and, count, desc, eq } from 'drizzle-orm'
import { posts, users } from '../../../database/schema'
import { requireReader, visibleTo } from '../../../hand/posts'
import { readPage } from '../../../hand/query'
import { addCommentsAndTags } from '../../../hand/related'
import { conditionOf, selectionOf, toShaped } from '../../../hand/shapes'

export default defineEventHandler((event) => {
  const caller = requireReader(event)
  const { page, limit, counts, featured, byViews, withAuthor, withMany, shape } = readPage(event)
  const db = useDatabase()
  const values = { organization: caller.organizationId, caller: caller.id, editor: caller.permissions.includes('posts:edit') }
  const visible = visibleTo(caller, and(featured ? eq(posts.featured, true) : undefined, conditionOf(shape, values)))
  const order = byViews ? [desc(posts.views), desc(posts.id)] : [posts.id]

  if (withAuthor) {
    const author = and(eq(users.id, posts.authorId), eq(users.organizationId, caller.organizationId))
    const joined = db
      .select({ post: posts, author: { id: users.id, name: users.name } })
      .from(posts)
      .leftJoin(users, author)
      .where(visible)
      .orderBy(...order)
      .limit(limit + 1)
      .offset((page - 1) * limit)
      .all()
    return {
      data: joined.slice(0, limit).map(({ post, author }) => ({ ...post, author })),
      meta: { page, limit, hasMore: joined.length > limit },
    }
  }

  const rows = db
    .select(selectionOf(shape, values))
    .from(posts)
    .where(visible)
    .orderBy(...order)
    .limit(counts ? limit : limit + 1)
    .offset((page - 1) * limit)
    .all()
  if (!counts) {
    const data = shape ? rows.slice(0, limit).map(row => toShaped(shape, row)) : rows.slice(0, limit)
    const records = withMany ? addCommentsAndTags(data as (typeof posts.$inferSelect)[], caller) : data
    return { data: records, meta: { page, limit, hasMore: rows.length > limit } }
  }

  const { total } = db.select({ total: count() }).from(posts).where(visible).get()!
  return { data: rows, meta: { page, limit, total } }
})
