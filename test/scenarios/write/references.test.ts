/** Tests foreign keys in a body: each must refer to a visible row, and a missing row gets the same error as an invisible one. */
import { sql } from 'drizzle-orm'
import { foreignKey, integer, primaryKey, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import type { FieldRule, ResourceAuth } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { ADA, EVERYTHING, openWorld, outcome, type World } from './world'

const tenant = () => ({ organizationId: integer('organization_id').notNull() })
const folders = sqliteTable('folders', {
  id: integer('id').primaryKey(),
  ...tenant(),
  name: text('name'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})
const shelves = sqliteTable('shelves', { room: text('room').notNull(), number: integer('number').notNull(), ...tenant() }, t => [
  primaryKey({ columns: [t.room, t.number] }),
])
/** Not a resource. */
const colours = sqliteTable('colours', { name: text('name').primaryKey() })
const notes = sqliteTable('notes', {
  id: integer('id').primaryKey(),
  ...tenant(),
  title: text('title'),
  folderId: integer('folder_id').references(() => folders.id),
  parentId: integer('parent_id').references((): AnySQLiteColumn => notes.id),
  colour: text('colour').references(() => colours.name),
  room: text('room'),
  number: integer('number'),
}, t => [foreignKey({ columns: [t.room, t.number], foreignColumns: [shelves.room, shelves.number] })])

/** Folder 1 is visible, 2 is in the trash, `listFilter` excludes 3, `objectLevel` excludes 4, 5 belongs to another tenant. */
const ROWS = `
  insert into folders values (1, 1, 'own', null), (2, 1, 'gone', 1000), (3, 1, 'filtered', null), (4, 1, 'judged', null), (5, 2, 'theirs', null);
  insert into shelves values ('a', 1, 1), ('a', 2, 2);
  insert into colours values ('red');
  insert into notes (id, organization_id, folder_id, room, number) values (1, 1, 3, 'a', 1), (2, 1, null, null, null), (3, 2, 5, null, null);
`
const HIDDEN: ResourceAuth = {
  permissions: { read: 'nobody' },
  listFilter: table => sql`${(table as typeof folders).id} <> 3`,
  objectLevel: row => row.id !== 4,
}

let world: World
const statements: string[] = []
afterEach(() => world.client.close())
const open = async (fields: Record<string, FieldRule> = {}) =>
  (world = await openWorld({
    tables: { folders, shelves, colours, notes },
    resources: {
      colours: false,
      folders: { authorization: HIDDEN },
      notes: { authorization: { permissions: EVERYTHING, fields: fields as never } },
    },
    rows: ROWS,
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    log: statement => statements.push(statement),
  }))
/** Each way to write a value: a create, an update, and an item of a bulk create or update. */
const WAYS: [name: string, write: (data: object) => Promise<{ status: number, text: string, error: object }>][] = [
  ['POST', async data => simple(await world.send('POST', 'notes', data))],
  ['PATCH', async data => simple(await world.send('PATCH', 'notes/2', data))],
  ['POST bulk', async data => simple(await world.send('POST', 'notes/bulk', { items: [data] }))],
  ['PATCH bulk', async data => simple(await world.send('PATCH', 'notes/bulk', { items: [{ id: 2, data }] }))],
]

const simple = ({ status, body, text }: Awaited<ReturnType<World['send']>>) => ({
  status,
  text,
  error: body.data?.errors?.[0] ?? { message: body.message, ...body.data },
})

describe.each(WAYS)('a reference in a %s', (_name, write) => {
  it('is written when the row is visible, even if the caller cannot read its resource', async () => {
    await open()
    expect((await write({ folderId: 1 })).status).toBeLessThan(300)
    expect((await write({ folderId: null })).status).toBeLessThan(300)
  })

  it('returns the same 400 for a row that is missing, in the trash, excluded by a rule, or of another tenant', async () => {
    await open()
    const answers = []
    for (const id of [99, 2, 3, 4, 5]) answers.push(await write({ folderId: id }))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]).toMatchObject({
      status: 400,
      error: { code: 'INVALID_REFERENCE', message: '`folderId` points to a record that does not exist.' },
    })
    expect(world.rows('select count(*) from notes')).toEqual([3])
  })

  it('is checked in the same way when it refers to its own table or has two columns', async () => {
    await open()
    expect((await write({ parentId: 3 })).status).toBe(400)
    expect((await write({ parentId: 1 })).status).toBeLessThan(300)
    expect((await write({ room: 'a', number: 2 })).status).toBe(400)
    expect((await write({ room: 'a', number: 1 })).status).toBeLessThan(300)
  })

  it('is checked by the database when it refers to a table that is not registered', async () => {
    await open()
    expect((await write({ colour: 'red' })).status).toBeLessThan(300)
    expect(await write({ colour: 'blue' })).toMatchObject({ status: 400, error: { code: 'INVALID_REFERENCE' } })
  })

  /** By the rule: folders that may be pointed at; in the trash and missing never. */
  it.each([
    ['visible', [1]],
    ['tenant', [1, 3, 4]],
    ['any', [1, 2, 3, 4, 5]],
  ] as const)('with the rule `reference: %s` accepts the rows %j', async (reference, reached) => {
    await open({ folderId: { reference } })
    const found = []
    for (const folderId of [1, 2, 3, 4, 5, 99]) if ((await write({ folderId })).status < 300) found.push(folderId)
    expect(found).toEqual(reached)
  })
})

describe('a reference of two columns', () => {
  it.each([
    ['visible', 'any'],
    ['any', 'visible'],
    ['tenant', 'any'],
  ] as const)('follows the least strict rule of its columns: %s and %s', async (room, number) => {
    await open({ room: { reference: room }, number: { reference: number } })
    expect(outcome(await world.send('POST', 'notes', { room: 'a', number: 2 }))).toBe('201')
  })
})

describe('a stored reference', () => {
  it('is not checked while it stays the same, whatever happened to its row', async () => {
    await open()
    expect(outcome(await world.send('PATCH', 'notes/1', { title: 'x', folderId: 3 }))).toBe('200')
    expect(outcome(await world.send('PATCH', 'notes/1', { title: 'x', folderId: 4 }))).toBe('400 INVALID_REFERENCE')
  })

  it('of two columns is checked as a whole when one of them changes', async () => {
    await open()
    expect(outcome(await world.send('PATCH', 'notes/1', { number: 2 }))).toBe('400 INVALID_REFERENCE')
    expect(outcome(await world.send('PATCH', 'notes/1', { number: 1 }))).toBe('200')
    expect(outcome(await world.send('PATCH', 'notes/1', { room: null }))).toBe('200')
  })

  it('can refer to a row of another tenant for a caller who sees all tenants', async () => {
    await open()
    const { addContextExtender } = await import('../../../src/runtime/server/utils')
    addContextExtender((ctx) => {
      ctx.tenant = { id: 1, canAccessAllTenants: true }
    })
    expect(outcome(await world.send('PATCH', 'notes/2', { folderId: 5 }, ADA))).toBe('200')
  })
})

describe('the references of a batch', () => {
  it('are read with one statement for each foreign key, and each failed item gets its own error', async () => {
    await open()
    statements.length = 0
    const { body } = await world.send('POST', 'notes/bulk', { items: [1, 5, 1, 99, 3].map(folderId => ({ folderId, parentId: 1 })) })
    expect(body.data.errors.map(({ index }: { index: number }) => index)).toEqual([1, 3, 4])
    expect(statements.filter(statement => statement.startsWith('select'))).toHaveLength(1)
  })

  it('are checked by the commit alone when SQL can decide, and read again only to find the item of a wrong one', async () => {
    await open()
    const post = async (parents: number[]) => {
      statements.length = 0
      const { status, body } = await world.send('POST', 'notes/bulk', { items: parents.map(parentId => ({ folderId: 1, parentId })) })
      return { status, body, looks: statements.filter(statement => statement.startsWith('select "notes"')).length }
    }
    expect(await post([1, 1, 1])).toMatchObject({ status: 200, looks: 1 })
    const before = await world.send('GET', 'notes?limit=1')
    const { status, body, looks } = await post([1, 99, 1, 98])
    expect([status, looks]).toEqual([400, 2])
    expect(body.data.errors.map(({ index, code }: { index: number, code: string }) => [index, code])).toEqual([
      [1, 'INVALID_REFERENCE'],
      [3, 'INVALID_REFERENCE'],
    ])
    expect((await world.send('GET', 'notes?limit=1')).body.meta.total).toBe(before.body.meta.total)
  })
})
