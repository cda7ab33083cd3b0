/** `GET /raw/posts/:id` */
import { readId } from '../../../../../app/server/hand/query'

export default defineEventHandler(async (event) => {
  const post = await findPost(requireCaller(event), readId(getRouterParam(event, 'id')))
  if (!post) throw createError({ statusCode: 404 })
  return post
})
