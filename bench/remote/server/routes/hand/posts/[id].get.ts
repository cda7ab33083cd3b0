/** `GET /hand/posts/:id`: one post. */
import { eq } from 'drizzle-orm'
import { readId } from '../../../../../app/server/hand/query'
import { posts } from '#tables'

export default defineEventHandler(async (event) => {
  const id = readId(getRouterParam(event, 'id'))
  const [post] = await useDatabase().select().from(posts).where(visibleFor(event, eq(posts.id, id)))
  if (!post) throw createError({ statusCode: 404 })
  return post
})
