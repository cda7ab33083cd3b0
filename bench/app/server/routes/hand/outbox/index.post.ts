/** `POST /hand/outbox`: one post and its row in the outbox, in one transaction. */
import { outbox, posts } from '../../../database/schema'
import { checkDrafts } from '../../../hand/draft'
import { STORES_POST } from '../../../hand/outbox'
import { countAuthors, requireReader } from '../../../hand/posts'

export default defineEventHandler(async (event) => {
  const caller = requireReader(event)
  const [draft] = checkDrafts([await readBody(event)], caller, countAuthors)
  const post = useDatabase().transaction((tx) => {
    const post = tx.insert(posts).values(draft!).returning().all()[0]!
    const { id, organizationId } = post
    const after = STORES_POST ? post : null
    tx.insert(outbox).values({ kind: 'posts.create', recordId: String(id), organizationId, after, createdAt: new Date() }).run()
    return post
  })
  setResponseStatus(event, 201)
  return post
})
