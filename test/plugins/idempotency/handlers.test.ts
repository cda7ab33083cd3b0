/** Idempotency keys of endpoints, of changes of links and of plugin routes: each takes effect once, or refuses the header. */
import Database from 'better-sqlite3'
import { eq, sql } from 'drizzle-orm'
import { drizzle, type BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { AutoApiContext } from '../../../src/runtime/server/registration'
import { idempotency } from '../../../src/runtime/plugins/index'
import { idempotencyKeysTable } from '../../../src/runtime/plugins/schema-sqlite'
import { atomicWrites, createEndpoint, findAuthorizedRow, reportChanges } from '../../../src/runtime/server/utils/index'
import { createServer, type Caller, type TestServer } from '../../support/server'
import { notes } from './examples/like.post'

const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
const noteTags = sqliteTable('note_tags', {
  noteId: integer('note_id').notNull().references(() => notes.id), tagId: integer('tag_id').notNull().references(() => tags.id),
}, table => [primaryKey({ columns: [table.noteId, table.tagId] })])
const modules = [{ notes, tags, noteTags, idempotencyKeys: idempotencyKeysTable() }]

const ADA: Caller = { user: { id: 1 }, permissions: ['write'] }
const HIDDEN = 'hidden'

let client: Database.Database
let server: TestServer
let runs: number
let fail: (() => void) | undefined

const count = async (ctx: AutoApiContext) => {
  runs++
  const id = Number(ctx.params.id)
  await findAuthorizedRow(ctx, 'notes', id)
  await atomicWrites<BetterSQLite3Database>(ctx, [
    db => db.update(notes).set({ likes: sql`${notes.likes} + 1` }).where(eq(notes.id, id)),
    reportChanges(ctx, [{ resource: 'notes', kind: 'update', id }]),
  ])
  fail?.()
}

const read = { resource: 'notes', operation: 'update', idempotent: true } as const
const endpoints = async () => ({
  'POST /api/notes/:id/like': (await import('./examples/like.post')).default,
  'POST /api/notes/:id/count': createEndpoint({ ...read, body: z.object({ by: z.string() }), async handler(ctx) {
    await count(ctx as never)
    return { counted: runs, by: ctx.body.by }
  } }),
  'POST /api/notes/:id/ping': createEndpoint({ ...read, handler: async () => ({ pinged: ++runs }) }),
  'POST /api/notes/:id/silent': createEndpoint({ ...read, handler: ctx => count(ctx as never) }),
  'POST /api/notes/:id/text': createEndpoint({ ...read, async* handler() {
    runs++
    yield 'streamed'
  } } as never),
  'POST /api/notes/:id/own': createEndpoint({ resource: 'notes', operation: 'update', handler: async () => ({ own: ++runs }) }),
})

const plugin = {
  name: 'stamps',
  routes: [
    { method: 'POST', path: '/:resource/:id/stamp', resources: ['notes'], operation: 'update', handler: async () => ({ stamped: ++runs }) },
    { method: 'GET', path: '/:resource/:id/stamp', resources: ['notes'], operation: 'read', handler: async () => ({ read: ++runs }) },
    {
      method: 'POST',
      path: '/:resource/:id/seal',
      resources: ['notes'],
      operation: 'update',
      idempotent: true,
      handler: async () => ({ sealed: ++runs }),
    },
  ],
}

beforeEach(async () => {
  runs = 0
  fail = undefined
  client = new Database(':memory:')
  client.exec(`create table notes (id integer primary key, title text not null, likes integer not null default 0);
    create table tags (id integer primary key, name text not null);
    create table note_tags (note_id integer not null references notes (id), tag_id integer not null references tags (id), primary key (note_id, tag_id));
    create table idempotency_keys (id text primary key, parent text, record_id text, fingerprint text not null, access text, status integer,
      body text, created_at integer not null, expires_at integer not null);
    insert into notes (id, title) values (1, 'one'), (2, 'two'); insert into tags values (1, 'a'), (2, 'b')`)
  const permissions = { read: true, update: 'write' } as const
  server = await createServer({
    db: drizzle({ client }),
    modules,
    plugins: [idempotency(), plugin],
    endpoints,
    registrations: [
      {
        name: 'notes',
        schema: notes,
        authorization: { permissions, listFilter: table => sql`${(table as typeof notes).title} <> ${HIDDEN}` },
      },
      { name: 'tags', schema: tags, authorization: { permissions } },
    ],
  })
})
afterEach(() => client.close())

const send = (
  path: string,
  body?: unknown,
  { key = 'k', method = 'POST', caller = ADA }: { key?: string, method?: string, caller?: Caller } = {},
) => server.request(method, `/api/notes/${path}`, { body, caller, headers: { 'idempotency-key': key } })
const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed')
const likes = () => client.prepare('select likes from notes where id = 1').pluck().get()
const loseResponse = () => client.exec('update idempotency_keys set status = null, body = null, created_at = 1000')

describe('an endpoint with `idempotent`', () => {
  it('runs once for a key, path and body, and repeats its response', async () => {
    const [first, again] = [await send('1/count', { by: 'ada' }), await send('1/count', { by: 'ada' })]
    expect([first.status, first.body, replayed(first)]).toEqual([200, { counted: 1, by: 'ada' }, null])
    expect([again.status, again.text, replayed(again), likes()]).toEqual([200, first.text, 'true', 1])
    expect((await send('1/count', { by: 'ben' })).body.data).toEqual({ code: 'IDEMPOTENCY_MISMATCH' })
    expect([(await send('2/count', { by: 'ada' })).status, (await send('1/ping')).status, runs]).toEqual([200, 200, 3])
  })

  it('is the example of the docs', async () => {
    expect([(await send('1/like')).body, (await send('1/like')).body, likes()]).toEqual([{ liked: 1 }, { liked: 1 }, 1])
  })

  it('runs once for 20 parallel requests', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => send('1/count', { by: 'ada' })))
    expect([new Set(responses.map(({ text }) => text)).size, runs, likes()]).toEqual([1, 1, 1])
  })

  it('stores its key in the commit: after an error the retry writes nothing', async () => {
    fail = () => {
      throw new Error('stopped after the commit')
    }
    expect((await send('1/count', { by: 'ada' })).status).toBe(500)
    fail = undefined
    loseResponse()
    expect(await send('1/count', { by: 'ada' })).toMatchObject({ status: 409, body: { data: { code: 'CONFLICT' } } })
    expect([runs, likes()]).toEqual([1, 1])
  })

  it('stores its key after the handler if the handler commits nothing, and stores no error', async () => {
    expect([(await send('1/ping')).body, (await send('1/ping')).body, runs]).toEqual([{ pinged: 1 }, { pinged: 1 }, 1])
    expect([(await send('1/count', {}, { key: 'b' })).status, (await send('3/count', { by: 'a' }, { key: 'b' })).status]).toEqual([
      400, 404,
    ])
    expect(client.prepare('select count(*) from idempotency_keys').pluck().get()).toBe(1)
  })

  it('repeats a response without a body', async () => {
    expect([(await send('1/silent')).status, (await send('1/silent')).status, likes()]).toEqual([204, 204, 1])
  })

  it('stores no streamed response: a retry is a 409', async () => {
    expect([(await send('1/text')).text, (await send('1/text')).status, runs]).toEqual(['streamed', 409, 1])
  })

  it('authorizes a retry again, and returns 404 if the caller can no longer see the changed row', async () => {
    await send('1/count', { by: 'ada' })
    expect((await send('1/count', { by: 'ada' }, { caller: { ...ADA, permissions: [] } })).status).toBe(403)
    expect((await send('1/count', { by: 'ada' }, { caller: { ...ADA, permissions: ['write', 'more'] } })).status).toBe(409)
    client.exec(`update notes set title = '${HIDDEN}' where id = 1`)
    expect((await send('1/count', { by: 'ada' })).body.data).toEqual({ code: 'NOT_FOUND' })
    expect(likes()).toBe(1)
  })

  it('is refused without `resource`, and does not run without a plugin that stores keys', async () => {
    expect(() => createEndpoint({ idempotent: true, handler: () => 1 })).toThrow('`idempotent` requires `resource`')
    const without = createServer({ db: drizzle({ client }), modules, endpoints, registrations: [{ name: 'notes', schema: notes }] })
    const response = await (await without).request('POST', '/api/notes/1/ping', { caller: ADA })
    expect([response.status, runs]).toEqual([500, 0])
  })

  it('leaves the header to endpoints without the option', async () => {
    expect([(await send('1/own')).body, (await send('1/own')).body]).toEqual([{ own: 1 }, { own: 2 }])
  })
})

describe('a change of links with a key', () => {
  const links = () => client.prepare('select note_id, tag_id from note_tags order by 1, 2').raw().all()

  it.each([
    ['POST', '1/relations/tags', { ids: [1] }, [[1, 1]]],
    ['PUT', '1/relations/tags', { ids: [2] }, [[1, 2]]],
    ['DELETE', '1/relations/tags', { ids: [1] }, []],
    ['PUT', '1/relations', { relations: { tags: { ids: [1] } } }, [[1, 1]]],
  ] as const)('takes effect once, and repeats its numbers: %s /%s', async (method, path, body, expected) => {
    if (method === 'DELETE') client.exec('insert into note_tags values (1, 1)')
    const first = await send(path, body, { method })
    expect([first.status, replayed(first), links()]).toEqual([200, null, expected])
    client.exec('delete from note_tags')
    const again = await send(path, body, { method })
    expect([again.status, again.text, replayed(again), links()]).toEqual([200, first.text, 'true', []])
    expect((await send(path, { ids: [] }, { method })).status).toBe(422)
  })

  it('is done again if its response is lost, because the effect is the same', async () => {
    await send('1/relations/tags', { ids: [1] })
    loseResponse()
    const again = await send('1/relations/tags', { ids: [1] })
    expect([again.status, again.body, links()]).toEqual([200, { added: 0, removed: 0, total: 1 }, [[1, 1]]])
    expect((await send('1/relations/tags', { ids: [1] })).text).toBe(again.text)
  })

  it('stores its key if it changes nothing, and returns 404 once the record is hidden', async () => {
    const logged = vi.spyOn(console, 'error')
    // The second request names a link that does not exist.
    for (const [key, body] of [['a', { ids: [] }], ['b', { ids: [2] }]] as const) {
      const [first, again] = [
        await send('1/relations/tags', body, { key, method: 'DELETE' }),
        await send('1/relations/tags', body, { key, method: 'DELETE' }),
      ]
      expect([first.status, again.text, replayed(again)]).toEqual([200, first.text, 'true'])
    }
    expect((await send('1/relations/tags', { ids: [] })).status).toBe(200)
    expect(logged).not.toHaveBeenCalled()
    client.exec(`update notes set title = '${HIDDEN}' where id = 1`)
    expect((await send('1/relations/tags', { ids: [] })).status).toBe(404)
  })
})

describe('a route of a plugin', () => {
  it('runs once for a key with `idempotent`', async () => {
    expect([(await send('1/seal')).body, (await send('1/seal')).body]).toEqual([{ sealed: 1 }, { sealed: 1 }])
  })

  it('refuses a key without the option, unless it only reads', async () => {
    expect(await send('1/stamp')).toMatchObject({ status: 400, body: { data: { code: 'INVALID_VALUE', parameter: 'Idempotency-Key' } } })
    expect([(await send('1/stamp', undefined, { method: 'GET' })).body, runs]).toEqual([{ read: 1 }, 1])
  })
})
