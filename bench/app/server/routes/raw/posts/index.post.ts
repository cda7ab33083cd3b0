/** `POST /raw/posts` */
import { checkDrafts } from '../../../hand/draft'
import { requireReader } from '../../../hand/posts'
import { countAuthors, insertPost } from '../../../hand/raw'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const [draft] = checkDrafts([await readBody(event)], caller, countAuthors)
  setResponseStatus(event, 201)
  return insertPost(draft!)
})
