/** Tests cascades: which dependents a delete, a restore and a purge include, for every kind of foreign key. */
import { sql } from 'drizzle-orm'
import { foreignKey, integer, primaryKey, sqliteTable, text, type AnySQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ADA, EVERYTHING, openWorld, outcome, type World, type WorldOptions } from './world'

const id = () => integer('id').primaryKey()
const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
const roots = sqliteTable('roots', { id: id(), name: text('name'), ...trash() })

let world: World
afterEach(() => {
  world.client.close()
  vi.restoreAllMocks()
})

/** Opens a world with `roots` and the tables of a test. */
async function open(tables: Record<string, SQLiteTable>, rows: string, options: Partial<WorldOptions> = {}): Promise<void> {
  world = await openWorld({ tables: { roots, ...tables }, rows: `insert into roots (id) values (1), (2); ${rows}`, ...options })
}
const del = async (path = 'roots/1', caller = ADA) => (await world.send('DELETE', path, undefined, caller)).body
const active = (table: string) => world.rows(`select id from ${table} where deleted_at is null order by id`)
const left = (table: string) => world.rows(`select id from ${table} order by id`)

/**
 * The `on delete` of the key, the children that are active after a delete of root 1, those that exist after its purge, and the values of
 * their keys.
 */
const KINDS = [
  [undefined, [3], [3], [2]],
  ['no action', [3], [3], [2]],
  ['cascade', [3], [3], [2]],
  ['set null', [1, 2, 3], [1, 2, 3], [null, null, 2]],
  ['set default', [1, 2, 3], [1, 2, 3], [2, 2, 2]],
] as const

describe.each(KINDS)('a foreign key declared `on delete %s`', (onDelete, afterDelete, afterPurge, keys) => {
  const children = sqliteTable('children', {
    id: id(),
    rootId: integer('root_id')
      .default(2)
      .references(() => roots.id, onDelete && { onDelete }),
    ...trash(),
  })
  const beneath = sqliteTable('beneath', { id: id(), childId: integer('child_id').references(() => children.id), ...trash() })
  const rows
    = 'insert into children (id, root_id) values (1, 1), (2, 1), (3, 2); insert into beneath (id, child_id) values (10, 1), (30, 3)'

  it('decides whether a delete, a restore and a purge include the children', async () => {
    await open({ children, beneath }, rows)
    await del()
    expect([active('roots'), active('children'), active('beneath')]).toEqual([[2], afterDelete, afterDelete.length === 3 ? [10, 30] : [30]])
    expect(world.rows('select root_id from children order by id')).toEqual([1, 1, 2])
    expect((await world.send('POST', 'roots/1/restore')).status).toBe(200)
    expect([active('roots'), active('children'), active('beneath')]).toEqual([[1, 2], [1, 2, 3], [10, 30]])
    await del('roots/1?force=true')
    expect([left('roots'), left('children'), world.rows('select root_id from children order by id')]).toEqual([[2], afterPurge, keys])
  })
})

describe('a foreign key declared `on delete restrict`', () => {
  const children = sqliteTable('children', { id: id(), rootId: integer('root_id').references(() => roots.id), ...trash() })
  const bills = sqliteTable('bills', {
    id: id(),
    childId: integer('child_id').references(() => children.id, { onDelete: 'restrict' }),
    ...trash(),
  })
  const rows = 'insert into children (id, root_id) values (1, 1), (2, 1), (3, 2); insert into bills (id, child_id) values (70, 2)'

  it.each([
    ['DELETE', 'roots/1'],
    ['DELETE', 'roots/1?force=true'],
    ['DELETE', 'children/2'],
  ])('refuses a delete of its row and of every ancestor, without naming the table or the id: %s %s', async (method, path) => {
    await open({ children, bills }, rows, {
      resources: { bills: { authorization: { permissions: EVERYTHING, listFilter: () => sql`1 = 0` } } },
    })
    const before = world.dump()
    const answer = await world.send(method, path)
    expect([outcome(answer), answer.body.data]).toEqual(['409 CONFLICT', { code: 'CONFLICT' }])
    expect(answer.text).not.toMatch(/bill|child|70/i)
    expect(world.dump()).toBe(before)
  })

  it('allows a delete after its rows are in the trash, and a purge after they are purged', async () => {
    await open({ children, bills }, rows)
    await del('bills/70')
    expect([(await world.send('DELETE', 'roots/1')).status, (await world.send('DELETE', 'roots/1?force=true')).status]).toEqual([200, 409])
    await del('bills/70?force=true')
    expect([(await world.send('DELETE', 'roots/1?force=true')).status, left('children')]).toEqual([200, [3]])
  })
})

describe('a table without trash columns', () => {
  const middles = sqliteTable('middles', { id: id(), rootId: integer('root_id').references(() => roots.id) })
  const leaves = sqliteTable('leaves', { id: id(), middleId: integer('middle_id').references(() => middles.id), ...trash() })

  it('keeps its rows in a delete that cascades through it, registered or not, and loses them in a purge', async () => {
    await open(
      { middles, leaves },
      'insert into middles values (1, 1), (2, 2); insert into leaves (id, middle_id) values (10, 1), (20, 2)',
      { resources: { middles: false } },
    )
    const { deletionId } = await del()
    expect([left('middles'), active('leaves'), world.rows('select deletion_id from leaves where id = 10')]).toEqual([
      [1, 2],
      [20],
      [deletionId],
    ])
    await world.send('POST', 'roots/1/restore')
    expect(active('leaves')).toEqual([10, 20])
    await del()
    await del('roots/1?force=true')
    expect([left('roots'), left('middles'), left('leaves')]).toEqual([[2], [2], [20]])
  })
})

describe('a foreign key of two columns', () => {
  const shelves = sqliteTable('shelves', { room: text('room').notNull(), number: integer('number').notNull(), ...trash() }, t => [
    primaryKey({ columns: [t.room, t.number] }),
  ])
  const books = sqliteTable('books', { id: id(), room: text('room'), number: integer('number'), ...trash() }, t => [
    foreignKey({ columns: [t.room, t.number], foreignColumns: [shelves.room, shelves.number] }),
  ])

  it('cascades to the rows that match in both columns only', async () => {
    await open(
      { shelves, books },
      `insert into shelves (room, number) values ('a', 1), ('a', 2), ('b', 1); insert into books (id, room, number) values (1, 'a', 1), (2, 'a', 2), (3, 'b', 1), (4, 'a', null)`,
    )
    await del('shelves/a,1')
    expect(active('books')).toEqual([2, 3, 4])
    await world.send('POST', 'shelves/a,1/restore')
    expect(active('books')).toEqual([1, 2, 3, 4])
    await del('shelves/a,1?force=true')
    expect(left('books')).toEqual([2, 3, 4])
  })
})

describe('a self-referencing foreign key', () => {
  const nodes = sqliteTable('nodes', { id: id(), parentId: integer('parent_id').references((): AnySQLiteColumn => nodes.id), ...trash() })
  const rows = 'insert into nodes (id, parent_id) values (1, null), (2, 1), (3, 2), (4, 3), (5, null), (6, 6)'

  it.each([
    [1, [5, 6]],
    [3, [1, 2, 5, 6]],
    [6, [1, 2, 3, 4, 5]],
  ])('cascades a delete, a restore and a purge to all descendants of %s', async (node, others) => {
    await open({ nodes }, rows)
    await del(`nodes/${node}`)
    expect(active('nodes')).toEqual(others)
    await world.send('POST', `nodes/${node}/restore`)
    expect(active('nodes')).toEqual([1, 2, 3, 4, 5, 6])
    expect((await world.send('DELETE', `nodes/${node}?force=true`)).status).toBe(200)
    expect(left('nodes')).toEqual(others)
  })

  it('ends when the rows form a cycle', async () => {
    await open({ nodes }, `${rows}; update nodes set parent_id = 4 where id = 1`)
    await del('nodes/2')
    expect(active('nodes')).toEqual([5, 6])
    expect((await world.send('DELETE', 'nodes/3?force=true')).status).toBe(200)
    expect(left('nodes')).toEqual([5, 6])
  })

  it('includes rows that the caller cannot see, and does not report them', async () => {
    await open({ nodes }, rows, {
      resources: { nodes: { authorization: { permissions: EVERYTHING, listFilter: table => sql`${(table as typeof nodes).id} <> 3` } } },
    })
    const answer = await world.send('DELETE', 'nodes/1')
    expect(answer.body).toEqual({ success: true, softDeleted: true, deletionId: expect.any(String) })
    expect(active('nodes')).toEqual([5, 6])
  })
})

describe('two tables that refer to each other', () => {
  const heads = sqliteTable('heads', { id: id(), memberId: integer('member_id').references((): AnySQLiteColumn => members.id), ...trash() })
  const members = sqliteTable('members', { id: id(), headId: integer('head_id').references((): AnySQLiteColumn => heads.id), ...trash() })
  const rows = `
    insert into heads (id) values (1), (2), (3); insert into members (id, head_id) values (10, 1), (11, 1), (20, 2), (30, 3);
    update heads set member_id = 10 where id in (1, 2); update heads set member_id = 30 where id = 3`

  it.each([
    ['heads/1/restore', 'heads/1?force=true', undefined],
    ['heads/bulk/restore', 'members/20?force=true', undefined],
    ['members/bulk/restore', 'heads/bulk?force=true', { ids: [1, 2, 3] }],
  ])('are deleted, restored and purged together: POST %s, DELETE %s', async (restore, path, body) => {
    await open({ heads, members }, rows)
    const { deletionId } = await del('heads/1')
    expect([active('heads'), active('members')]).toEqual([[3], [30]])
    expect(
      world.rows('select count(distinct deletion_id) from (select deletion_id from heads union select deletion_id from members)'),
    ).toEqual([1])
    expect((await world.send('POST', restore, restore.includes('bulk') ? { deletionId } : undefined)).status).toBe(200)
    expect([
      active('heads'),
      active('members'),
      world.rows('select deletion_id from heads union all select deletion_id from members').filter(Boolean),
    ]).toEqual([[1, 2, 3], [10, 11, 20, 30], []])
    expect(outcome(await world.send('DELETE', path, body))).toBe('200')
    expect([left('heads'), left('members')]).toEqual(
      path.startsWith('heads/1')
        ? [[3], [30]]
        : path.startsWith('members')
          ? [
              [1, 2, 3],
              [10, 11, 30],
            ]
          : [[], []],
    )
  })

  it('are purged by their deletionId', async () => {
    await open({ heads, members }, rows)
    const { deletionId } = await del('heads/1')
    expect(outcome(await world.send('DELETE', 'heads/bulk?force=true', { deletionId }))).toBe('200')
    expect([left('heads'), left('members')]).toEqual([[3], [30]])
  })
})

describe('`softDelete.cascade: \'off\'`', () => {
  const children = sqliteTable('children', { id: id(), rootId: integer('root_id').references(() => roots.id), ...trash() })
  const bills = sqliteTable('bills', { id: id(), rootId: integer('root_id').references(() => roots.id, { onDelete: 'restrict' }) })

  it('deletes only the row; a purge still includes the dependents', async () => {
    await open({ children, bills }, 'insert into children (id, root_id) values (1, 1); insert into bills values (1, 1)', {
      resources: { roots: { authorization: { permissions: EVERYTHING, softDelete: { cascade: 'off' } } } },
    })
    expect((await del()).success).toBe(true)
    expect([active('roots'), active('children')]).toEqual([[2], [1]])
    expect(outcome(await world.send('DELETE', 'roots/1?force=true'))).toBe('409 CONFLICT')
    await del('bills/1')
    expect([(await world.send('DELETE', 'roots/1?force=true')).status, left('children')]).toEqual([200, []])
  })
})

describe('`retentionDays`', () => {
  const children = sqliteTable('children', {
    id: id(),
    rootId: integer('root_id').references(() => roots.id, { onDelete: 'set null' }),
    ...trash(),
  })
  const leaves = sqliteTable('leaves', { id: id(), rootId: integer('root_id').references(() => roots.id), ...trash() })

  it('purges expired rows as a request does: children first, `set null` keys cleared', async () => {
    await open(
      { children, leaves },
      `
      insert into children (id, root_id) values (1, 1), (2, 2); insert into leaves (id, root_id) values (1, 1), (2, 2);
      update roots set deleted_at = 1000, deletion_id = 'd' where id = 1`,
      { resources: { roots: { authorization: { permissions: EVERYTHING, softDelete: { retentionDays: 1 } } } } },
    )
    const { purgeExpiredTrash } = await import('../../../src/runtime/server/utils/trash')
    expect(await purgeExpiredTrash(new Date(86_400_000))).toEqual({ roots: 0 })
    expect(await purgeExpiredTrash(new Date(86_402_000))).toEqual({ roots: 1 })
    expect([left('roots'), left('leaves'), world.rows('select id, root_id from children')]).toEqual([[2], [2], [[1, null], [2, 2]]])
  })
})
