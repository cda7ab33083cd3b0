/** The statement of the activity feed is planned once: SQLite keeps its plan for other values. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, it } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { activityFeed, auditLog } from '../../../src/runtime/plugins'
import { AUDIT_LOGS, auditLogSql } from '../../engines/support/audit-log'
import { createServer } from '../../support/server'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  organizationId: text('organization_id').notNull(),
})
const everything = { permissions: { read: true, create: true, update: true } } as const
const caller = { user: { id: 1, organizationId: 'acme' }, permissions: ['activity:read'] }

/** The shortest time of one execution in microseconds. */
function timeOf(client: Database.Database, sql: string, values: readonly unknown[]): number {
  const statement = client.prepare(sql).raw()
  const times = Array.from({ length: 20 }, () => {
    const start = performance.now()
    for (let count = 0; count < 20; count++) statement.all(...values)
    return (performance.now() - start) * 50
  })
  return Math.min(...times)
}

it('takes as long with parameters as with their values', async () => {
  const client = new Database(':memory:')
  client.exec(
    `create table posts (id integer primary key, title text not null, organization_id text not null); ${await auditLogSql('sqlite')}`,
  )
  const queries: { sql: string, values: readonly unknown[] }[] = []
  const more = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`more${index}`, posts]))
  const server = await createServer({
    db: drizzle({ client, logger: { logQuery: (sql, values) => void queries.push({ sql, values }) } }),
    modules: [{ posts, auditLog: AUDIT_LOGS.sqlite }],
    registrations: [
      { name: 'posts', schema: posts, authorization: everything },
      ...Object.entries(more).map(([name, schema]) => ({ name, schema, authorization: everything })),
      { name: 'auditLog', schema: AUDIT_LOGS.sqlite, authorization: { permissions: {} } },
    ],
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    plugins: [auditLog(), activityFeed({ actor: { resource: 'posts', label: 'title' }, labels: { posts: 'title' } })],
  })
  for (let id = 1; id <= 5; id++) await server.request('POST', '/api/posts', { caller, body: { title: `post ${id}` } })
  queries.length = 0
  const page = await server.request('GET', '/api/activity?limit=5&count=none', { caller })
  expect(page.body.data).toHaveLength(5)
  const { sql, values } = queries.find(({ sql }) => sql.includes('"record_id"') && sql.includes('limit'))!
  let at = 0
  const literal = sql.replaceAll('?', () => {
    const value = values[at++]
    return typeof value === 'number' ? String(value) : `'${String(value)}'`
  })
  const [bound, fixed] = [timeOf(client, sql, values), timeOf(client, literal, [])]
  client.close()
  console.info(`a page of the feed: ${bound.toFixed(0)} µs with parameters, ${fixed.toFixed(0)} µs with values`)
  expect(bound).toBeLessThan(fixed * 2)
})
