/** `GET /prepared/posts/:id` */
import { findPost } from '../../../hand/prepared'
import { requireReader } from '../../../hand/posts'
import { readId } from '../../../hand/query'

export default defineEventHandler((event) => {
  const caller = requireReader(event)
  const post = findPost(caller, readId(getRouterParam(event, 'id')))
  if (!post) throw createError({ statusCode: 404 })
  return post
})
