/** A table without a primary key: its rows are read and written by the columns that identify them, on every engine. */
import type { Table } from 'drizzle-orm'
import { datetime, int, mysqlTable, unique as mysqlUnique, varchar } from 'drizzle-orm/mysql-core'
import { integer as pgInteger, pgTable, text as pgText, timestamp, unique as pgUnique } from 'drizzle-orm/pg-core'
import { integer, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { createServer, type TestServer } from '../support/server'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'
import { WRITER } from './support/scene'
import { get } from './support/walk'

/** `areas` has a unique column, `shelves` a unique constraint, and only the registration knows what identifies a row of `lines`. */
const TABLES: Readonly<Record<Dialect, Readonly<Record<'areas' | 'shelves' | 'lines', Table>>>> = {
  sqlite: (() => {
    const areas = sqliteTable('areas', { code: text('code').notNull().unique(), name: text('name') })
    const shelves = sqliteTable(
      'shelves',
      {
        area: text('area')
          .notNull()
          .references(() => areas.code),
        number: integer('number').notNull(),
        note: text('note'),
        deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
        deletionId: text('deletion_id'),
      },
      t => [unique().on(t.area, t.number)],
    )
    return {
      areas,
      shelves,
      lines: sqliteTable('lines', {
        document: text('document').notNull(),
        position: integer('position').notNull(),
        amount: integer('amount'),
      }),
    }
  })(),
  pg: (() => {
    const areas = pgTable('areas', { code: pgText('code').notNull().unique(), name: pgText('name') })
    const shelves = pgTable(
      'shelves',
      {
        area: pgText('area')
          .notNull()
          .references(() => areas.code),
        number: pgInteger('number').notNull(),
        note: pgText('note'),
        deletedAt: timestamp('deleted_at', { withTimezone: true }),
        deletionId: pgText('deletion_id'),
      },
      t => [pgUnique().on(t.area, t.number)],
    )
    return {
      areas,
      shelves,
      lines: pgTable('lines', {
        document: pgText('document').notNull(),
        position: pgInteger('position').notNull(),
        amount: pgInteger('amount'),
      }),
    }
  })(),
  mysql: (() => {
    const areas = mysqlTable('areas', { code: varchar('code', { length: 40 }).notNull().unique(), name: varchar('name', { length: 40 }) })
    const shelves = mysqlTable(
      'shelves',
      {
        area: varchar('area', { length: 40 })
          .notNull()
          .references(() => areas.code),
        number: int('number').notNull(),
        note: varchar('note', { length: 40 }),
        deletedAt: datetime('deleted_at', { fsp: 3 }),
        deletionId: varchar('deletion_id', { length: 40 }),
      },
      t => [mysqlUnique().on(t.area, t.number)],
    )
    return {
      areas,
      shelves,
      lines: mysqlTable('lines', {
        document: varchar('document', { length: 40 }).notNull(),
        position: int('position').notNull(),
        amount: int('amount'),
      }),
    }
  })(),
}

const TIMES: Readonly<Record<Dialect, string>> = { sqlite: 'integer', pg: 'timestamptz', mysql: 'datetime(3)' }

const ddl = (dialect: Dialect) =>
  `
  create table areas (code varchar(40) not null unique, name varchar(40));
  create table shelves (area varchar(40) not null, number integer not null, note varchar(40), deleted_at ${TIMES[dialect]}, deletion_id varchar(40),
    constraint one_shelf unique (area, number), constraint in_area foreign key (area) references areas(code));
  create table lines (document varchar(40) not null, position integer not null, amount integer);
`.replaceAll('lines', dialect === 'mysql' ? '`lines`' : 'lines')

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a table without a primary key', () => {
    let opened: Opened
    let server: TestServer
    beforeAll(async () => {
      const { dialect, engine, open } = engineCase
      opened = await open()
      await opened.exec(ddl(dialect))
      const { areas, shelves, lines } = TABLES[dialect]
      const authorization = { permissions: { read: true, create: true, update: true, delete: true } } as const
      server = await createServer({
        db: opened.db, engine, modules: [TABLES[dialect]],
        registrations: [
          { name: 'areas', schema: areas, authorization }, { name: 'shelves', schema: shelves, authorization },
          { name: 'lines', schema: lines, key: ['document', 'position'], authorization },
        ],
      })
    })
    beforeEach(() =>
      opened.exec(
        'delete from shelves; delete from areas; insert into areas values (\'a,1\', \'first\'), (\'b\', \'second\'); '
        + 'insert into shelves (area, number, note) values (\'a,1\', 1, \'x\'), (\'a,1\', 2, \'y\'), (\'b\', 1, \'z\')',
      ),
    )
    afterAll(() => opened?.close())

    const ask = async (method: string, path: string, body?: unknown) => {
      const { status, body: answer } = await server.request(method, `/api/${path}`, { caller: WRITER, body })
      return [status, answer] as const
    }
    const notes = async () =>
      (await get(server, 'shelves', { sort: 'note' })).body.data.map(
        (row: Record<string, unknown>) => `${String(row.area)}:${String(row.number)}=${String(row.note)}`,
      )

    it('is read, changed and deleted by the id of its unique constraint', async () => {
      expect(await ask('GET', 'shelves/a%2C1,2')).toMatchObject([200, { area: 'a,1', number: 2, note: 'y' }])
      expect(await ask('GET', 'areas/a%2C1')).toEqual([200, { code: 'a,1', name: 'first' }])
      expect(await ask('PATCH', 'shelves/a%2C1,2', { note: 'changed' })).toMatchObject([200, { area: 'a,1', number: 2, note: 'changed' }])
      expect(await notes()).toEqual(['a,1:2=changed', 'a,1:1=x', 'b:1=z'])
      expect((await ask('DELETE', 'shelves/a%2C1,2'))[0]).toBe(200)
      expect((await ask('GET', 'shelves/a%2C1,2'))[0]).toBe(404)
      expect((await ask('POST', 'shelves/a%2C1,2/restore'))[0]).toBe(200)
      expect((await ask('DELETE', 'shelves/a%2C1,2?force=true'))[0]).toBe(200)
      expect(await notes()).toEqual(['a,1:1=x', 'b:1=z'])
    })

    it('answers a create with the record, and a second row with the same key with 409', async () => {
      expect(await ask('POST', 'shelves', { area: 'b', number: 7, note: 'new' })).toMatchObject([
        201,
        { area: 'b', number: 7, note: 'new' },
      ])
      expect(await ask('POST', 'shelves', { area: 'b', number: 7, note: 'again' })).toMatchObject([409, { data: { code: 'CONFLICT' } }])
      // An update never changes the key.
      expect(await ask('PATCH', 'shelves/b,7', { area: 'a,1', note: 'same' })).toMatchObject([200, { area: 'b', number: 7, note: 'same' }])
      expect((await ask('GET', 'shelves/b,8'))[0]).toBe(404)
    })

    it('takes part in bulk writes, in pages by cursor and in includes', async () => {
      expect(
        (
          await ask('POST', 'shelves/bulk', {
            items: [
              { area: 'b', number: 2, note: 'p' },
              { area: 'b', number: 3, note: 'q' },
            ],
          })
        )[0],
      ).toBe(200)
      expect(
        (
          await ask('PATCH', 'shelves/bulk', {
            items: [
              { id: 'a%2C1,1', data: { note: 'm' } },
              { id: 'b,2', data: { note: 'n' } },
            ],
          })
        )[0],
      ).toBe(200)
      expect((await ask('DELETE', 'shelves/bulk?force=true', { ids: ['b,3', 'a%2C1,2'] }))[0]).toBe(200)
      const seen: unknown[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        const { body } = await get(server, 'shelves', { limit: 1, cursor })
        seen.push(...body.data.map((row: Record<string, unknown>) => row.note))
        cursor = body.meta.nextCursor
      }
      expect(seen).toEqual(['m', 'z', 'n'])
      const { body } = await get(server, 'areas', { include: 'shelves', sort: 'code' })
      expect(
        body.data.map(({ code, shelves }: { code: string, shelves: { number: number }[] }) => [
          code,
          ...shelves.map(({ number }) => number),
        ]),
      ).toEqual([
        ['a,1', 1],
        ['b', 1, 2],
      ])
    })

    it('is read and written by the `key` of its registration', async () => {
      expect(await ask('POST', 'lines', { document: 'd', position: 1, amount: 5 })).toMatchObject([201, { document: 'd', position: 1 }])
      expect(await ask('PATCH', 'lines/d,1', { amount: 6 })).toMatchObject([200, { document: 'd', position: 1, amount: 6 }])
      expect((await ask('DELETE', 'lines/d,1'))[0]).toBe(200)
      expect((await ask('GET', 'lines/d,1'))[0]).toBe(404)
    })

    it('names its key in the description of the API', async () => {
      const { body } = await server.request('GET', '/api/_schema', { caller: WRITER })
      expect(body.resources).toMatchObject({
        areas: { primaryKey: ['code'] },
        shelves: { primaryKey: ['area', 'number'] },
        lines: { primaryKey: ['document', 'position'] },
      })
    })
  })
})
