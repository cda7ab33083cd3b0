/** On every engine numbers and times keep all their digits, and aggregates return the same numbers. */
import { datetime, int, mysqlEnum, mysqlTable } from 'drizzle-orm/mysql-core'
import { integer, macaddr, pgEnum, pgTable, timestamp, uuid } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type TestServer } from '../support/server'
import { DRIVER_CASES, isAvailable, type Opened } from './support/databases'
import { openFilled, type Filled } from './support/tables'
import { get, walk } from './support/walk'

const SPECS = {
  sums: { columns: { id: 'integer!', ratio: 'real', whole: 'integer', amount: 'decimal', serial: 'bigint' }, key: ['id'] },
} as const

const ROWS = [
  { id: 1, ratio: 0.1, whole: 0, amount: '9007199254740993', serial: 9007199254740993n },
  { id: 2, ratio: 0.2, whole: 0, amount: '9007199254740992', serial: 9007199254740992n },
  { id: 3, ratio: 0.3, whole: 1, amount: '0.1', serial: -9223372036854775808n },
  { id: 4, ratio: null, whole: null, amount: '0.2', serial: 9223372036854775807n },
]

describe.each(DRIVER_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('numbers', () => {
    let server: Filled
    beforeAll(async () => {
      server = await openFilled(engineCase, SPECS, { sums: ROWS })
    })
    afterAll(() => server?.opened.close())

    const result = async (aggregate: string, filter: object = {}) => (await get(server, 'sums/aggregate', { aggregate, filter })).body.data[0]
    const holds = async (aggregate: string, having: object, filter: object = {}) => {
      const { status, body } = await get(server, 'sums/aggregate', { aggregate, filter, having: { [aggregate.replace('(', '_').replace(')', '')]: having } })
      return status === 200 ? body.meta.total === 1 : body
    }
    const LARGE = { id: { $in: [1, 2] } }

    it('are returned with all digits: strings for bigint and decimal columns, numbers for others', async () => {
      const { body } = await get(server, 'sums', { sort: 'id' })
      expect(body.data).toEqual(server.data.sums!.map(row => ({ ...row, serial: String(row.serial) })))
    })

    it.each([['amount', '9007199254740993', 1], ['serial', '9007199254740993', 1], ['serial', '-9223372036854775808', 3], ['ratio', 0.3, 3]])('are found in %s by their digits: %s', async (field, value, id) => {
      expect((await get(server, 'sums', { filter: { [field]: value } })).body.data.map((row: { id: number }) => row.id)).toEqual([id])
    })

    it.each([['amount', [3, 4, 2, 1]], ['-amount', [1, 2, 4, 3]], ['serial', [3, 2, 1, 4]], ['-serial', [4, 1, 2, 3]]])('are paged by a cursor sorted by %s', async (sort, ids) => {
      expect(await walk(server, 'sums', { sort, limit: 1 })).toEqual(ids)
    })

    it('of type double are added without rounding noise', async () => {
      expect(await result('sum(ratio),avg(ratio),min(ratio),max(ratio)')).toEqual({ sum_ratio: 0.6, avg_ratio: 0.19999999999999998, min_ratio: 0.1, max_ratio: 0.3 })
      expect([await holds('sum(ratio)', { $eq: 0.6 }), await holds('sum(ratio)', { $gt: 0.6 }), await holds('sum(ratio)', { $lt: 0.6 })]).toEqual([true, false, false])
    })

    it('beyond a double are added and averaged to the last digit', async () => {
      expect(await result('sum(amount),avg(amount),sum(serial),avg(serial)', LARGE)).toEqual({ sum_amount: '18014398509481985', avg_amount: '9007199254740992.5', sum_serial: '18014398509481985', avg_serial: '9007199254740992.5' })
      expect(await result('sum(serial),count(serial)', { id: { $gte: 3 } })).toEqual({ sum_serial: '-1', count_serial: 2 })
    })

    it.each([['sum(serial)', '18014398509481984', '18014398509481985'], ['max(serial)', '9007199254740992', '9007199254740993'], ['max(amount)', '9007199254740992', '9007199254740993']])('that are large are compared in having to the last digit: %s', async (aggregate, below, own) => {
      expect([await holds(aggregate, { $gt: below }, LARGE), await holds(aggregate, { $gt: own }, LARGE), await holds(aggregate, { $eq: own }, LARGE)]).toEqual([true, false, true])
    })

    it.each([['sum(whole)', 0.5, 1.5], ['count', 3.5, 4.5], ['count(whole)', 2.5, 3.5], ['avg(whole)', 0.33333, 0.33334], ['avg(ratio)', 0.19999, 0.20001]])('that are whole have fractions beside them in having: %s', async (aggregate, below, above) => {
      expect([await holds(aggregate, { $gt: below }), await holds(aggregate, { $gt: above }), await holds(aggregate, { $lt: above })]).toEqual([true, false, true])
    })
  })
})

/** All of one millisecond. */
const INSTANTS = ['123456', '123457', '123999', '123456', '123000', '123455'].map((micros, index) => ({ id: index + 1, text: `2024-02-29 12:30:00.${micros}` }))
const TABLES = {
  pg: pgTable('instants', { id: integer('id').primaryKey(), at: timestamp('at', { precision: 6, withTimezone: true }), local: timestamp('local', { precision: 6, mode: 'string' }) }),
  mysql: mysqlTable('instants', { id: int('id').primaryKey(), at: datetime('at', { fsp: 6 }), local: datetime('local', { fsp: 6, mode: 'string' }) }),
}
const CREATE = {
  pg: 'create table instants (id integer primary key, at timestamptz(6), local timestamp(6))',
  mysql: 'create table instants (id integer primary key, at datetime(6), local datetime(6))',
}

describe.each(DRIVER_CASES.filter(({ dialect }) => dialect !== 'sqlite'))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('times that differ by microseconds', () => {
    const dialect = engineCase.dialect as keyof typeof TABLES
    let opened: Opened
    let server: TestServer
    beforeAll(async () => {
      opened = await engineCase.open()
      const zone = dialect === 'pg' ? '+00' : ''
      await opened.exec(`${CREATE[dialect]}; insert into instants values ${INSTANTS.map(({ id, text }) => `(${id}, '${text}${zone}', '${text}')`).join()}`)
      server = await createServer({ db: opened.db, engine: engineCase.engine, registrations: [{ name: 'instants', schema: TABLES[dialect], authorization: { permissions: { read: true } } }] })
    })
    afterAll(() => opened?.close())

    const ORDERS: [sort: string, ids: number[]][] = [['at', [5, 6, 1, 4, 2, 3]], ['-at', [3, 2, 4, 1, 6, 5]], ['local', [5, 6, 1, 4, 2, 3]], ['-local,id', [3, 2, 1, 4, 6, 5]], ['at,-local', [5, 6, 4, 1, 2, 3]]]
    it.each(ORDERS.flatMap(([sort, ids]) => [1, 2, 4].map(limit => ({ sort, limit, ids }))))('are returned once each by a cursor: sort=$sort, $limit at a time', async ({ sort, limit, ids }) => {
      expect(await walk(server, 'instants', { sort, limit })).toEqual(ids)
    })
  })
})

const LEVELS = ['low', 'it\'s', 'high'] as const
const level = pgEnum('level', LEVELS)
const TASKS = {
  pg: pgTable('tasks', { id: integer('id').primaryKey(), level: level('level') }),
  mysql: mysqlTable('tasks', { id: int('id').primaryKey(), level: mysqlEnum('level', LEVELS) }),
}
const LISTED = LEVELS.map(value => `'${value.replace('\'', '\'\'')}'`).join()
const CREATE_TASKS = {
  pg: `create type level as enum (${LISTED}); create table tasks (id integer primary key, level level)`,
  mysql: `create table tasks (id integer primary key, level enum(${LISTED}))`,
}

describe.each(DRIVER_CASES.filter(({ dialect }) => dialect !== 'sqlite'))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('an enum of the database', () => {
    const dialect = engineCase.dialect as keyof typeof TASKS
    let opened: Opened
    let server: TestServer
    beforeAll(async () => {
      opened = await engineCase.open()
      await opened.exec(`${CREATE_TASKS[dialect]}; insert into tasks values (1, 'high'), (2, 'it''s'), (3, 'low'), (4, 'it''s'), (5, 'low')`)
      server = await createServer({ db: opened.db, engine: engineCase.engine, registrations: [{ name: 'tasks', schema: TASKS[dialect], authorization: { permissions: { read: true } } }, { name: 'judged', schema: TASKS[dialect], authorization: { permissions: { read: true }, objectLevel: () => true } }] })
    })
    afterAll(() => opened?.close())

    it.each([1, 2, 3])('is sorted by the order of its values, and paged by cursor, %i at a time', async (limit) => {
      expect([await walk(server, 'tasks', { sort: 'level', limit }), await walk(server, 'tasks', { sort: '-level,id', limit })]).toEqual([[3, 5, 2, 4, 1], [1, 2, 4, 3, 5]])
    })

    it.each([['it\'s', [2, 4]], [{ $gt: 'low' }, [1, 2, 4]], [{ $lte: 'it\'s' }, [2, 3, 4, 5]], [['low', 'high'], [1, 3, 5]], [{ $nin: ['low'] }, [1, 2, 4]], [{ $ne: 'high' }, [2, 3, 4, 5]], [{ $like: 'h' }, [1]]])('is compared in that order: %j', async (filter, ids) => {
      expect((await get(server, 'tasks', { filter: { level: filter } })).body.data.map(({ id }: { id: number }) => id)).toEqual(ids)
    })

    it.each(['tasks', 'judged'])('has min, max and groups in that order, in SQL and in memory: %s', async (resource) => {
      const { body } = await get(server, `${resource}/aggregate`, { aggregate: 'min(level),max(level)', having: { max_level: { $gt: 'it\'s' } } })
      expect(body.data).toEqual([{ min_level: 'low', max_level: 'high' }])
      const levels = async (query: object) => (await get(server, `${resource}/aggregate`, { groupBy: 'level', aggregate: 'max(level)', ...query })).body.data.map(({ group }: { group: { level: string } }) => group.level)
      expect([await levels({}), await levels({ sort: '-max_level' }), await levels({ having: { max_level: { $lt: 'high' } } })]).toEqual([LEVELS, LEVELS.toReversed(), LEVELS.slice(0, 2)])
    })
  })
})

const KEYS = ['1', '9', 'a'].map(digit => `${digit}0000000-0000-4000-8000-000000000000`)
const devices = pgTable('devices', { id: uuid('id').primaryKey(), address: macaddr('address') })

describe.each(DRIVER_CASES.filter(({ dialect }) => dialect === 'pg'))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('text that Postgres has a type of its own for', () => {
    let opened: Opened
    let server: TestServer
    beforeAll(async () => {
      opened = await engineCase.open()
      await opened.exec(`create table devices (id uuid primary key, address macaddr); insert into devices values ${KEYS.map((key, index) => `('${key}', '08:00:2b:01:02:0${index}')`).join()}`)
      server = await createServer({ db: opened.db, engine: engineCase.engine, registrations: [{ name: 'devices', schema: devices, authorization: { permissions: { read: true } } }] })
    })
    afterAll(() => opened?.close())

    const ids = async (query: object) => (await get(server, 'devices', { ...query })).body.data.map(({ id }: { id: string }) => id)

    it('is sorted, paged and filtered like text', async () => {
      expect([await walk(server, 'devices', { sort: '-id', limit: 1 }), await walk(server, 'devices', { sort: 'address', limit: 2 })]).toEqual([KEYS.toReversed(), KEYS])
      expect([await ids({ filter: { id: { $gt: KEYS[0] } } }), await ids({ filter: { id: KEYS.slice(0, 2) } }), await ids({ filter: { address: { $like: '%:02:01' } } })]).toEqual([KEYS.slice(1), KEYS.slice(0, 2), [KEYS[1]]])
    })

    it('has min and max, and having compares them', async () => {
      const { body } = await get(server, 'devices/aggregate', { aggregate: 'min(id),max(id),max(address)', having: { max_id: { $gt: KEYS[1], $lte: KEYS[2]!.toUpperCase() } } })
      expect(body.data).toEqual([{ min_id: KEYS[0], max_id: KEYS[2], max_address: '08:00:2b:01:02:02' }])
      expect((await get(server, 'devices/aggregate', { aggregate: 'max(address)', groupBy: 'id', sort: '-max_address' })).body.data.map(({ group }: { group: { id: string } }) => group.id)).toEqual(KEYS.toReversed())
    })
  })
})
