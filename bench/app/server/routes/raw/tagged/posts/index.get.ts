/** `GET /raw/tagged/posts`: `GET /raw/posts` with an ETag and the metadata of the request. */
import { findPosts } from '../../../../hand/raw'
import { requireReader } from '../../../../hand/posts'
import { readPage } from '../../../../hand/query'
import { addMetadata, sendTagged } from '../../../../hand/tagged'

export default defineEventHandler((event) => {
  addMetadata(event)
  const caller = requireReader(event)
  return sendTagged(event, findPosts(caller, readPage(event)))
})
