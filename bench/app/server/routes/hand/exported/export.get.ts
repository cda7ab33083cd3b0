/** `GET /hand/exported/export`: all visible posts as one JSON array, in pages by key. */
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { asc, gt } from 'drizzle-orm'
import { posts } from '../../../database/schema'
import { requireReader, visibleTo, type Caller } from '../../../hand/posts'

const PAGE = 1000

export default defineEventHandler((event) => {
  const caller = requireReader(event)
  setResponseHeader(event, 'content-type', 'application/json; charset=utf-8')
  return sendStream(event, Readable.from(pagesOf(caller)))
})

async function* pagesOf(caller: Caller) {
  let text = '['
  for (let last = 0; ;) {
    const rows = useDatabase().select().from(posts).where(visibleTo(caller, gt(posts.id, last))).orderBy(asc(posts.id)).limit(PAGE).all()
    yield text + rows.map(row => JSON.stringify(row)).join(',\n')
    if (rows.length < PAGE) break
    text = ',\n'
    last = rows.at(-1)!.id
    await setImmediate()
  }
  yield ']\n'
}
