/** Guards what happens between check and write: a row that changed hands in the meantime is not written, nor is anything beside it. */
import { integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import type { ResourceHooks } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { EVERYTHING, openWorld, told, type World } from './world'

const columns = () => ({
  id: integer('id').primaryKey(), organizationId: integer('organization_id').notNull(), title: text('title').notNull(), state: text('state').notNull().default('open'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id'),
})
const flat = sqliteTable('flat', columns())
/** Rows that hang on one another are removed by another way. */
const tree = sqliteTable('tree', { ...columns(), parentId: integer('parent_id').references((): AnySQLiteColumn => tree.id) })

const NAMES = ['beforeUpdate', 'beforeDelete', 'beforeRestore', 'beforePurge'] as const
/** What somebody else does once everything is checked. */
let meanwhile: string
let dump: string
let world: World
afterEach(() => world.client.close())

async function open(judged: boolean): Promise<void> {
  // The hooks run after the checks and before the commit: what they do is what another request could.
  const strike = () => {
    if (meanwhile) world.client.exec(meanwhile)
    meanwhile = ''
    dump = world.dump()
  }
  const registration = { authorization: { permissions: EVERYTHING, ...judged && { objectLevel: (row: { state?: unknown }) => row.state === 'open' } }, hooks: Object.fromEntries(NAMES.map(name => [name, strike])) as ResourceHooks }
  const rows = (table: string) => `insert into ${table} (id, organization_id, title) values (1, 1, 'one'), (2, 1, 'two'), (3, 1, 'three'); insert into ${table} (id, organization_id, title, deleted_at, deletion_id) values (4, 1, 'four', 1000, 'd4'), (5, 1, 'five', 1000, 'd4');`
  world = await openWorld({ tables: { flat, tree }, resources: { flat: registration, tree: registration }, rows: `${rows('flat')} ${rows('tree')} update tree set parent_id = 1 where id = 2`, config: { multiTenancy: DEFAULT_MULTI_TENANCY } })
}

/** The last row each of them names is the one that changes. */
const WRITES: [method: string, path: string, body: unknown, row: number][] = [
  ['PATCH', '1', { title: 'new' }, 1], ['PATCH', '1', {}, 1], ['DELETE', '1', undefined, 1], ['DELETE', '1?force=true', undefined, 1], ['POST', '4/restore', undefined, 4],
  ['PATCH', 'bulk', { items: [{ id: 1, data: { title: 'a' } }, { id: 3, data: { title: 'b' } }] }, 3], ['DELETE', 'bulk', { ids: [1, 3] }, 3], ['DELETE', 'bulk?force=true', { ids: [1, 3] }, 3],
  ['POST', 'bulk/restore', { ids: [4, 5] }, 5], ['POST', 'bulk/restore', { deletionId: 'd4' }, 5], ['DELETE', 'bulk?force=true', { deletionId: 'd4' }, 5],
]

describe.each(['flat', 'tree'])('in a %s table', (table) => {
  it.each(WRITES)('%s %s %j writes nothing when a row it names goes to another tenant', async (method, path, body, row) => {
    await open(false)
    meanwhile = `update ${table} set organization_id = 2 where id = ${row}`
    expect((await world.ask(method, `${table}/${path}`, body)).status).toBe(404)
    expect([meanwhile, world.dump()]).toEqual(['', dump])
  })

  it.each(WRITES)('%s %s %j writes nothing when a row it names is removed', async (method, path, body, row) => {
    await open(false)
    // 2 hangs on 1 in the tree.
    meanwhile = `delete from ${table} where id = 2; delete from ${table} where id = ${row}`
    // What is left of a group may be asked for again.
    expect((await world.ask(method, `${table}/${path}`, body)).status).toBe(body && 'deletionId' in (body as object) ? 409 : 404)
    expect(world.dump()).toBe(dump)
  })

  it.each(WRITES)('%s %s %j writes nothing when what code judged is no longer true: 409', async (method, path, body, row) => {
    await open(true)
    meanwhile = `update ${table} set state = 'closed' where id = ${row}`
    const answer = await world.ask(method, `${table}/${path}`, body)
    expect(told(answer)).toBe(path.startsWith('bulk') && body && !('deletionId' in (body as object)) ? '409 BULK_FAILED' : '409 CONFLICT')
    expect(world.dump()).toBe(dump)
  })
})

it('a row that is still what it was when code judged it is written', async () => {
  await open(true)
  meanwhile = 'select 1'
  expect((await world.ask('PATCH', 'flat/1', { title: 'new' })).body.title).toBe('new')
})
