/** The presets in a running API over SQLite, whose table drizzle-kit creates. */
import { createRequire } from 'node:module'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { audit, id, liveUnique, softDelete, tenant, timestamps } from '../../../../../src/runtime/plugins/schema-sqlite'
import { DEFAULT_MULTI_TENANCY } from '../../../../../src/runtime/shared/defaults'
import { createServer, type Answered, type TestServer } from '../../../../support/server'

const pages = sqliteTable(
  'pages',
  { ...id(), ...tenant(), slug: text('slug').notNull(), ...timestamps(), ...audit(), ...softDelete() },
  t => [liveUnique('pages_slug', t, t.organizationId, t.slug)],
)

let server: TestServer
let client: Database.Database

beforeEach(async () => {
  const { generateSQLiteDrizzleJson, generateSQLiteMigration } = createRequire(import.meta.url)(
    'drizzle-kit/api',
  ) as typeof import('drizzle-kit/api')
  client = new Database(':memory:')
  for (const statement of await generateSQLiteMigration(await generateSQLiteDrizzleJson({}), await generateSQLiteDrizzleJson({ pages })))
    client.exec(statement)
  server = await createServer({
    db: drizzle({ client }),
    registrations: [
      { name: 'pages', schema: pages, authorization: { permissions: { read: true, create: true, update: true, delete: true } } },
    ],
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
  })
})
afterEach(() => client.close())

const send = (method: string, path: string, body?: unknown, organizationId = 1): Promise<Answered> =>
  server.request(method, `/api/pages${path}`, { body, caller: { user: { id: 7, organizationId } } })
const statuses = async (...requests: [string, string, unknown?, number?][]) => {
  const answers: number[] = []
  for (const request of requests) answers.push((await send(...request)).status)
  return answers
}

describe('a table of presets', () => {
  it('gets its server-set values on create and update', async () => {
    const before = Date.now()
    const { status, body } = await send('POST', '', { slug: 'a', organizationId: 2, createdBy: 9, deletedAt: '2026-01-01T00:00:00.000Z' })
    expect([status, body]).toEqual([201, {
      id: 1, organizationId: 1, slug: 'a', createdAt: expect.any(String), updatedAt: expect.any(String), createdBy: 7, updatedBy: 7,
      deletedAt: null, deletedBy: null, deletionId: null, deletedReason: null,
    }])
    expect(Date.parse(body.createdAt)).toBeGreaterThanOrEqual(before)
    const changed = await send('PATCH', '/1', { slug: 'b' })
    expect([changed.status, changed.body.createdAt, changed.body.updatedAt >= body.updatedAt]).toEqual([200, body.createdAt, true])
  })

  it('records who deleted a row, when and why', async () => {
    await send('POST', '', { slug: 'a' })
    const { body } = await send('DELETE', '/1?reason=old')
    expect(body).toEqual({ success: true, softDeleted: true, deletionId: expect.any(String) })
    expect(client.prepare('select deleted_by, deletion_id, deleted_reason, deleted_at > 0 from pages').raw().get()).toEqual([
      7,
      body.deletionId,
      'old',
      1,
    ])
  })
})

describe('liveUnique', () => {
  it('refuses a second live row on create, on update and in a bulk request', async () => {
    expect(await statuses(
      ['POST', '', { slug: 'a' }], ['POST', '', { slug: 'a' }],
      ['POST', '', { slug: 'b' }], ['PATCH', '/2', { slug: 'a' }],
      ['POST', '/bulk', { items: [{ slug: 'c' }, { slug: 'a' }] }],
    )).toEqual([201, 409, 201, 409, 409])
    expect(client.prepare('select slug from pages order by id').pluck().all()).toEqual(['a', 'b'])
  })

  it('applies within its columns only: another tenant can use the same name', async () => {
    expect(await statuses(['POST', '', { slug: 'a' }], ['POST', '', { slug: 'a' }, 2], ['POST', '', { slug: 'a' }, 2])).toEqual([
      201, 201, 409,
    ])
  })

  it('frees the name of a deleted row, repeatedly', async () => {
    for (const n of [1, 2, 3]) {
      expect(await statuses(['POST', '', { slug: 'a' }], ['DELETE', `/${n}`])).toEqual([201, 200])
    }
    expect(client.prepare('select count(*) from pages where slug = ?').pluck().get('a')).toBe(3)
  })

  it('refuses to restore a row whose name is taken, alone and in a batch, and changes nothing', async () => {
    await statuses(
      ['POST', '', { slug: 'a' }],
      ['POST', '', { slug: 'b' }],
      ['DELETE', '/1'],
      ['DELETE', '/2'],
      ['POST', '', { slug: 'a' }],
    )
    const { status, body } = await send('POST', '/1/restore')
    expect([status, body.data.code]).toEqual([409, 'CONFLICT'])
    expect(await statuses(['POST', '/bulk/restore', { ids: [2, 1] }])).toEqual([409])
    expect(client.prepare('select id from pages where deleted_at is null').pluck().all()).toEqual([3])
    expect(await statuses(['POST', '/2/restore'], ['DELETE', '/3'], ['POST', '/1/restore'])).toEqual([200, 200, 200])
  })
})
