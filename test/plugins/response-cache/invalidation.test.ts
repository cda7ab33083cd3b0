/** Every way to change a row outdates the responses that were read from it, besides the writes of the generated routes. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiContext } from '../../../src/runtime/server/define'
import { auditLog, dataExport, responseCache } from '../../../src/runtime/plugins'
import { atomicWrites, invalidateCache } from '../../../src/runtime/server/utils'
import { AUDIT_LOGS, auditLogSql } from '../../engines/support/audit-log'
import { openTokenApi } from '../../support/api-tokens'
import { createServer, type Caller } from '../../support/server'
import { EDITOR, openWorld } from '../file-upload/world'

const DAY = 86_400_000
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  title: text('title').notNull(),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
})
const ROOT: Caller = { user: { id: 1 }, permissions: ['*'] }
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64')

let client: Database.Database | undefined
afterEach(() => {
  client?.close()
  vi.restoreAllMocks()
})

async function open() {
  client = new Database(':memory:')
  client.exec(`${await auditLogSql('sqlite')}
    create table posts (id integer primary key autoincrement, title text not null, deleted_at integer, deletion_id text);
    insert into posts (title, deleted_at, deletion_id) values ('first', null, null), ('trashed', ${Date.now() - 2 * DAY}, 'd');`)
  let context: AutoApiContext | undefined
  const server = await createServer({
    db: drizzle({ client }),
    modules: [{ auditLog: AUDIT_LOGS.sqlite }],
    registrations: [
      {
        name: 'posts',
        schema: posts,
        authorization: { permissions: { read: true, create: 'x', update: 'x' }, softDelete: { retentionDays: 1 } },
      },
      { name: 'auditLog', schema: AUDIT_LOGS.sqlite, authorization: { permissions: { read: true } } },
    ],
    plugins: [dataExport(), auditLog(), responseCache(), { name: 'capture', onCaller: (ctx: AutoApiContext) => void (context = ctx) }],
  })
  const read = async (path = '/posts?includeDeleted=true') => {
    const { body, headers } = await server.request('GET', `/api${path}`, { caller: ROOT })
    return {
      titles: (body.data as { title: string }[]).map(({ title }) => title),
      isHit: headers.get('cache-status')?.includes('; hit;') === true,
    }
  }
  await read()
  expect(await read()).toEqual({ titles: ['first', 'trashed'], isHit: true })
  return { server, read, context: () => context! }
}

describe('a stored list is read again after', () => {
  it('an import', async () => {
    const { server, read } = await open()
    const { status } = await server.request('POST', '/api/posts/import', {
      raw: 'title\nimported\n',
      headers: { 'content-type': 'text/csv' },
      caller: ROOT,
    })
    expect([status, await read()]).toEqual([200, { titles: ['first', 'trashed', 'imported'], isHit: false }])
  })

  it('nothing, if the import is a dry run', async () => {
    const { server, read } = await open()
    const { status } = await server.request('POST', '/api/posts/import?dryRun=true', {
      raw: 'title\nimported\n',
      headers: { 'content-type': 'text/csv' },
      caller: ROOT,
    })
    expect([status, await read()]).toEqual([200, { titles: ['first', 'trashed'], isHit: true }])
  })

  it('a restore', async () => {
    const { server, read } = await open()
    await read('/posts')
    expect((await server.request('POST', '/api/posts/2/restore', { caller: ROOT })).status).toBe(200)
    expect(await read('/posts')).toEqual({ titles: ['first', 'trashed'], isHit: false })
  })

  it('the task that purges the trash', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { read } = await open()
    const { default: task } = await import('../../../src/runtime/server/tasks/trash')
    expect((await task.run()).result).toEqual({ posts: 1 })
    expect(await read()).toEqual({ titles: ['first'], isHit: false })
  })

  it('a revert from the audit log', async () => {
    const { server, read } = await open()
    await server.request('PATCH', '/api/posts/1', { body: { title: 'changed' }, caller: ROOT })
    expect((await read()).titles).toEqual(['changed', 'trashed'])
    await server.request('PATCH', '/api/posts/1', { body: { title: 'again' }, caller: ROOT })
    expect((await read()).titles).toEqual(['again', 'trashed'])
    const { id } = client!.prepare('select id from audit_log order by id').get() as { id: string }
    expect((await server.request('POST', `/api/audit-log/${id}/revert`, { body: {}, caller: ROOT })).status).toBe(200)
    expect(await read()).toEqual({ titles: ['changed', 'trashed'], isHit: false })
  })

  it('`atomicWrites` without a report only when `invalidateCache` is called', async () => {
    const { read, context } = await open()
    await atomicWrites(context(), [
      (db: { update: (table: object) => { set: (values: object) => unknown } }) => db.update(posts).set({ title: 'atomic' }),
    ] as never)
    expect(await read()).toEqual({ titles: ['first', 'trashed'], isHit: true })
    await invalidateCache('posts')
    expect(await read()).toEqual({ titles: ['atomic', 'atomic'], isHit: false })
  })
})

it('a stored record is read again after an upload, and after its file is removed', async () => {
  const world = await openWorld({ plugins: [responseCache()] })
  try {
    const read = async () => {
      const { body, headers } = await world.send(EDITOR, 'GET', '/posts/1')
      return [body.cover?.name ?? null, headers.get('cache-status')?.includes('; hit;')]
    }
    expect([await read(), await read()]).toEqual([[null, false], [null, true]])
    expect(
      (await world.send(EDITOR, 'POST', '/posts/1/upload/cover?name=a.png', { body: PNG, headers: { 'content-type': 'image/png' } }))
        .status,
    ).toBe(200)
    expect([await read(), await read()]).toEqual([['a.png', false], ['a.png', true]])
    expect((await world.send(EDITOR, 'DELETE', '/posts/1/files/cover')).status).toBeLessThan(300)
    expect(await read()).toEqual([null, false])
  }
  finally {
    await world.close()
  }
})

it('a token gets no stored response after it is revoked, or its owner is banned or has other rights', async () => {
  const api = await openTokenApi({ plugins: [responseCache()] })
  try {
    const [first, second] = [await api.make(1), await api.make(1, { scopes: ['posts:read', 'tokens'] })]
    const read = async (token: string) => {
      const { status, body, headers } = await api.ask(token, 'GET', '/api/posts')
      return [status, body.data?.[0]?.secret, headers.get('cache-status')?.replace(/; ttl.*/, '') ?? null]
    }
    const [HIT, STORED] = ['auto-api; hit', 'auto-api; fwd=miss; stored']
    expect([await read(first.token), await read(first.token)]).toEqual([[200, 's1', STORED], [200, 's1', HIT]])
    // A token of the same owner with scopes has no roles.
    expect([await read(second.token), await read(second.token)]).toEqual([[200, undefined, STORED], [200, undefined, HIT]])
    api.client.exec('update users set role = \'writer\' where id = 1')
    expect(await read(first.token)).toEqual([200, undefined, STORED])
    expect(
      (await api.server.request('PATCH', `/api/apiTokens/${second.id}`, { caller: api.session(1), body: { scopes: ['tokens'] } })).body,
    ).toMatchObject({ scopes: ['tokens'] })
    expect((await read(second.token))[0]).toBe(403)
    expect((await api.server.request('DELETE', `/api/apiTokens/${first.id}`, { caller: api.session(1) })).status).toBe(200)
    expect(await read(first.token)).toEqual([401, undefined, null])
    const { token } = await api.make(1)
    expect([await read(token), await read(token)]).toEqual([[200, undefined, STORED], [200, undefined, HIT]])
    api.client.exec('update users set banned = 1 where id = 1')
    expect(await read(token)).toEqual([401, undefined, null])
    // The list of tokens is never stored.
    const list = () => api.server.request('GET', '/api/apiTokens', { caller: api.session(2) })
    await list()
    expect((await list()).headers.get('cache-status')).toBe('auto-api; fwd=miss')
  }
  finally {
    await api.close()
  }
})
