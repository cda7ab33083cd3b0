/** `POST /hand/posts`: one post. */
import { posts } from '../../../database/schema'
import { checkDrafts } from '../../../hand/draft'
import { countAuthors, requireReader } from '../../../hand/posts'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const [draft] = checkDrafts([await readBody(event)], caller, countAuthors)
  const [post] = useDatabase().insert(posts).values(draft!).returning().all()
  setResponseStatus(event, 201)
  return post
})
