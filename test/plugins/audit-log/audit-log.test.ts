/**
 * The audit log and the activity feed: the example of the docs, the mistakes that stop the server, retention, and reverts of random
 * histories.
 */
import Database from 'better-sqlite3'
import { relations } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { activityFeed, auditLog, dataExport, rateLimit } from '../../../src/runtime/plugins/index'
import { auditLogColumns } from '../../../src/runtime/plugins/schema-sqlite'
import { auditLogSql } from '../../engines/support/audit-log'
import { createServer, type ServerOptions, type TestServer } from '../../support/server'
import activityConfig from '../activity-feed/examples/nuxt.config'
import auditLogResource from './examples/server/resources/auditLog'
import * as schema from './examples/server/database/schema'
import { isFull } from '../../support/tiers'

const WRITER = { user: { id: 1 } }
const ROOT = { user: { id: 1 }, permissions: ['*'] }
const every = { read: true, create: true, update: true, delete: true } as const

let client: Database.Database | undefined
afterEach(() => {
  client?.close()
  client = undefined
})

async function open(options: Partial<ServerOptions> = {}): Promise<TestServer> {
  client = new Database(':memory:')
  client.exec(`create table users (id integer primary key, name text not null, recovery_code text);
    create table posts (id integer primary key, title text not null, body text, editor_note text);
    insert into users values (1, 'Ada', 'CODE-1'); insert into posts values (1, 'first', null, 'note');`)
  client.exec(await auditLogSql('sqlite'))
  const { users, posts } = schema
  return createServer({
    db: drizzle({ client }),
    registrations: [
      { name: 'users', schema: users, authorization: { permissions: every } },
      { name: 'posts', schema: posts, authorization: { permissions: every, fields: { editorNote: { read: 'editor' } } } },
      { name: 'auditLog', schema: schema.auditLog, authorization: auditLogResource.authorization },
    ] as ServerOptions['registrations'],
    ...options,
  })
}

it('does not show whether an update changed a field that the reader cannot read', async () => {
  const shown = async (stored: string, body: object) => {
    const server = await open({
      plugins: [auditLog(), activityFeed({ actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } })],
    })
    client!.exec(`update posts set editor_note = '${stored}'`)
    const caller = { user: { id: 1 }, permissions: ['auditLog:read', 'activity:read'] }
    const { status, text } = await server.request('PATCH', '/api/posts/1', { body, caller })
    const texts = []
    for (const path of ['posts/1/history', 'audit-log', 'auditLog', 'activity'])
      texts.push((await server.request('GET', `/api/${path}`, { caller })).text)
    client!.close()
    return [status, text, ...texts].map(text => String(text).replaceAll(/"[\da-f]{8}-[\da-f-]{27}"|"\d{4}-[^"]*Z"|"[\w-]{60,}"/g, '""'))
  }
  for (const body of [{ editorNote: 'note' }, { editorNote: 'note', title: 'first' }, { editorNote: 'note', title: 'new' }])
    expect(await shown('note', body)).toEqual(await shown('other', body))
})

describe('the example of the docs', () => {
  it('records changes and events, and shows them in the log and in the feed', async () => {
    const server = await open({
      plugins: activityConfig.autoApi!.plugins as unknown as ServerOptions['plugins'],
      endpoints: async () => ({ 'POST /publish/:id': (await import('./examples/server/api/posts/[id]/publish.post')).default }),
    })
    await server.request('PATCH', '/api/users/1', { body: { recoveryCode: 'CODE-2' }, caller: WRITER })
    await server.request('POST', '/publish/1', { body: {}, caller: WRITER })
    const {
      body: { data },
    } = await server.request('GET', '/api/audit-log', { caller: { user: { id: 1 }, permissions: ['auditLog:read'] } })
    const shown = (data as Record<string, unknown>[]).map(({ kind, resource, columns, after }) => ({ kind, resource, columns, after }))
    const nameOf = ({ kind, resource }: Record<string, unknown>) => `${String(kind)} ${String(resource)}`
    expect(shown.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))).toEqual([
      { kind: 'published', resource: 'posts', columns: null, after: { channel: 'newsletter' } },
      { kind: 'update', resource: 'posts', columns: ['body'], after: { body: 'Published' } },
      { kind: 'update', resource: 'users', columns: ['recoveryCode'], after: {} },
    ])
    expect(JSON.stringify(client!.prepare('select * from audit_log').all())).not.toContain('CODE')
    const feed = await server.request('GET', '/api/activity', { caller: { user: { id: 1 }, permissions: ['activity:read'] } })
    expect(feed.body.data).toContainEqual(expect.objectContaining({ verb: 'published', actor: { id: '1', label: 'Ada' }, label: 'first' }))
  })
})

describe('a mistake stops the server', () => {
  const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title') })
  const { at: _, ...withoutTime } = auditLogColumns()
  const cases: readonly (readonly [string, () => unknown[], Partial<ServerOptions>, string])[] = [
    ['an unknown option', () => [auditLog({ retention: 1 } as never)], {}, '`auditLog.retention` is not an option. Did you mean'],
    [
      'a resource that is not registered',
      () => [auditLog({ resource: 'log' })],
      {},
      'has hooks for `log`|`log`, which is not a registered resource',
    ],
    [
      'a column that does not exist',
      () => [auditLog({ secrets: { users: ['recoveryCod'] } })],
      {},
      'names `recoveryCod`, which is no column',
    ],
    [
      'a missing column',
      () => [auditLog()],
      { registrations: [{ name: 'auditLog', schema: sqliteTable('audit_log', withoutTime) }] },
      'has no column `at`',
    ],
    [
      'a text column for JSON',
      () => [auditLog()],
      { registrations: [{ name: 'auditLog', schema: sqliteTable('audit_log', { ...auditLogColumns(), before: text('before') }) }] },
      'the column `before` of `auditLog` is not a JSON column',
    ],
    [
      'a relation to the log',
      () => [auditLog()],
      {
        registrations: [
          { name: 'posts', schema: posts, relations: relations(posts, ({ many }) => ({ entries: many(schema.auditLog) })) },
          {
            name: 'auditLog',
            schema: schema.auditLog,
            relations: relations(schema.auditLog, ({ one }) => ({
              post: one(posts, { fields: [schema.auditLog.recordId], references: [posts.id] }),
            })),
          },
        ] as never,
      },
      'the relation `posts.entries` leads to `auditLog`',
    ],
    [
      'a feed without a log',
      () => [activityFeed({ actor: { resource: 'users', label: 'name' } })],
      {},
      'list the plugin `auditLog\\(\\)` before it',
    ],
    [
      'a label that is no field',
      () => [auditLog(), activityFeed({ actor: { resource: 'users', label: 'nam' } })],
      {},
      'names `nam`, which is no field of `users`',
    ],
    ['a label that is no text', () => [auditLog(), activityFeed({ actor: { resource: 'users', label: 'id' } })], {}, 'is not a text field'],
    ['a feed without actors', () => [auditLog(), activityFeed({} as never)], {}, '`activityFeed.actor` is undefined'],
  ]

  it.each(cases)('%s', async (_what, plugins, options, message) => {
    await expect((async () => open({ plugins: plugins(), ...options }))()).rejects.toThrow(new RegExp(message))
  })
})

it('deletes old entries', async () => {
  await open({ plugins: [auditLog({ retentionDays: 10 })] })
  const insert = client!.prepare(`insert into audit_log (id, at, kind, resource) values (?, ?, 'create', 'posts')`)
  const day = 24 * 60 * 60 * 1000
  client!.transaction(() => {
    for (let index = 0; index < 2500; index++) insert.run(`old-${index}`, Date.now() - 11 * day)
    insert.run('new', Date.now() - 9 * day)
  })()
  const { useRuntime } = await import('../../../src/runtime/server/api/runtime')
  const api = useRuntime().api() as unknown as { scheduler: { runNow: (task: string) => Promise<void> } }
  await api.scheduler.runNow('audit-log:retention')
  expect(client!.prepare('select id from audit_log').all()).toEqual([{ id: 'new' }])
})

it('does not show the entries of a purged record as entries of a new record with the same id', async () => {
  const server = await open({ plugins: [auditLog()] })
  const reader = { user: { id: 2 }, permissions: ['auditLog:read'] }
  await server.request('PATCH', '/api/posts/1', { body: { body: 'SECRET' }, caller: ROOT })
  await server.request('DELETE', '/api/posts/1', { caller: ROOT })
  await new Promise(resolve => setTimeout(resolve, 5))
  // SQLite gives the largest id again.
  const created = await server.request('POST', '/api/posts', { body: { title: 'mine' }, caller: reader })
  expect(created).toMatchObject({ status: 201, body: { id: 1 } })
  await server.request('PATCH', '/api/posts/1', { body: { title: 'mine 2' }, caller: reader })
  for (const path of ['/api/posts/1/history', '/api/audit-log', '/api/auditLog?sort=-id']) {
    const { body: { data, meta } } = await server.request('GET', path, { caller: reader })
    expect(JSON.stringify(data)).not.toContain('SECRET')
    expect([(data as { kind: string }[]).map(({ kind }) => kind), meta.total]).toEqual([['update', 'create'], 2])
  }
  const all = await server.request('GET', '/api/posts/1/history', { caller: ROOT })
  expect(all.body.meta.total).toBe(4)
})

it('reverts to the row of any entry, as far as the reader can read and write it', async () => {
  const field = fc.constantFrom('title', 'body', 'editorNote')
  const change = fc.dictionary(field, fc.string({ maxLength: 3 }), { minKeys: 1, maxKeys: 3 })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), fc.nat(), fc.boolean(), async (changes, at, isEditor) => {
      const server = await open({ plugins: [auditLog()] })
      const caller = { user: { id: 1 }, permissions: ['auditLog:read', ...(isEditor ? ['editor'] : [])] }
      const read = async () => (await server.request('GET', '/api/posts/1', { caller })).body as object
      const rows: object[] = []
      for (const body of changes) {
        expect((await server.request('PATCH', '/api/posts/1', { body, caller: ROOT })).status).toBe(200)
        rows.push(await read())
      }
      const {
        body: { data },
      } = await server.request('GET', '/api/posts/1/history?limit=100', { caller })
      const all = client!.prepare(`select id from audit_log order by id`).all() as { id: string }[]
      const index = at % changes.length
      const { id } = all[index]!
      const isListed = (data as { id: string }[]).some(entry => entry.id === id)
      const answer = await server.request('POST', `/api/audit-log/${id}/revert`, { body: {}, caller })
      expect(answer.status).toBe(isListed ? 200 : 404)
      if (isListed) expect([answer.body, await read()]).toEqual([rows[index], rows[index]])
      client!.close()
    }),
    { numRuns: isFull ? 200 : 25 },
  )
})

describe('exports and imports', () => {
  const ALL = { user: { id: 3 }, permissions: ['auditLog:read', 'auditLog:all'] }
  const openWith = (...plugins: unknown[]) =>
    open({ plugins: [auditLog({ secrets: { users: ['recoveryCode'] } }), dataExport({ maxRows: 5 }), ...plugins] })
  const entries = () => client!.prepare('select * from audit_log').all() as Record<string, unknown>[]

  it('records an export before its first byte, with the columns and the query', async () => {
    const server = await openWith()
    const query = 'format=csv&filter[title]=first&filter[editorNote][$eq]=note&sort=-id'
    const { status } = await server.request('GET', `/api/posts/export?${query}`, { caller: { user: { id: 1 }, permissions: ['editor'] } })
    expect([status, entries()]).toMatchObject([200, [{ kind: 'export', resource: 'posts', record_id: null, user_id: '1', via: 'session' }]])
    const {
      body: {
        data: [entry],
      },
    } = await server.request('GET', '/api/audit-log?kind=export', { caller: { ...ALL, permissions: [...ALL.permissions, 'editor'] } })
    expect(entry).toMatchObject({
      columns: ['id', 'title', 'body', 'editorNote'],
      after: { format: 'csv', rows: 1, query: { 'filter[title]': 'first', 'filter[editorNote][$eq]': 'note', 'sort': '-id' } },
    })
    const { body: { data: [blind] }, text } = await server.request('GET', '/api/audit-log?kind=export', { caller: ALL })
    expect(blind).toMatchObject({
      columns: ['id', 'title', 'body'],
      after: { query: { 'filter[title]': 'first', 'sort': '-id', 'query': '[redacted]' } },
    })
    expect(text).not.toContain('editorNote')
    expect(
      (await server.request('GET', '/api/audit-log?kind=export', { caller: { user: { id: 3 }, permissions: ['auditLog:read'] } })).body
        .data,
    ).toEqual([])
    await server.request('GET', '/api/posts', { headers: { accept: 'application/x-ndjson' }, caller: WRITER })
    expect(entries().map(({ kind }) => kind)).toEqual(['export', 'export'])
  })

  it('does not store a secret that a filter contains', async () => {
    const server = await openWith()
    for (const query of [
      'filter={"recovery\\u0043ode":"CODE-1"}',
      'filter[recoveryCode]=CODE-1',
      'filter={"$or":[{"recoveryCode":"CODE-1"}]}',
    ])
      expect((await server.request('GET', `/api/users/export?format=ndjson&${query}`, { caller: WRITER })).status).toBe(200)
    expect(entries()).toHaveLength(3)
    expect(JSON.stringify(entries())).not.toContain('CODE-1')
  })

  it('records nothing for a refused export, and refuses an export that it cannot record', async () => {
    const server = await openWith()
    client!.exec(`insert into posts (title) values ('b'), ('c'), ('d'), ('e'), ('f')`)
    expect((await server.request('GET', '/api/posts/export', { caller: WRITER })).status).toBe(400)
    expect((await server.request('GET', '/api/posts/export?format=pdf', { caller: WRITER })).status).toBe(400)
    expect(entries()).toEqual([])
    client!.exec('drop table audit_log')
    const { status, text } = await server.request('GET', '/api/posts/export?filter[id]=1', { caller: WRITER })
    expect([status, text.includes('first')]).toEqual([500, false])
  })

  it('records each row of an import, and nothing of a dry run', async () => {
    const server = await openWith()
    const send = (query: string) =>
      server.request('POST', `/api/users/import?${query}`, {
        raw: 'name,recoveryCode\nAnn,CODE-7\nBob,\n',
        headers: { 'content-type': 'text/csv' },
        caller: WRITER,
      })
    expect((await send('dryRun=true')).status).toBe(200)
    expect(entries()).toEqual([])
    expect((await send('')).status).toBe(200)
    expect(entries()).toMatchObject([
      { kind: 'create', resource: 'users', record_id: '2' },
      { kind: 'create', resource: 'users', record_id: '3' },
    ])
    expect(JSON.stringify(entries())).not.toContain('CODE-7')
  })

  it('counts a revert as an update', async () => {
    const server = await openWith(rateLimit({ by: 'user', operations: { update: { limit: 2, window: 60 } } }))
    await server.request('PATCH', '/api/posts/1', { body: { title: 'second' }, caller: WRITER })
    const { id } = entries()[0]!
    const revert = async () =>
      (
        await server.request('POST', `/api/audit-log/${String(id)}/revert`, {
          body: {},
          caller: { user: { id: 1 }, permissions: ['auditLog:read'] },
        })
      ).status
    expect([await revert(), await revert()]).toEqual([200, 429])
  })
})
