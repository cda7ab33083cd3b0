/** Upserts and plugins: the entries of the audit log, cached responses, and the names of the routes. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { auditLog, responseCache } from '../../../src/runtime/plugins'
import type { AutoApiPlugin } from '../../../src/runtime/server/define'
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
