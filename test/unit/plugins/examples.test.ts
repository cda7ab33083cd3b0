/** The plugins of the documentation work as described. */
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, expect, it } from 'vitest'
import { createServer } from '../../support/server'
import { stamp } from './examples/stamp'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull() })

let client: Database.Database
afterEach(() => client.close())

async function open(plugin: unknown, modules?: Record<string, unknown>[]) {
  client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, title text not null); insert into posts values (1, \'old\')')
  return serve(plugin, modules)
}

/** Starts a server on the open database. */
function serve(plugin: unknown, modules?: Record<string, unknown>[]) {
  return createServer({ db: drizzle({ client }), registrations: [{ name: 'posts', schema: posts, authorization: { permissions: { read: ['reader', 'posts:read'], create: true, update: true } } }], plugins: [plugin], modules })
}

it('records the history of each record, for callers who can read it', async () => {
  // The example and the server have to be of one copy of the package.
  const server = await open(async () => (await import('./examples/history')).default)
  const caller = { user: { id: 7 }, permissions: ['reader'] }
  await server.request('PATCH', '/api/posts/1', { body: { title: 'new' }, caller })
  expect((await server.request('GET', '/api/posts/1/history', { caller })).body).toEqual([{ resource: 'posts', table: 'posts', kind: 'update', id: '1', by: 7, at: expect.any(String) }])
  expect((await server.request('GET', '/api/posts/1/history')).status).toBe(401)
  expect((await server.request('GET', '/api/posts/2/history', { caller })).status).toBe(404)
})

it('adds a header with the duration of each response', async () => {
  const server = await open(stamp({ header: 'x-took' }))
  expect((await server.request('GET', '/api/posts', { caller: { permissions: ['reader'] } })).headers.get('x-took')).toMatch(/^\d+ ms$/)
})

it('refuses a post with an error of its own until the user has the plan', async () => {
  const server = await open(async () => (await import('./examples/plan')).default)
  const refused = await server.request('POST', '/api/posts', { body: { title: 'new' }, caller: { user: { id: 7, plan: 'free' } } })
  expect([refused.status, refused.body.data]).toEqual([402, { code: 'PLAN_REQUIRED', plan: 'pro' }])
  expect((await server.request('POST', '/api/posts', { body: { title: 'new' }, caller: { user: { id: 7, plan: 'pro' } } })).status).toBe(201)
})

it('writes an audit entry in the commit of each change', async () => {
  const server = await open(async () => (await import('./examples/audit')).default)
  client.exec('create table audit_log (id text primary key, resource text not null, record_id text not null, kind text not null, user_id text, before text, after text)')
  await server.request('PATCH', '/api/posts/1', { body: { title: 'new' }, caller: { user: { id: 7 }, permissions: ['reader'] } })
  expect(client.prepare('select resource, record_id, kind, user_id, before, after from audit_log').raw().all()).toEqual([['posts', '1', 'update', '7', '{"title":"old"}', '{"title":"new"}']])
})

it('deletes expired sessions every hour, on one of two servers', async () => {
  const modules = [await import('./examples/schema')]
  const plugin = async () => (await import('./examples/cleanup')).default
  await open(plugin, modules)
  client.exec(`create table sessions (id text primary key, expires_at integer not null); create table task_runs (task text primary key, due integer not null);
    insert into sessions values ('old', 3599), ('new', 3601)`)
  const { runPluginTasks } = await import('../../../src/runtime/server/tasks/plugins')
  expect(await runPluginTasks(new Date(3_600_000))).toEqual(['cleanup:sessions'])
  expect(client.prepare('select id from sessions').pluck().all()).toEqual(['new'])
  await serve(plugin, modules)
  expect(await runPluginTasks(new Date(3_600_000))).toEqual([])
})

it('computes the checksum of an upload', async () => {
  const server = await open(async () => (await import('./examples/checksum')).default)
  const upload = (type: string) => server.request('POST', '/api/posts/1/checksum', { raw: 'id,title\n', headers: { 'content-type': type }, caller: { permissions: ['reader'] } })
  expect((await upload('text/csv')).body).toEqual({ sha256: createHash('sha256').update('id,title\n').digest('hex') })
  expect((await upload('text/html')).status).toBe(415)
})

it('accepts the keys of robots beside sessions', async () => {
  const server = await open(async () => (await import('./examples/keys')).default)
  const list = async (headers: Record<string, string>) => (await server.request('GET', '/api/posts', { headers })).status
  expect([await list({ 'x-api-key': 'k-1' }), await list({ 'x-api-key': 'k-2' }), await list({})]).toEqual([200, 401, 401])
})

it('streams every record as a line', async () => {
  const server = await open(async () => (await import('./examples/ndjson')).default)
  const response = await server.fetch(new Request('http://localhost/api/posts/lines?fields=title'), { permissions: ['reader'] })
  expect([response.headers.get('content-type'), await response.text()]).toEqual(['application/x-ndjson', '{"title":"old"}\n'])
  expect((await server.fetch(new Request('http://localhost/api/posts/lines'))).status).toBe(401)
})
