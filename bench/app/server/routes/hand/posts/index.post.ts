/** `POST /hand/posts`: one post. */
import { posts } from '../../../database/schema'
import { checkDrafts } from '../../../hand/draft'
import { requireReader } from '../../../hand/posts'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const [draft] = checkDrafts([await readBody(event)], caller)
  const [post] = useDatabase().insert(posts).values(draft!).returning().all()
  setResponseStatus(event, 201)
  return post
})
