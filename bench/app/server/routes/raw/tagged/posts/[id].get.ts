/** `GET /raw/tagged/posts/:id`: `GET /raw/posts/:id` with an ETag and the metadata of the request. */
import { findPost } from '../../../../hand/raw'
import { requireReader } from '../../../../hand/posts'
import { readId } from '../../../../hand/query'
import { addMetadata, sendTagged } from '../../../../hand/tagged'

export default defineEventHandler((event) => {
  addMetadata(event)
  const caller = requireReader(event)
  const post = findPost(caller, readId(getRouterParam(event, 'id')))
  if (!post) throw createError({ statusCode: 404 })
  return sendTagged(event, post)
})
