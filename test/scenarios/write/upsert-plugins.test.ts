/** Upserts and plugins: the audit log, cached responses, the names of the routes, row filters and tenants. */
import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { auditLog, responseCache } from '../../../src/runtime/plugins'
import type { AutoApiPlugin } from '../../../src/runtime/server/define'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { AUDIT_LOGS, auditLogSql } from '../../engines/support/audit-log'
import { createServer, type TestServer } from '../../support/server'
import { EVERYTHING } from './world'

const tags = sqliteTable('tags', { id: integer('id').primaryKey(), slug: text('slug').notNull().unique(), name: text('name') })
const CALLER = { user: { id: 1 }, permissions: ['*'] }

let client: Database.Database
let server: TestServer
let routes: string[]
beforeEach(async () => {
  client = new Database(':memory:')
  client.exec('create table tags (id integer primary key, slug text not null unique, name text); insert into tags values (1, \'old\', \'Old\')')
  client.exec(await auditLogSql('sqlite'))
  routes = []
  const names: AutoApiPlugin = { name: 'names', around: (_ctx, next, { route }) => (routes.push(route), next()) }
  const authorization = { permissions: EVERYTHING }
  server = await createServer({
    db: drizzle({ client }),
    plugins: [names, auditLog(), responseCache({ ttl: 60 })],
    registrations: [{ name: 'tags', schema: tags, authorization }, { name: 'auditLog', schema: AUDIT_LOGS.sqlite, authorization }],
  })
})
afterEach(() => client.close())

const send = (method: string, path: string, body?: object) => server.request(method, `/api/${path}`, { caller: CALLER, body })

it('have an entry in the audit log for each record that they change, of what they do to it', async () => {
  await send('POST', 'tags/bulk?onConflict=slug', { items: [{ slug: 'old', name: 'New' }, { slug: 'new' }, { slug: 'newer' }] })
  await send('POST', 'tags?onConflict=slug', { slug: 'old', name: 'Newer' })
  await send('POST', 'tags?onConflict=slug', { slug: 'old' })
  const { body } = await send('GET', 'auditLog?limit=100')
  const entries = body.data.map(({ kind, recordId, before, after }: Record<string, unknown>) => [kind, recordId, before, after])
  expect(entries).toHaveLength(4)
  expect(entries).toEqual(expect.arrayContaining([
    ['update', '1', { name: 'Old' }, { name: 'New' }], ['update', '1', { name: 'New' }, { name: 'Newer' }],
    ['create', '2', null, expect.objectContaining({ slug: 'new' })], ['create', '3', null, expect.objectContaining({ slug: 'newer' })],
  ]))
})

it('remove the cached responses with the record, and are never answered from the cache', async () => {
  for (const name of ['a', 'b']) {
    const { status } = await send('POST', 'tags?onConflict=slug', { slug: 'old', name })
    const answers = [await send('GET', 'tags/1'), await send('GET', 'tags/1'), await send('GET', 'tags')]
    expect([status, answers[0]!.body.name, answers[1]!.body.name, answers[2]!.body.data[0].name]).toEqual([200, name, name, name])
    expect(answers[1]!.headers.get('cache-status')).toContain('hit')
  }
})

it('have names of their own for plugins', async () => {
  await send('POST', 'tags?onConflict=slug', { slug: 'old' })
  await send('POST', 'tags/bulk?onConflict=slug', { items: [{ slug: 'old' }] })
  await send('POST', 'tags', { slug: 'new' })
  expect(routes).toEqual(['upsert', 'bulk-upsert', 'create'])
})

describe('with rows and tenants of a plugin', () => {
  const posts = sqliteTable('posts', {
    id: integer('id').primaryKey(), organizationId: integer('organization_id').notNull(), slug: text('slug'), code: text('code').unique(),
    title: text('title'),
  }, t => [unique('posts_slug').on(t.organizationId, t.slug)])

  beforeEach(async () => {
    client.exec(`create table posts (id integer primary key, organization_id integer not null, slug text, code text unique, title text,
        unique (organization_id, slug));
      insert into posts values (1, 1, 'a', 'c1', ''), (2, 2, 'a', 'c2', ''), (3, 2, 'b', 'c3', ''), (4, 1, 'e', 'c4', 'Embargoed')`)
    const plugin: AutoApiPlugin = {
      name: 'staff',
      extendContext: (ctx) => {
        const { staff } = (ctx.user ?? {}) as { readonly staff?: number }
        if (staff !== undefined) ctx.tenant = { ...staff > 0 && { id: staff }, canAccessAllTenants: true } as never
      },
      rows: { posts: table => sql`${(table as typeof posts).title} <> 'Embargoed'` },
    }
    server = await createServer({
      db: drizzle({ client }), plugins: [plugin], config: { multiTenancy: DEFAULT_MULTI_TENANCY },
      registrations: [{ name: 'posts', schema: posts, authorization: { permissions: EVERYTHING } }],
    })
  })

  const upsert = async (on: string, value: string, user: Record<string, unknown>) => {
    const { status, body } = await server.request('POST', `/api/posts?onConflict=${on}`, { body: { [on]: value, title: 'x' }, caller: { user } })
    return status < 400 ? [status, body.id, body.organizationId] : [status, body.data.code]
  }

  it.each<[string, Record<string, unknown>, string, string, unknown[]]>([
    ['a member', { id: 1, organizationId: 1 }, 'slug', 'a', [200, 1, 1]],
    ['a member', { id: 1, organizationId: 1 }, 'slug', 'b', [201, 5, 1]],
    ['a member', { id: 1, organizationId: 1 }, 'slug', 'e', [409, 'CONFLICT']],
    ['a member', { id: 1, organizationId: 1 }, 'code', 'c2', [409, 'CONFLICT']],
    ['staff of all tenants', { id: 1, staff: 0 }, 'slug', 'a', [403, 'TENANT_REQUIRED']],
    ['staff of all tenants', { id: 1, staff: 0 }, 'code', 'c2', [200, 2, 2]],
    ['staff of all tenants', { id: 1, staff: 0 }, 'code', 'new', [403, 'TENANT_REQUIRED']],
    ['staff who chose tenant 2', { id: 1, staff: 2 }, 'slug', 'a', [200, 2, 2]],
    ['staff who chose tenant 2', { id: 1, staff: 2 }, 'slug', 'e', [201, 5, 2]],
    ['staff who chose tenant 2', { id: 1, staff: 2 }, 'code', 'c1', [200, 1, 1]],
    ['staff who chose tenant 2', { id: 1, staff: 2 }, 'code', 'c4', [409, 'CONFLICT']],
    ['a caller without a tenant', { id: 1 }, 'code', 'c1', [403, 'TENANT_REQUIRED']],
  ])('%s, %j, upserts %s=%s: %j', async (_, user, on, value, expected) => {
    expect(await upsert(on, value, user)).toEqual(expected)
  })
})
