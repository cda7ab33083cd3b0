/** `GET /hand/posts/:id`: one post. */
import { eq } from 'drizzle-orm'
import { posts } from '../../../database/schema'
import { requireReader, visibleTo } from '../../../hand/posts'

export default defineEventHandler((event) => {
  const caller = requireReader(event)
  const id = getRouterParam(event, 'id')!
  if (!/^[1-9]\d{0,14}$/.test(id)) throw createError({ statusCode: 404 })

  const post = useDatabase().select().from(posts).where(visibleTo(caller, eq(posts.id, Number(id)))).get()
  if (!post) throw createError({ statusCode: 404 })
  return post
})
