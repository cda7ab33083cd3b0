/** `POST /prepared/outbox`: one post and its row in the outbox. */
import { checkDrafts } from '../../../hand/draft'
import { requireReader } from '../../../hand/posts'
import { countAuthors, insertRecordedPost } from '../../../hand/prepared'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const [draft] = checkDrafts([await readBody(event)], caller, countAuthors)
  setResponseStatus(event, 201)
  return insertRecordedPost(draft!)
})
