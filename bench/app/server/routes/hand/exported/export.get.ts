/** `GET /hand/exported/export`: all visible posts as one file, in pages by key. */
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { asc, getTableColumns, gt } from 'drizzle-orm'
import { posts } from '../../../database/schema'
import { requireReader, visibleTo, type Caller } from '../../../hand/posts'

type Post = typeof posts.$inferSelect

interface Format {
  readonly type: string
  readonly begin: string
  readonly record: (post: Post) => string
  readonly separator: string
  readonly end: (isEmpty: boolean) => string
}

const COLUMNS = Object.keys(getTableColumns(posts)) as (keyof Post)[]

const toCell = (value: Post[keyof Post]): string => {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'string') return String(value)
  return value === '' || /[,"\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

const FORMATS: Readonly<Record<string, Format>> = {
  csv: {
    type: 'text/csv',
    begin: `${COLUMNS.join(',')}\r\n`,
    record: post => COLUMNS.map(name => toCell(post[name])).join(','),
    separator: '\r\n',
    end: isEmpty => (isEmpty ? '' : '\r\n'),
  },
  ndjson: {
    type: 'application/x-ndjson',
    begin: '',
    record: post => JSON.stringify(post),
    separator: '\n',
    end: isEmpty => (isEmpty ? '' : '\n'),
  },
  json: { type: 'application/json', begin: '[', record: post => JSON.stringify(post), separator: ',\n', end: () => ']\n' },
}

const PAGE = 1000

export default defineEventHandler((event) => {
  const caller = requireReader(event)
  const format = FORMATS[String(getQuery(event).format)]
  if (!format) throw createError({ statusCode: 400 })
  setResponseHeader(event, 'content-type', `${format.type}; charset=utf-8`)
  return sendStream(event, Readable.from(pagesOf(caller, format)))
})

async function* pagesOf(caller: Caller, { begin, record, separator, end }: Format) {
  let text = begin
  let last = 0
  for (;;) {
    const rows = useDatabase().select().from(posts).where(visibleTo(caller, gt(posts.id, last))).orderBy(asc(posts.id)).limit(PAGE).all()
    yield text + rows.map(record).join(separator)
    if (rows.length > 0) last = rows.at(-1)!.id
    if (rows.length < PAGE) break
    text = separator
    await setImmediate()
  }
  yield end(last === 0)
}
