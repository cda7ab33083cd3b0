/** `POST /hand/posts/bulk`: one insert after another in one transaction. */
import { posts } from '../../../database/schema'
import { checkDrafts } from '../../../hand/draft'
import { countAuthors, requireReader } from '../../../hand/posts'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const { items } = await readBody<{ items: unknown[] }>(event)
  const drafts = checkDrafts(items, caller, countAuthors)
  const data = useDatabase().transaction(tx => drafts.map(draft => tx.insert(posts).values(draft).returning().all()[0]!))
  return { data, meta: { total: data.length, successful: data.length, failed: 0 } }
})
