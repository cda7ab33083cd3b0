/** `POST /hand/posts/bulk`: one insert after another in one transaction, and two inserts for posts with comments. */
import { posts } from '../../../database/schema'
import { checkDrafts, checkThreads, hasComments } from '../../../hand/draft'
import { countAuthors, requireReader } from '../../../hand/posts'
import { insertThreads } from '../../../hand/threads'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const { items } = await readBody<{ items: unknown[] }>(event)
  const data = hasComments(items)
    ? insertThreads(checkThreads(items, caller, countAuthors))
    : insertPosts(checkDrafts(items, caller, countAuthors))
  return { data, meta: { total: data.length, successful: data.length, failed: 0 } }
})

const insertPosts = (drafts: ReturnType<typeof checkDrafts>) =>
  useDatabase().transaction(tx => drafts.map(draft => tx.insert(posts).values(draft).returning().all()[0]!))
