/** The example of the documentation that uses every part of a plugin. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { registerPluginResources } from '../../../../src/build/plugins'
import { collectRegistrations } from '../../../../src/build/registrations'
import { createModuleImport } from '../../../../src/module'
import { createServer } from '../../../support/server'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})
const KEY = 'k-0'

let client: Database.Database | undefined
beforeEach(() => vi.stubEnv('OUTBOX_KEY', KEY))
afterEach(() => {
  client?.close()
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

async function open(table?: typeof posts) {
  client = new Database(':memory:')
  client.exec(`
    create table posts (id integer primary key, title text not null, deleted_at integer);
    create table task_runs (task text primary key, due integer not null);
    create table events (id text primary key, kind text not null, record_id text not null, after text, user_id text not null, created_at integer not null);
  `)
  const schema = await import('./examples/schema')
  const { eventsAuth } = await import('./examples/auth/events')
  return createServer({
    db: drizzle({ client }),
    modules: [schema],
    registrations: [
      { name: 'posts', schema: posts, authorization: { permissions: { read: true, create: true, update: true, delete: true } } },
      { name: 'events', schema: table ?? schema.events, authorization: { permissions: { read: 'events' } } },
    ],
    built: ['outbox.resources', 'outbox.buildSetup'],
    // The example and the server have to be of one copy of the package.
    plugins: [async () => (await import('./examples/outbox')).outbox({ table: schema.events, authorization: eventsAuth })],
  })
}

it('records each change in its commit, and streams the events to the worker only', async () => {
  const server = await open()
  const { committed } = await import('./examples/outbox')
  const wake = vi.fn()
  committed.once('events', wake)
  const caller = { user: { id: 7 }, permissions: ['events'] }
  const created = await server.request('POST', '/api/posts', { body: { title: 'new' }, caller })
  expect([created.status, wake.mock.calls.length]).toEqual([201, 1])
  await server.request('PATCH', '/api/posts/1', { body: { title: 'newer' }, caller })
  expect(client!.prepare('select kind, record_id, user_id from events order by id').raw().all()).toEqual([
    ['posts.create', '1', '7'],
    ['posts.update', '1', '7'],
  ])

  const stream = await server.request('GET', '/api/events/stream', { headers: { 'x-outbox-key': KEY } })
  expect([stream.status, stream.headers.get('cache-control'), created.headers.get('cache-control')]).toEqual([
    200,
    'no-store',
    'private, no-cache',
  ])
  const sent = stream.text.trimEnd().split('\n').map(line => JSON.parse(line) as { kind: string, after: string })
  expect(sent.map(({ kind, after }) => [kind, JSON.parse(after).title])).toEqual([['posts.create', 'new'], ['posts.update', 'newer']])
  expect((await server.request('GET', '/api/events', { caller })).body.data).toEqual([])

  const refused = async (method: string, path: string, headers = {}) =>
    (await server.request(method, path, { headers, caller, ...(method === 'PATCH' && { body: { title: 'x' } }) })).body.data.code
  expect(await refused('PATCH', '/api/posts/1', { 'x-outbox-key': KEY })).toBe('READ_ONLY_KEY')
  expect(await refused('GET', '/api/posts', { 'x-outbox-key': 'wrong' })).toBe('INVALID_KEY')
  expect(await refused('GET', `/api/posts?key=${KEY}`)).toBe('KEY_IN_URL')
  expect(await refused('DELETE', '/api/posts/1?force=true')).toBe('REASON_REQUIRED')
})

it('removes old events every hour', async () => {
  await open()
  client!.exec(
    `insert into events values ('old', 'posts.create', '1', null, '7', 0), ('new', 'posts.create', '1', null, '7', ${30 * 86_400_000})`,
  )
  const { runPluginTasks } = await import('../../../../src/runtime/server/tasks/plugins')
  expect(await runPluginTasks(new Date(30 * 86_400_000))).toEqual(['outbox:prune'])
  expect(client!.prepare('select id from events').pluck().all()).toEqual(['new'])
})

it('fails the start when its table has not the columns', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  await expect(open(posts).then(server => server.request('GET', '/api/posts'))).resolves.toMatchObject({ status: 500 })
  expect(log.mock.calls.flat().join()).toContain('`events` has no column recordId, after, createdAt.')
})

it('fails the start without the key of the worker', async () => {
  vi.stubEnv('OUTBOX_KEY', '')
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  await expect(open().then(server => server.request('GET', '/api/posts'))).resolves.toMatchObject({ status: 500 })
  expect(log.mock.calls.flat().join()).toContain('outbox: set OUTBOX_KEY.')
})

it('logs slow responses with the resources that they were read from', async () => {
  const server = await open()
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(2000)
  await server.request('GET', '/api/posts')
  expect(warn.mock.calls.flat()).toContain('list took 2000 ms and read posts')
})

it('registers its resource at build time, from the reference in nuxt.config', async () => {
  const { outbox } = await import('./examples/outbox')
  const table = createModuleImport('/app/schema.ts', 'events')
  const authorization = createModuleImport('/app/auth.ts', 'eventsAuth')
  const listed = [outbox({ table, authorization })]
  const { registrations } = await collectRegistrations(registry => registerPluginResources(listed, registry), path => path)
  expect(registrations).toMatchObject([{ name: 'events', imports: { schema: table, authorization } }])
})
