/** `PATCH /hand/audited/:id`: one post and its entry of the audit log, in one transaction. */
import { toChange, updatePosts } from '../../../hand/audit'
import { requireReader } from '../../../hand/posts'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const change = toChange(getRouterParam(event, 'id'), await readBody(event))
  return updatePosts([change], caller)[0]
})
