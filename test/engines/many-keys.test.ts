/** On every engine a delete reaches the rows of tables with dozens of foreign keys between them, within what the database can plan. */
import type { Table } from 'drizzle-orm'
import { datetime, int, mysqlTable, varchar, type AnyMySqlColumn } from 'drizzle-orm/mysql-core'
import { integer as pgInteger, pgTable, text as pgText, timestamp, type AnyPgColumn } from 'drizzle-orm/pg-core'
import { integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { createServer, type TestServer } from '../support/server'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'
import { WRITER } from './support/scene'

const COUNT = 16
const nameOf = (index: number) => `table_${index}`
/** Each table references the first one and two others before it. Every tenth has a text key, every seventh references a slug. */
const parentsOf = (index: number) => [...new Set([0, index - 1, Math.floor(index / 2)])].filter(parent => parent < index && parent >= 0)
const hasTextKey = (index: number) => index % 10 === 3
const bySlug = (index: number, parent: number) => index % 7 === 0 && parent === index - 1

function createTables(dialect: Dialect): Record<string, Table> {
  const made: Record<string, Table & Record<'id' | 'slug', unknown>> = {}
  for (let index = 0; index < COUNT; index++) {
    const references = <Column>(parent: number) => () => made[nameOf(parent)]![bySlug(index, parent) ? 'slug' : 'id'] as Column
    const isText = (parent: number) => bySlug(index, parent) || hasTextKey(parent)
    const keys = <Column>(build: (name: string, parent: number) => Column) =>
      Object.fromEntries(parentsOf(index).map(parent => [`to${parent}`, build(`to_${parent}`, parent)]))
    const create = {
      sqlite: () =>
        sqliteTable(nameOf(index), {
          id: hasTextKey(index) ? text('id').primaryKey() : integer('id').primaryKey(),
          slug: text('slug').unique(),
          deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
          deletionId: text('deletion_id'),
          ...keys((name, parent) =>
            isText(parent)
              ? text(name).references(references<AnySQLiteColumn>(parent))
              : integer(name).references(references<AnySQLiteColumn>(parent)),
          ),
        }),
      pg: () =>
        pgTable(nameOf(index), {
          id: hasTextKey(index) ? pgText('id').primaryKey() : pgInteger('id').primaryKey(),
          slug: pgText('slug').unique(),
          deletedAt: timestamp('deleted_at', { withTimezone: true }),
          deletionId: pgText('deletion_id'),
          ...keys((name, parent) =>
            isText(parent)
              ? pgText(name).references(references<AnyPgColumn>(parent))
              : pgInteger(name).references(references<AnyPgColumn>(parent)),
          ),
        }),
      mysql: () =>
        mysqlTable(nameOf(index), {
          id: hasTextKey(index) ? varchar('id', { length: 40 }).primaryKey() : int('id').primaryKey(),
          slug: varchar('slug', { length: 40 }).unique(),
          deletedAt: datetime('deleted_at', { fsp: 3 }),
          deletionId: varchar('deletion_id', { length: 40 }),
          ...keys((name, parent) =>
            isText(parent)
              ? varchar(name, { length: 40 }).references(references<AnyMySqlColumn>(parent))
              : int(name).references(references<AnyMySqlColumn>(parent)),
          ),
        }),
    }
    made[nameOf(index)] = create[dialect]() as never
  }
  return made
}

/** Two trees of rows: row 1 of every table descends from row 1 of the first one, row 2 from row 2. */
function ddl(dialect: Dialect): string {
  const time = { sqlite: 'integer', pg: 'timestamptz', mysql: 'datetime(3)' }[dialect]
  return Array.from({ length: COUNT }, (_, index) => {
    const type = (isText: boolean) => isText ? 'varchar(40)' : 'integer'
    const columns = parentsOf(index).map(
      parent =>
        `to_${parent} ${type(bySlug(index, parent) || hasTextKey(parent))} references ${nameOf(parent)}(${bySlug(index, parent) ? 'slug' : 'id'})`,
    )
    const values = (row: number) => [
      ...(hasTextKey(index) ? [`'k${row}'`] : [row]),
      `'s${row}'`,
      ...parentsOf(index).map(parent => (bySlug(index, parent) ? `'s${row}'` : hasTextKey(parent) ? `'k${row}'` : row)),
    ]
    const names = ['id', 'slug', ...parentsOf(index).map(parent => `to_${parent}`)]
    return `create table ${nameOf(index)} (id ${type(hasTextKey(index))} primary key, slug varchar(40) unique, deleted_at ${time}, deletion_id varchar(40)${columns.map(column => `, ${column}`).join('')});
      insert into ${nameOf(index)} (${names.join(', ')}) values (${values(1).join(', ')}), (${values(2).join(', ')})`
  }).join('; ')
}

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('sixteen tables with 42 foreign keys', () => {
    let opened: Opened
    let server: TestServer
    beforeAll(async () => {
      const { dialect, engine, open } = engineCase
      opened = await open()
      await opened.exec(ddl(dialect))
      const tables = createTables(dialect)
      const permissions = { read: true, create: true, update: true, delete: true } as const
      const listener = { name: 'listener', onCommit: () => {} }
      server = await createServer({
        db: opened.db,
        engine,
        modules: [tables],
        plugins: [listener],
        registrations: [0, 1].map(index => ({ name: nameOf(index), schema: tables[nameOf(index)]!, authorization: { permissions } })),
      })
    })
    afterAll(() => opened?.close())

    const ask = async (method: string, path: string) => (await server.request(method, `/api/${path}`, { caller: WRITER })).status
    /** The number of tables with this many rows of this kind. */
    const count = async (where: string) => {
      let tables = 0
      for (let index = 0; index < COUNT; index++)
        tables += Number((await opened.all(`select count(*) from ${nameOf(index)} where ${where}`))[0]![0])
      return tables
    }

    it('are deleted, restored and purged with the row that they descend from', async () => {
      expect([
        await ask('DELETE', 'table_0/1'),
        await count('deleted_at is not null'),
        await count(`slug = 's2' and deleted_at is null`),
      ]).toEqual([200, COUNT, COUNT])
      expect([await ask('POST', 'table_0/1/restore'), await count('deleted_at is not null')]).toEqual([200, 0])
      expect([await ask('DELETE', 'table_0/1?force=true'), await count(`slug = 's1'`), await count(`slug = 's2'`)]).toEqual([200, 0, COUNT])
    })
  })
})
