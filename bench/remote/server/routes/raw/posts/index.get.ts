/** `GET /raw/posts`: a page of posts without a total. */
import { readPage } from '../../../../../app/server/hand/query'

export default defineEventHandler((event) => {
  const caller = requireCaller(event)
  const { page, limit, withAuthor } = readPage(event)
  return findPosts(caller, page, limit, withAuthor)
})
