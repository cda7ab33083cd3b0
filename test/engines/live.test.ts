/**
 * On every engine a stream names the rows that its caller could read, and no others: the rules apply to rows as they were stored, with the
 * type and the collation of each column.
 */
import { getTableColumns, sql, type SQL, type Table } from 'drizzle-orm'
import * as my from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as lite from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { live } from '../../src/runtime/plugins'
import type { ResourceRegistration } from '../../src/runtime/server/registration'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { DEFAULT_CONFIG } from '../../src/runtime/shared/defaults'
import { listen, sleep, type Listener } from '../plugins/live/feed'
import { createServer, type Caller, type TestServer } from '../support/server'
import { BEFORE, typeCases } from './support/column-types'
import { DRIVER_CASES, isAvailable, type Opened } from './support/databases'

const ADMIN: Caller = { user: { id: 0 } }
/** Each caller has a rule about the rows of the table, as SQL after the name of its column. */
const withRule = (rule: string, index: number): Caller => ({ user: { id: index + 1, rule } })
const PERMISSIONS = { read: true, create: true, update: true, delete: true }
const listFilter = (table: unknown, ctx: { readonly user: unknown }): SQL | undefined => {
  const { rule } = ctx.user as { readonly rule?: string }
  return rule === undefined ? undefined : sql`${(table as { readonly value: never }).value} ${sql.raw(rule)}`
}

const beats: Readonly<Record<Dialect, Table>> = {
  sqlite: lite.sqliteTable('beats', { id: lite.integer('id').primaryKey(), n: lite.integer('n') }),
  pg: pg.pgTable('beats', { id: pg.integer('id').primaryKey(), n: pg.integer('n') }),
  mysql: my.mysqlTable('beats', { id: my.int('id').primaryKey(), n: my.int('n') }),
}

/** Text that ignores the case, keys of two columns, references that the database follows, and on Postgres a schema. */
const app = pg.pgSchema('app')
const TABLES = {
  sqlite: {
    ddl: `create table rooms (code text collate nocase, part integer, value text collate nocase, primary key (code, part));
      create table seats (id integer primary key, code text, part integer, value integer, foreign key (code, part) references rooms on delete cascade);
      create table views (id integer primary key, seat_id integer references seats on delete set null, value integer)`,
    rooms: lite.sqliteTable('rooms', { code: lite.text('code'), part: lite.integer('part'), value: lite.text('value') },
      table => [lite.primaryKey({ columns: [table.code, table.part] })]),
    seats: (rooms: never) => lite.sqliteTable('seats', {
      id: lite.integer('id').primaryKey(), code: lite.text('code'), part: lite.integer('part'), value: lite.integer('value', { mode: 'boolean' }),
    }, table => [lite.foreignKey({ columns: [table.code, table.part], foreignColumns: keyOf(rooms) }).onDelete('cascade')]),
    views: (seats: never) => lite.sqliteTable('views', {
      id: lite.integer('id').primaryKey(),
      seatId: lite.integer('seat_id').references(() => idOf(seats), { onDelete: 'set null' }), value: lite.integer('value'),
    }),
  },
  pg: {
    ddl: `create schema app; create collation app.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      create table app.rooms (code text, part integer, value text collate app.nocase, primary key (code, part));
      create table app.seats (id integer primary key, code text, part integer, value boolean, foreign key (code, part) references app.rooms on delete cascade);
      create table app.views (id integer primary key, seat_id integer references app.seats on delete set null, value integer)`,
    rooms: app.table('rooms', { code: pg.text('code'), part: pg.integer('part'), value: pg.text('value') },
      table => [pg.primaryKey({ columns: [table.code, table.part] })]),
    seats: (rooms: never) => app.table('seats', {
      id: pg.integer('id').primaryKey(), code: pg.text('code'), part: pg.integer('part'), value: pg.boolean('value'),
    }, table => [pg.foreignKey({ columns: [table.code, table.part], foreignColumns: keyOf(rooms) }).onDelete('cascade')]),
    views: (seats: never) => app.table('views', {
      id: pg.integer('id').primaryKey(),
      seatId: pg.integer('seat_id').references(() => idOf(seats), { onDelete: 'set null' }), value: pg.integer('value'),
    }),
  },
  mysql: {
    ddl: `create table rooms (code varchar(20) collate utf8mb4_general_ci, part int, value varchar(20) collate utf8mb4_general_ci, primary key (code, part));
      create table seats (id int primary key, code varchar(20) collate utf8mb4_general_ci, part int, value boolean,
        foreign key (code, part) references rooms (code, part) on delete cascade);
      create table views (id int primary key, seat_id int, value int, foreign key (seat_id) references seats (id) on delete set null)`,
    rooms: my.mysqlTable('rooms', { code: my.varchar('code', { length: 20 }), part: my.int('part'), value: my.varchar('value', { length: 20 }) },
      table => [my.primaryKey({ columns: [table.code, table.part] })]),
    seats: (rooms: never) => my.mysqlTable('seats', {
      id: my.int('id').primaryKey(), code: my.varchar('code', { length: 20 }), part: my.int('part'), value: my.boolean('value'),
    }, table => [my.foreignKey({ columns: [table.code, table.part], foreignColumns: keyOf(rooms) }).onDelete('cascade')]),
    views: (seats: never) => my.mysqlTable('views', {
      id: my.int('id').primaryKey(),
      seatId: my.int('seat_id').references(() => idOf(seats), { onDelete: 'set null' }), value: my.int('value'),
    }),
  },
} as const

const keyOf = ({ code, part }: { readonly code: never, readonly part: never }) => [code, part] as never
const idOf = ({ id }: { readonly id: never }) => id

const OPERATORS = ['=', '<', '<>', '>=']

describe.each(DRIVER_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a stream', () => {
    const { dialect, engine } = engineCase
    // postgres.js reads a NULL in an array as the text `NULL`, and a custom type without functions has what the driver reads.
    const cases = typeCases(dialect).filter(({ name }) => engineCase.name !== 'postgres.js' || name !== 'bareTexts')
    let opened: Opened
    let server: TestServer
    let beat = 0
    const counts = { types: 0, callers: 0, gone: 0 }
    beforeAll(async () => {
      opened = await engineCase.open()
      await opened.exec('create table beats (id integer primary key, n integer)')
      await opened.exec('insert into beats values (1, 0)')
      if (BEFORE[dialect]) await opened.exec(BEFORE[dialect])
      for (const { create } of cases) for (const statement of create) await opened.exec(statement)
      for (const statement of TABLES[dialect].ddl.split(';')) await opened.exec(statement)
      const rooms = TABLES[dialect].rooms as Table
      const seats = TABLES[dialect].seats(rooms as never) as Table
      const views = TABLES[dialect].views(seats as never) as Table
      const authorization = { permissions: PERMISSIONS, listFilter: listFilter as never }
      const registrations: ResourceRegistration[] = [
        { name: 'beats', schema: beats[dialect], authorization: { permissions: PERMISSIONS } },
        ...Object.entries({ rooms, seats, views }).map(([name, schema]) => ({ name, schema, authorization })),
        ...cases.map(({ name, table }) => ({ name, schema: table, authorization })),
      ]
      server = await createServer({
        db: opened.db, engine, registrations, modules: [{ rooms, seats, views }], plugins: [live({ maxStreamsPerCaller: 1000 })],
        config: { ...DEFAULT_CONFIG, bulk: { enabled: true, maxBatchSize: 100, transactional: true } } as never,
      })
    })
    afterAll(async () => {
      await opened?.close()
      console.info(`${engineCase.name}: ${Object.entries(counts).map(([what, count]) => `${count} ${what}`).join(', ')}`)
    })

    const request = async (method: string, path: string, body?: unknown, caller = ADMIN) => {
      const answer = await server.request(method, `/api/${path}`, { body, caller })
      return { ...answer, ids: (answer.body?.data as { id: unknown }[] | undefined)?.map(({ id }) => String(id)) }
    }
    const done = async (method: string, path: string, body?: unknown) =>
      expect(await request(method, path, body).then(({ status, text }) => status < 300 || text)).toBe(true)

    if (engine === 'd1') {
      it('polls, because a batch does not return the rows that it changes', async () => {
        const answer = await server.request('GET', '/api/_live?resources=rooms', { caller: ADMIN })
        expect([answer.status, answer.text]).toEqual([200, 'event: poll\ndata: {"interval":15000}\n\n'])
        expect((await server.request('GET', '/api/_live?resources=nope', { caller: ADMIN })).status).toBe(400)
      })
      return
    }

    /** The signals of each stream since it began. Everyone reads the beats: the second one comes after all signals of earlier commits. */
    async function signalsOf(streams: readonly Listener[]): Promise<readonly (readonly string[])[]> {
      for (let round = 0; round < 2; round++) {
        const before = streams.map(({ events }) => events.filter(({ data }) => data.resource === 'beats').length)
        await done('PATCH', 'beats/1', { n: ++beat })
        for (const [index, { events }] of streams.entries())
          for (let tries = 0; events.filter(({ data }) => data.resource === 'beats').length === before[index]; tries++) {
            if (tries > 2000) throw new Error('The beat has not arrived.')
            await sleep(5)
          }
      }
      return streams.map(({ events }) => events.filter(({ event, data }) => event !== 'open' && data.resource !== 'beats')
        .map(({ event, data }) => `${event} ${String(data.id)}`).sort())
    }
    const follow = async (resources: string, caller: Caller) => {
      const stream = await listen(server, `${resources},beats`, caller)
      expect(stream.status).toBe(200)
      await stream.waitFor('open')
      return stream
    }

    it.each(cases.map(one => [one.name, one] as const))('follows the rows of its caller by a column of the type %s', async (name, { table, literals }) => {
      expect(getTableColumns(table).value).toBeDefined()
      const rules = literals.flatMap(literal => OPERATORS.map(operator => `${operator} ${literal}`))
      const callers: { readonly rule: string, readonly ids: readonly string[], readonly stream: Listener }[] = []
      for (const [index, rule] of rules.entries()) {
        const caller = withRule(rule, index)
        const { status, ids } = await request('GET', `${name}?limit=100&fields=id`, undefined, caller)
        // The database cannot compare every type.
        if (status === 200) callers.push({ rule, ids: ids!, stream: await follow(name, caller) })
      }
      const admin = await follow(name, ADMIN)
      const { body } = await request('GET', `${name}?limit=100`)
      const records = body.data as { id: string, value: unknown }[]
      for (const { id, value } of records) await done('PATCH', `${name}/${id}`, { value })
      // Nothing has changed.
      const streams = [...callers.map(({ stream }) => stream), admin]
      expect((await signalsOf(streams)).flat()).toEqual([])
      await done('DELETE', `${name}/bulk`, { ids: records.map(({ id }) => id) })
      const signals = await signalsOf(streams)
      const found = callers.map(({ rule }, index) => [rule, ...signals[index]!])
      expect(found).toEqual(callers.map(({ rule, ids }) => [rule, ...ids.map(id => `gone ${id}`).sort()]))
      expect(signals.at(-1)).toHaveLength(records.length)
      for (const stream of streams) stream.close()
      counts.types++
      counts.callers += callers.length
      counts.gone += signals.flat().length
    })

    it('follows keys of two columns, text that ignores the case, cascades of the database and cleared references', async () => {
      for (const [code, part, value] of [['Ab', 1, 'Red'], ['b,c', 2, 'blue']]) await done('POST', 'rooms', { code, part, value })
      for (const [id, code, part, value] of [[1, 'Ab', 1, true], [2, 'b,c', 2, false]]) await done('POST', 'seats', { id, code, part, value })
      await done('POST', 'views', { id: 1, seatId: 1, value: 5 })
      const rooms = await follow('rooms', withRule(`= 'rED'`, 901))
      const [seats, views] = [await follow('seats', withRule('= true', 902)), await follow('views', withRule('> 4', 903))]
      const blind = await follow('views', withRule('> 5', 904))
      const streams = [rooms, seats, views, blind]
      // PGlite has no collations that ignore the case.
      const found = (await request('GET', 'rooms', undefined, withRule(`= 'rED'`, 901))).body.data.length > 0
      const ofRooms = (...signals: string[]) => found ? signals : []
      await done('PATCH', 'rooms/Ab,1', { value: 'RED' })
      await done('PATCH', `rooms/${encodeURIComponent('b%2Cc,2')}`, { value: 'red' })
      expect(await signalsOf(streams)).toEqual([ofRooms('changed Ab,1', 'changed b%2Cc,2'), [], [], []])
      await done('DELETE', 'rooms/Ab,1')
      expect(await signalsOf(streams)).toEqual([ofRooms('changed Ab,1', 'changed b%2Cc,2', 'gone Ab,1'), ['gone 1'], ['changed 1'], []])
      for (const stream of streams) stream.close()
    })
  })
})
