/** `POST /raw/posts/bulk` */
import { checkDrafts } from '../../../hand/draft'
import { requireReader } from '../../../hand/posts'
import { countAuthors, insertPost } from '../../../hand/raw'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const { items } = await readBody<{ items: unknown[] }>(event)
  const drafts = checkDrafts(items, caller, countAuthors)
  const data = useDatabase().$client.transaction(() => drafts.map(insertPost))()
  return { data, meta: { total: data.length, successful: data.length, failed: 0 } }
})
