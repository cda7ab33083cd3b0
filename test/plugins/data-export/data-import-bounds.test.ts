/** Bounds of imports: the memory that a file needs, the imports that run at a time, and uploads that arrive too slowly. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, expect, it, vi } from 'vitest'
import { dataExport, type DataExportOptions } from '../../../src/runtime/plugins'
import { endSlow } from '../../../src/runtime/plugins/data-export/server/import/slow'
import { createServer, type Caller } from '../../support/server'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  title: text('title'),
  meta: text('meta', { mode: 'json' }),
})

let client: Database.Database | undefined
afterEach(() => {
  vi.useRealTimers()
  client?.close()
  client = undefined
})

const [CSV, NDJSON] = ['text/csv', 'application/x-ndjson']
const caller = (id: number): Caller => ({ user: { id }, permissions: ['write'] })
const MB = 1024 ** 2

async function open(options: DataExportOptions = {}, beforeCreate?: () => Promise<void>) {
  client = new Database(':memory:')
  client.exec('create table posts (id integer primary key autoincrement, title text, meta text)')
  const server = await createServer({
    db: drizzle({ client }),
    registrations: [{
      name: 'posts', schema: posts, authorization: { permissions: { read: true, create: 'write', update: 'write' } },
      ...beforeCreate && { hooks: { beforeCreate } },
    }],
    plugins: [dataExport(options)],
  })
  const send = async (raw: string, type = NDJSON, user = 1) => {
    const { status, body, headers } = await server.request('POST', '/api/posts/import', {
      raw,
      caller: caller(user),
      headers: { 'content-type': type },
    })
    return {
      status,
      code: body?.data?.code as string | undefined,
      message: String(body?.message),
      retryAfter: headers.get('retry-after'),
      body,
    }
  }
  return { server, send }
}

/** Repeats JSON until it has almost the size of a line. */
function fill(part: (index: number) => string, size = MB - 1000): string {
  let text = ''
  for (let index = 0; text.length < size; index++) text += part(index)
  return text
}
const repeat = (line: string, lines = 31) => Array.from({ length: lines }, () => line).join('\n')

/** Files of about 32 MB. Without the limit, they needed up to 1.6 GB. */
const HOSTILE: readonly (readonly [what: string, file: () => string, type: string, line: number])[] = [
  ['empty objects', () => repeat(`{"meta":[${fill(() => '{},')}{}]}`), NDJSON, 2],
  ['nested lists', () => repeat(`{"meta":${'['.repeat(MB / 2 - 100)}${']'.repeat(MB / 2 - 100)}}`), NDJSON, 2],
  [
    'different keys',
    () => Array.from({ length: 31 }, (_, line) => `{${fill(index => `"k${line}_${index}":1,`)}"z":1}`).join('\n'),
    NDJSON,
    13,
  ],
  [
    'unknown columns',
    () => Array.from({ length: 9999 }, (_, line) => `{${fill(index => `"key${line}_${index}":1,`, 3000)}"z":1}`).join('\n'),
    NDJSON,
    5000,
  ],
  ['JSON in cells', () => `meta\n${repeat(`"[${fill(() => '{},')}{}]"`)}`, CSV, 3],
]

it.each(HOSTILE)('a file of 32 MB that consists of %s is refused, before it needs much memory', async (_what, file, type, line) => {
  const { send } = await open()
  const text = file()
  expect(text.length).toBeGreaterThan(28 * MB)
  let peak = 0
  const before = process.memoryUsage().rss
  const timer = setInterval(() => peak = Math.max(peak, process.memoryUsage().rss - before), 5)
  const { status, code, message } = await send(text, type)
  clearInterval(timer)
  expect([status, code, message]).toEqual([
    400,
    'LIMIT_EXCEEDED',
    expect.stringMatching(/^Line \d+: the file contains more than 1000000 JSON values\./),
  ])
  expect(Math.abs(Number(/\d+/.exec(message)![0]) - line)).toBeLessThan(line / 5 + 1)
  expect(peak / MB).toBeLessThan(300)
})

it('the limit counts objects, lists and entries, not signs in texts or cells of text', async () => {
  const { send } = await open({ maxImportValues: 8 })
  expect((await send('{"title":",,,[[{","meta":["\\",",{"a":1}]}\n{"title":"b"}')).status).toBe(200)
  expect((await send('{"title":"x","meta":[1,2,3,4]}\n{"title":"b","meta":[1]}')).message).toMatch(/^Line 2: the file contains more than 8/)
  expect((await send('title,meta\n"a,b,c,d,e,f,g,h,i,j","x,y,z,x,y,z,x,y,z"\n', CSV)).status).toBe(200)
  expect((await send('title,meta\na,"[1,2,3,4]"\nb,"[1,2,3,4,5]"', CSV)).message).toMatch(/^Line 3: the file contains more than 8/)
})

it('imports at a time are at most `concurrent`, and half of them for one caller', async () => {
  const waiting: (() => void)[] = []
  const { send, server } = await open({ concurrent: 3 }, () => new Promise(resolve => waiting.push(resolve)))
  const line = '{"title":"x"}'
  const running = [send(line, NDJSON, 1), send(line, NDJSON, 1)]
  await vi.waitFor(() => expect(waiting).toHaveLength(2))
  expect(await send(line, NDJSON, 1)).toMatchObject({
    status: 503,
    code: 'BUSY',
    retryAfter: '5',
    message: 'You have 2 of the 3 imports that can run. Wait until it has ended.',
  })
  running.push(send(line, NDJSON, 2))
  await vi.waitFor(() => expect(waiting).toHaveLength(3))
  expect(await send(line, NDJSON, 3)).toMatchObject({
    status: 503,
    code: 'BUSY',
    retryAfter: '5',
    message: 'Too many imports are running. Try again later.',
  })
  // Exports have slots of their own.
  expect((await server.request('GET', '/api/posts/export', { caller: caller(1) })).status).toBe(200)
  for (const end of waiting.splice(0)) end()
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200])
  // Refused and failed imports free their slots.
  for (let index = 0; index < 4; index++) expect((await send('x', NDJSON, 1)).status).toBe(400)
  const last = send(line, NDJSON, 1)
  await vi.waitFor(() => waiting.splice(0).map(end => end()).length === 1 || expect.fail('waits'))
  expect((await last).status).toBe(200)
})

it('an upload that stops, or is much too slow for longer, ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const receive = async (pause: number, size: number) => {
    let received = 0
    async function* slow() {
      for (let chunk = 0; chunk < 100; chunk++) {
        await new Promise(resolve => setTimeout(resolve, pause))
        yield new Uint8Array(size)
      }
    }
    const end = (async () => {
      for await (const _ of endSlow(slow())) received++
    })().catch((error: Error) => error.message)
    for (let time = 0; time < 2000; time++) await vi.advanceTimersByTimeAsync(1000)
    return [await end, received]
  }
  expect(await receive(61_000, 65_536)).toEqual(['The file arrives too slowly.', 0])
  expect(await receive(1000, 100)).toEqual(['The file arrives too slowly.', 60])
  expect(await receive(5000, 65_536)).toEqual([undefined, 100])
})
