/** Tests changes between check and commit: when a named row changes in between, the request writes nothing. */
import { integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import type { ResourceHooks } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { EVERYTHING, openWorld, outcome, type World } from './world'

const columns = () => ({
  id: integer('id').primaryKey(), organizationId: integer('organization_id').notNull(), title: text('title').notNull(), state: text('state').notNull().default('open'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id'),
})
const flat = sqliteTable('flat', columns())
/** A self-referencing table, whose rows are deleted by other statements. */
const tree = sqliteTable('tree', { ...columns(), parentId: integer('parent_id').references((): AnySQLiteColumn => tree.id) })

const NAMES = ['beforeUpdate', 'beforeDelete', 'beforeRestore', 'beforePurge'] as const
/** SQL that runs after the checks and before the commit, as another request could. */
let otherWrite: string
let dump: string
let world: World
afterEach(() => world.client.close())

async function open(objectLevel: boolean): Promise<void> {
  const runOtherWrite = () => {
    if (otherWrite) world.client.exec(otherWrite)
    otherWrite = ''
    dump = world.dump()
  }
  const registration = { authorization: { permissions: EVERYTHING, ...objectLevel && { objectLevel: (row: { state?: unknown }) => row.state === 'open' } }, hooks: Object.fromEntries(NAMES.map(name => [name, runOtherWrite])) as ResourceHooks }
  const rows = (table: string) => `insert into ${table} (id, organization_id, title) values (1, 1, 'one'), (2, 1, 'two'), (3, 1, 'three'); insert into ${table} (id, organization_id, title, deleted_at, deletion_id) values (4, 1, 'four', 1000, 'd4'), (5, 1, 'five', 1000, 'd4');`
  world = await openWorld({ tables: { flat, tree }, resources: { flat: registration, tree: registration }, rows: `${rows('flat')} ${rows('tree')} update tree set parent_id = 1 where id = 2`, config: { multiTenancy: DEFAULT_MULTI_TENANCY } })
}

/** `row`: the row that changes, the last one that the request names. */
const WRITES: [method: string, path: string, body: unknown, row: number][] = [
  ['PATCH', '1', { title: 'new' }, 1], ['PATCH', '1', {}, 1], ['DELETE', '1', undefined, 1], ['DELETE', '1?force=true', undefined, 1], ['POST', '4/restore', undefined, 4],
  ['PATCH', 'bulk', { items: [{ id: 1, data: { title: 'a' } }, { id: 3, data: { title: 'b' } }] }, 3], ['DELETE', 'bulk', { ids: [1, 3] }, 3], ['DELETE', 'bulk?force=true', { ids: [1, 3] }, 3],
  ['POST', 'bulk/restore', { ids: [4, 5] }, 5], ['POST', 'bulk/restore', { deletionId: 'd4' }, 5], ['DELETE', 'bulk?force=true', { deletionId: 'd4' }, 5],
]

describe.each(['flat', 'tree'])('a write to the table `%s`', (table) => {
  it.each(WRITES)('%s %s %j writes nothing and returns 404 when a named row moves to another tenant', async (method, path, body, row) => {
    await open(false)
    otherWrite = `update ${table} set organization_id = 2 where id = ${row}`
    expect((await world.send(method, `${table}/${path}`, body)).status).toBe(404)
    expect([otherWrite, world.dump()]).toEqual(['', dump])
  })

  it.each(WRITES)('%s %s %j writes nothing when a named row is removed', async (method, path, body, row) => {
    await open(false)
    // In `tree`, 2 refers to 1.
    otherWrite = `delete from ${table} where id = 2; delete from ${table} where id = ${row}`
    // The rest of a group can be requested again, therefore 409.
    expect((await world.send(method, `${table}/${path}`, body)).status).toBe(body && 'deletionId' in (body as object) ? 409 : 404)
    expect(world.dump()).toBe(dump)
  })

  it.each(WRITES)('%s %s %j writes nothing and returns 409 when a row that an object-level rule accepted has changed', async (method, path, body, row) => {
    await open(true)
    otherWrite = `update ${table} set state = 'closed' where id = ${row}`
    const answer = await world.send(method, `${table}/${path}`, body)
    expect(outcome(answer)).toBe(path.startsWith('bulk') && body && !('deletionId' in (body as object)) ? '409 BULK_FAILED' : '409 CONFLICT')
    expect(world.dump()).toBe(dump)
  })
})

it('writes a row that has not changed since an object-level rule accepted it', async () => {
  await open(true)
  otherWrite = 'select 1'
  expect((await world.send('PATCH', 'flat/1', { title: 'new' })).body.title).toBe('new')
})
