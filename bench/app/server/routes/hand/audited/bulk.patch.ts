/** `PATCH /hand/audited/bulk`: many posts and their entries of the audit log, in one transaction. */
import { updatePosts } from '../../../hand/audit'
import { requireReader } from '../../../hand/posts'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const { items } = await readBody<{ items: unknown[] }>(event)
  const data = updatePosts(items, caller)
  return { data, meta: { total: data.length, successful: data.length, failed: 0 } }
})
