/** `POST /raw/posts/bulk` */
import { checkDrafts, checkThreads, hasComments } from '../../../hand/draft'
import { requireReader } from '../../../hand/posts'
import { countAuthors, insertPost } from '../../../hand/raw'
import { insertRawThreads } from '../../../hand/threads'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const { items } = await readBody<{ items: unknown[] }>(event)
  const data = hasComments(items)
    ? insertRawThreads(checkThreads(items, caller, countAuthors))
    : insertPosts(checkDrafts(items, caller, countAuthors))
  return { data, meta: { total: data.length, successful: data.length, failed: 0 } }
})

const insertPosts = (drafts: ReturnType<typeof checkDrafts>) =>
  useDatabase().$client.transaction(() => drafts.map(insertPost))()
