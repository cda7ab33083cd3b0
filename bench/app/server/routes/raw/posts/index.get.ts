/** `GET /raw/posts` */
import { findPosts } from '../../../hand/raw'
import { requireReader } from '../../../hand/posts'
import { readPage } from '../../../hand/query'

export default defineEventHandler((event) => {
  const caller = requireReader(event)
  return findPosts(caller, readPage(event))
})
