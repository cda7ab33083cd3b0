/** `GET /hand/posts`: a page of posts without a total. */
import { and, eq } from 'drizzle-orm'
import { readPage } from '../../../../../app/server/hand/query'
import { posts, users } from '#tables'

export default defineEventHandler(async (event) => {
  const visible = visibleFor(event)
  const { page, limit, withAuthor } = readPage(event)
  const db = useDatabase()
  const start = (page - 1) * limit

  if (withAuthor) {
    const author = and(eq(users.id, posts.authorId), eq(users.organizationId, posts.organizationId))
    const joined = await db
      .select({ post: posts, author: { id: users.id, name: users.name } })
      .from(posts)
      .leftJoin(users, author)
      .where(visible)
      .orderBy(posts.id)
      .limit(limit + 1)
      .offset(start)
    return {
      data: joined.slice(0, limit).map(({ post, author }) => ({ ...post, author })),
      meta: { page, limit, hasMore: joined.length > limit },
    }
  }

  const rows = await db.select().from(posts).where(visible).orderBy(posts.id).limit(limit + 1).offset(start)
  return { data: rows.slice(0, limit), meta: { page, limit, hasMore: rows.length > limit } }
})
