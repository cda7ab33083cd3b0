/** A table described once: the same description whichever of the three dialects declares it. */
import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { describe, expect, it } from 'vitest'
import { describeForeignKeys } from '../../../src/runtime/server/schema/drizzle/foreign-keys'
import { describeTable } from '../../../src/runtime/server/schema/drizzle/table'
import { isTable } from '../../../src/runtime/server/schema/drizzle/config'
import { DIALECTS, mysql, pg, resourceOf, sqlite } from './tables'

describe.each(DIALECTS)('a table of $dialect-core', ({ dialect, tables }) => {
  it('is known by its dialect and its name in the database', () => {
    expect(describeTable(tables.postTags)).toMatchObject({ dialect, name: 'post_tags' })
    expect(isTable(tables.posts)).toBe(true)
  })

  it.each([
    ['users', ['id']],
    ['employees', ['code']],
    ['postTags', ['postId', 'tagSlug']],
    ['seats', ['room', 'number']],
    ['keyless', []],
  ] as const)('has its primary key by property name, in key order: %s', (name, primaryKey) => {
    expect(describeTable(tables[name]).primaryKey).toEqual(primaryKey)
  })

  it('without a primary key is no resource, and the error names the table', () => {
    expect(() => resourceOf(tables.keyless)).toThrow(/`it`.*"keyless" has no primary key/)
  })

  it('lists unique constraints, unique columns and unique indexes without a condition, by property name', () => {
    const uniques = describeTable(tables.users).uniques.map(columns => columns.join())
    expect(uniques.sort()).toEqual(['email', 'organizationId,handle', 'passwordHash'])
  })

  it.each([
    ['users', 'id', true],
    ['organizations', 'id', true],
    ['tickets', 'uuid', true],
    ['kinds', 'doubled', true],
    ['devices', 'uuid', false],
    ['employees', 'code', false],
    ['seats', 'number', false],
    ['seats', 'room', false],
    ['postTags', 'postId', false],
    ['posts', 'status', false],
  ] as const)('%s.%s is made by the database: %s', (table, column, generated) => {
    expect(columnOf(tables[table], column).generated).toBe(generated)
  })

  it.each([
    ['posts', 'title', { nullable: false, optional: false }],
    ['posts', 'authorId', { nullable: true, optional: true }],
    ['posts', 'status', { nullable: false, optional: true }],
    ['tags', 'name', { nullable: false, optional: true }],
    ['users', 'id', { nullable: false, optional: true }],
    ['employees', 'code', { nullable: false, optional: false }],
  ] as const)('%s.%s may be null and may be left out as declared: %o', (table, column, facts) => {
    expect(columnOf(tables[table], column)).toMatchObject(facts)
  })

  it.each([
    ['posts', [{ columns: ['authorId'], to: 'users', foreignColumns: ['id'], onDelete: 'cascade' }]],
    ['comments', [{ columns: ['post_id'], to: 'posts', foreignColumns: ['id'], onDelete: 'restrict' }]],
    ['messages', [
      { columns: ['senderId'], to: 'users', foreignColumns: ['id'], onDelete: 'no action' },
      { columns: ['recipientId'], to: 'users', foreignColumns: ['id'], onDelete: 'set null' },
    ]],
    ['employees', [{ columns: ['reportsTo'], to: 'employees', foreignColumns: ['code'], onDelete: 'no action' }]],
    ['bookings', [{ columns: ['room', 'seatId'], to: 'seats', foreignColumns: ['room', 'number'], onDelete: 'set default' }]],
    ['tags', []],
  ] as const)('has its foreign keys by property name, with what happens on delete: %s', (name, expected) => {
    const keys = describeForeignKeys(tables[name]).map(({ columns, foreignTable, foreignColumns, onDelete }) => ({ columns, to: getTableName(foreignTable), foreignColumns, onDelete }))
    expect(keys).toEqual(expected)
  })
})

describe('the kind of a column', () => {
  const common = { id: 'integer', text: 'text', number: 'number', integer: 'integer', boolean: 'boolean', date: 'date', bigint: 'bigint', decimal: 'decimal', json: 'json', custom: 'custom', doubled: 'integer' }

  it.each([
    ['sqlite-core', sqlite.kinds, { ...common, blob: 'blob' }],
    ['pg-core', pg.kinds, { ...common, list: 'json', bytes: 'custom' }],
    ['mysql-core', mysql.kinds, common],
  ])('follows its declared type: %s', (_name, table, expected) => {
    const kinds = describeTable(table).columns.map(({ name, kind }) => [name, kind])
    expect(Object.fromEntries(kinds)).toEqual(expected)
  })

  it('is read from columns the table has, in the order of the table', () => {
    expect(describeTable(sqlite.kinds).columns.map(({ name }) => name)).toEqual(Object.keys(getTableColumns(sqlite.kinds)))
  })
})

describe('what is no table of a supported dialect', () => {
  it.each([[undefined], [null], ['posts'], [{}], [{ id: integer() }]])('is refused: %o', (value) => {
    expect(isTable(value)).toBe(false)
    expect(() => resourceOf({ schema: value as never })).toThrow('`it.schema` is not a Drizzle table')
  })
})

describe('a reference', () => {
  it('may name a table that is declared further down', () => {
    const children = pgTable('children', { id: integer().primaryKey(), parentId: integer().references(() => parents.id) })
    const parents = pgTable('parents', { id: integer().primaryKey(), name: text() })
    expect(describeForeignKeys(children)).toMatchObject([{ columns: ['parentId'], foreignTable: parents, foreignColumns: ['id'] }])
  })
})

function columnOf(table: Table, name: string) {
  return describeTable(table).columns.find(column => column.name === name)!
}
