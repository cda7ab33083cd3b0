/** On every engine a failed batch names the invalid items and writes nothing; a batch of deletes has one group per item. */
import { check as mysqlCheck, datetime, int, mysqlTable, varchar, type AnyMySqlColumn } from 'drizzle-orm/mysql-core'
import { check as pgCheck, integer as pgInteger, pgTable, text as pgText, timestamp, type AnyPgColumn } from 'drizzle-orm/pg-core'
import { sql } from 'drizzle-orm'
import { check, integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { createServer, type TestServer } from '../support/server'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'

function sqliteTables() {
  const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
  const items = sqliteTable(
    'items',
    {
      id: integer('id').primaryKey(),
      slug: text('slug').unique(),
      size: integer('size'),
      parentId: integer('parent_id').references((): AnySQLiteColumn => items.id),
      keeperId: integer('keeper_id').references((): AnySQLiteColumn => items.id, { onDelete: 'restrict' }),
      ...trash(),
    },
    t => [check('items_size', sql`${t.size} >= 0`)],
  )
  const notes = sqliteTable('notes', {
    id: integer('id').primaryKey(),
    itemId: integer('item_id').references(() => items.id),
    otherId: integer('other_id').references(() => items.id),
    parentId: integer('parent_id').references((): AnySQLiteColumn => notes.id),
    ...trash(),
  })
  return { items, notes }
}

function postgresTables() {
  const trash = () => ({ deletedAt: timestamp('deleted_at', { withTimezone: true }), deletionId: pgText('deletion_id') })
  const items = pgTable(
    'items',
    {
      id: pgInteger('id').primaryKey(),
      slug: pgText('slug').unique(),
      size: pgInteger('size'),
      parentId: pgInteger('parent_id').references((): AnyPgColumn => items.id),
      keeperId: pgInteger('keeper_id').references((): AnyPgColumn => items.id, { onDelete: 'restrict' }),
      ...trash(),
    },
    t => [pgCheck('items_size', sql`${t.size} >= 0`)],
  )
  const notes = pgTable('notes', {
    id: pgInteger('id').primaryKey(),
    itemId: pgInteger('item_id').references(() => items.id),
    otherId: pgInteger('other_id').references(() => items.id),
    parentId: pgInteger('parent_id').references((): AnyPgColumn => notes.id),
    ...trash(),
  })
  return { items, notes }
}

function mysqlTables() {
  const trash = () => ({ deletedAt: datetime('deleted_at', { fsp: 3 }), deletionId: varchar('deletion_id', { length: 36 }) })
  const items = mysqlTable(
    'items',
    {
      id: int('id').primaryKey(),
      slug: varchar('slug', { length: 40 }).unique('items_slug'),
      size: int('size'),
      parentId: int('parent_id').references((): AnyMySqlColumn => items.id),
      keeperId: int('keeper_id').references((): AnyMySqlColumn => items.id, { onDelete: 'restrict' }),
      ...trash(),
    },
    t => [mysqlCheck('items_size', sql`${t.size} >= 0`)],
  )
  const notes = mysqlTable('notes', {
    id: int('id').primaryKey(), itemId: int('item_id').references(() => items.id), otherId: int('other_id').references(() => items.id),
    parentId: int('parent_id').references((): AnyMySqlColumn => notes.id), ...trash(),
  })
  return { items, notes }
}

const TABLES = { sqlite: sqliteTables, pg: postgresTables, mysql: mysqlTables }
const TIMES: Readonly<Record<Dialect, string>> = { sqlite: '1000', pg: '\'2026-01-01T00:00:00Z\'', mysql: '\'2026-01-01 00:00:00\'' }
const TIME: Readonly<Record<Dialect, string>> = { sqlite: 'integer', pg: 'timestamptz', mysql: 'datetime(3)' }

const ddl = (time: string) => `
  create table items (id integer primary key, slug varchar(40), size integer, parent_id integer references items(id), keeper_id integer references items(id), deleted_at ${time}, deletion_id varchar(36),
    constraint items_slug unique (slug), constraint items_size check (size >= 0));
  create table notes (id integer primary key, item_id integer references items(id), other_id integer references items(id), parent_id integer references notes(id), deleted_at ${time}, deletion_id varchar(36));
`
/** Item 2 is in 1, 3 in 2, 4 in 3; 6 keeps 5 alive, 8 keeps 7; 9 is not visible, and 10 is in the trash. */
const rows = (time: string) => `
  update notes set parent_id = null; delete from notes; update items set parent_id = null, keeper_id = null; delete from items;
  insert into items (id, slug, parent_id) values (1, 's1', null), (2, 's2', 1), (3, 's3', 2), (4, 's4', 3), (5, 's5', null), (7, 's7', null), (9, 's9', null), (11, 's11', null), (12, 's12', null);
  insert into items (id, slug, keeper_id) values (6, 's6', 5), (8, 's8', 7);
  insert into items (id, slug, deleted_at, deletion_id) values (10, 's10', ${time}, 'd10');
  insert into notes (id, item_id, other_id, parent_id) values (21, 2, null, null), (31, 3, null, null), (41, 4, null, null), (211, null, null, 21), (212, null, 11, 21), (213, 12, null, 211);
`

interface Failure { index: number, id?: number, statusCode: number, code: string, issues?: { path: string[] }[] }

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  const { dialect } = engineCase
  describe.skipIf(!isAvailable(engineCase))('a batch', () => {
    let opened: Opened
    let server: TestServer
    let before: unknown
    const dump = async () => [await opened.all('select * from items order by id'), await opened.all('select * from notes order by id')]
    beforeAll(async () => {
      opened = await engineCase.open()
      await opened.exec(ddl(TIME[dialect]))
      const tables = TABLES[dialect]() as ReturnType<typeof sqliteTables>
      const permissions = { read: true, create: true, update: true, delete: true } as const
      server = await createServer({
        db: opened.db,
        engine: engineCase.engine,
        modules: [tables],
        registrations: [
          {
            name: 'items',
            schema: tables.items,
            authorization: { permissions, listFilter: table => sql`${(table as typeof tables.items).id} <> 9` },
          },
          { name: 'notes', schema: tables.notes, authorization: { permissions } },
        ],
      })
    })
    beforeEach(async () => {
      await opened.exec(rows(TIMES[dialect]))
      before = await dump()
    })
    afterAll(() => opened?.close())

    /** The status, what is said of the batch, and who is to blame. */
    const refused = async (method: string, path: string, body: unknown) => {
      const { status, body: answer } = await server.request(method, `/api/${path}`, { body })
      expect([answer.data?.code, await dump()]).toEqual(['BULK_FAILED', before])
      return [
        status,
        /\((.+)\)$/.exec(answer.message)![1],
        (answer.data.errors as Failure[]).map(({ index, statusCode, code }) => `${index}: ${statusCode} ${code}`),
      ]
    }
    const create = (...items: object[]) =>
      refused('POST', 'items/bulk', { items: items.map((item, index) => ({ id: 100 + index, ...item })) })
    const update = (...items: (Record<string, unknown> & { id: number })[]) =>
      refused('PATCH', 'items/bulk', { items: items.map(({ id, ...data }) => ({ id, data })) })

    it('names every item that fails by itself when the database refuses the batch', async () => {
      expect(await create({ slug: 'a' }, { slug: 's4' }, {}, { size: -1 }, { slug: 's5', size: 1 })).toEqual([
        409,
        'rolled back',
        ['1: 409 CONFLICT', '3: 400 VALIDATION_FAILED', '4: 409 CONFLICT'],
      ])
      expect(await update({ id: 1, size: 1 }, { id: 2, size: -1 }, { id: 3, slug: 's4' }, { id: 4, slug: 'free' })).toEqual([
        400,
        'rolled back',
        ['1: 400 VALIDATION_FAILED', '2: 409 CONFLICT'],
      ])
      const { body } = await server.request('POST', '/api/items/bulk', { body: { items: [{ id: 100, size: -1 }] } })
      expect(body.data.errors[0].issues).toEqual([{ path: ['size'], message: 'The value is not allowed.', code: 'check' }])
    })

    it('names the items in conflict when they fail only together', async () => {
      expect(await create({ slug: 'new' }, { slug: 'other' }, { slug: 'new' }, {})).toEqual([
        409,
        'rolled back',
        ['0: 409 CONFLICT', '2: 409 CONFLICT'],
      ])
      expect(await update({ id: 1, slug: 'new' }, { id: 2, size: 2 }, { id: 3, slug: 'new' })).toEqual([
        409,
        'rolled back',
        ['0: 409 CONFLICT', '2: 409 CONFLICT'],
      ])
    })

    // MariaDB has no index over an expression.
    if (dialect !== 'mysql') {
      it('names no item when the database does not say which items conflict', async () => {
        await opened.exec('create unique index items_loud on items (lower(slug))')
        try {
          expect(await create({ slug: 'one' }, { slug: 'ONE' })).toEqual([409, 'rolled back', []])
        }
        finally {
          await opened.exec('drop index items_loud')
        }
      })
    }

    it('writes nothing and names the invalid items when a check of the API refuses it', async () => {
      expect(await refused('DELETE', 'items/bulk', { ids: [1, 5, 11, 7] })).toEqual([
        409,
        'nothing was written',
        ['1: 409 CONFLICT', '3: 409 CONFLICT'],
      ])
      expect(await refused('DELETE', 'items/bulk?force=true', { ids: [1, 5, 11] })).toEqual([
        409,
        'nothing was written',
        ['1: 409 CONFLICT'],
      ])
      expect(await create({ parentId: 1 }, { parentId: 9 }, { parentId: 999 })).toEqual([
        400,
        'nothing was written',
        ['1: 400 INVALID_REFERENCE', '2: 400 INVALID_REFERENCE'],
      ])
    })

    it('does not name a row that only another row of the batch blocks', async () => {
      expect(await refused('DELETE', 'items/bulk', { ids: [5, 6, 7] })).toEqual([409, 'nothing was written', ['2: 409 CONFLICT']])
      expect((await server.request('DELETE', '/api/items/bulk', { body: { ids: [5, 6] } })).status).toBe(200)
    })

    it('reports invalid and invisible items together', async () => {
      expect(await update({ id: 9, size: 1 }, { id: 1, size: 'x' }, { id: 2, size: 1 }, { id: 99 })).toEqual([
        404,
        'nothing was written',
        ['0: 404 NOT_FOUND', '1: 400 VALIDATION_FAILED', '3: 404 NOT_FOUND'],
      ])
    })

    it('gives each row its own deletionId when rows descend from each other, and dependents the one of the nearest row', async () => {
      const { status, body } = await server.request('DELETE', '/api/items/bulk', { body: { ids: [3, 1] } })
      const [three, one] = body.data.map(({ deletionId }: { deletionId: string }) => deletionId)
      expect([status, three !== one]).toEqual([200, true])
      const groups = new Map(
        (await opened.all('select id, deletion_id from items union all select id, deletion_id from notes')).map(([id, group]) => [
          Number(id),
          group,
        ]),
      )
      expect([1, 2, 21, 211, 212, 3, 31, 4, 41].map(id => [id, groups.get(id)])).toEqual([
        [1, one],
        [2, one],
        [21, one],
        [211, one],
        [212, one],
        [3, three],
        [31, three],
        [4, three],
        [41, three],
      ])
      // Each group comes back by itself, the upper one first.
      expect((await server.request('POST', '/api/items/1/restore')).status).toBe(200)
      expect((await opened.all('select id from items where deleted_at is null order by id')).map(([id]) => Number(id))).toEqual([
        1, 2, 5, 6, 7, 8, 9, 11, 12,
      ])
      expect((await server.request('POST', '/api/items/3/restore')).status).toBe(200)
      expect(await dump()).toEqual(before)
    })

    it('gives shared dependents the deletionId of the nearest row', async () => {
      // Note 212 is two steps below item 2, and one below item 11; 213 is three below item 2 and one below item 12.
      for (const ids of [[2, 11, 12], [12, 11, 2]]) {
        await opened.exec(rows(TIMES[dialect]))
        const { body } = await server.request('DELETE', '/api/items/bulk', { body: { ids } })
        const groupOf = new Map(body.data.map(({ id, deletionId }: { id: number, deletionId: string }) => [deletionId, id]))
        const found = (await opened.all('select id, deletion_id from notes where id > 20 order by id')).map(([id, group]) => [
          Number(id),
          groupOf.get(group),
        ])
        expect(found).toEqual([[21, 2], [31, 2], [41, 2], [211, 2], [212, 11], [213, 12]])
        for (const id of ids) expect((await server.request('POST', `/api/items/${id}/restore`)).status).toBe(200)
        expect(await dump()).toEqual(before)
      }
    })
  })
})
