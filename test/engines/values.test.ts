/** On every engine numbers and times keep all their digits, and aggregates return the same numbers. */
import { getTableColumns, getTableName } from 'drizzle-orm'
import {
  datetime,
  date as mysqlDate,
  int,
  mysqlEnum,
  mysqlTable,
  time as mysqlTime,
  timestamp as mysqlTimestamp,
} from 'drizzle-orm/mysql-core'
import { date, integer, macaddr, pgEnum, pgTable, time, timestamp, uuid } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Kind } from '../../src/runtime/shared/kinds'
import { dataExport } from '../../src/runtime/plugins/data-export/index'
import { openApi } from '../../src/runtime/plugins/open-api/index'
import { createServer, type Answered, type TestServer } from '../support/server'
import { createTableText } from '../support/newsdata/tables'
import { BEFORE, STORED, typeCases } from './support/column-types'
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

    const result = async (aggregate: string, filter: object = {}) =>
      (await get(server, 'sums/aggregate', { aggregate, filter })).body.data[0]
    const holds = async (aggregate: string, having: object, filter: object = {}) => {
      const { status, body } = await get(server, 'sums/aggregate', {
        aggregate,
        filter,
        having: { [aggregate.replace('(', '_').replace(')', '')]: having },
      })
      return status === 200 ? body.meta.total === 1 : body
    }
    const LARGE = { id: { $in: [1, 2] } }

    it('are returned with all digits: strings for bigint and decimal columns, numbers for others', async () => {
      const { body } = await get(server, 'sums', { sort: 'id' })
      expect(body.data).toEqual(server.data.sums!.map(row => ({ ...row, serial: String(row.serial) })))
    })

    it.each([
      ['amount', '9007199254740993', 1],
      ['serial', '9007199254740993', 1],
      ['serial', '-9223372036854775808', 3],
      ['ratio', 0.3, 3],
    ])('are found in %s by their digits: %s', async (field, value, id) => {
      expect((await get(server, 'sums', { filter: { [field]: value } })).body.data.map((row: { id: number }) => row.id)).toEqual([id])
    })

    it.each([
      ['amount', [3, 4, 2, 1]],
      ['-amount', [1, 2, 4, 3]],
      ['serial', [3, 2, 1, 4]],
      ['-serial', [4, 1, 2, 3]],
    ])('are paged by a cursor sorted by %s', async (sort, ids) => {
      expect(await walk(server, 'sums', { sort, limit: 1 })).toEqual(ids)
    })

    it('of type double are added without rounding noise', async () => {
      expect(await result('sum(ratio),avg(ratio),min(ratio),max(ratio)')).toEqual({
        sum_ratio: 0.6,
        avg_ratio: 0.19999999999999998,
        min_ratio: 0.1,
        max_ratio: 0.3,
      })
      expect([
        await holds('sum(ratio)', { $eq: 0.6 }),
        await holds('sum(ratio)', { $gt: 0.6 }),
        await holds('sum(ratio)', { $lt: 0.6 }),
      ]).toEqual([true, false, false])
    })

    it('beyond a double are added and averaged to the last digit', async () => {
      expect(await result('sum(amount),avg(amount),sum(serial),avg(serial)', LARGE)).toEqual({
        sum_amount: '18014398509481985',
        avg_amount: '9007199254740992.5',
        sum_serial: '18014398509481985',
        avg_serial: '9007199254740992.5',
      })
      expect(await result('sum(serial),count(serial)', { id: { $gte: 3 } })).toEqual({ sum_serial: '-1', count_serial: 2 })
    })

    it.each([
      ['sum(serial)', '18014398509481984', '18014398509481985'],
      ['max(serial)', '9007199254740992', '9007199254740993'],
      ['max(amount)', '9007199254740992', '9007199254740993'],
    ])('that are large are compared in having to the last digit: %s', async (aggregate, below, own) => {
      expect([
        await holds(aggregate, { $gt: below }, LARGE),
        await holds(aggregate, { $gt: own }, LARGE),
        await holds(aggregate, { $eq: own }, LARGE),
      ]).toEqual([true, false, true])
    })

    it.each([
      ['sum(whole)', 0.5, 1.5],
      ['count', 3.5, 4.5],
      ['count(whole)', 2.5, 3.5],
      ['avg(whole)', 0.33333, 0.33334],
      ['avg(ratio)', 0.19999, 0.20001],
    ])('that are whole have fractions beside them in having: %s', async (aggregate, below, above) => {
      expect([
        await holds(aggregate, { $gt: below }),
        await holds(aggregate, { $gt: above }),
        await holds(aggregate, { $lt: above }),
      ]).toEqual([true, false, true])
    })
  })
})

/** All of one millisecond. */
const INSTANTS = ['123456', '123457', '123999', '123456', '123000', '123455'].map((micros, index) => ({
  id: index + 1,
  text: `2024-02-29 12:30:00.${micros}`,
}))
const TABLES = {
  pg: pgTable('instants', {
    id: integer('id').primaryKey(),
    at: timestamp('at', { precision: 6, withTimezone: true }),
    local: timestamp('local', { precision: 6, mode: 'string' }),
  }),
  mysql: mysqlTable('instants', {
    id: int('id').primaryKey(),
    at: datetime('at', { fsp: 6 }),
    local: datetime('local', { fsp: 6, mode: 'string' }),
  }),
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
      await opened.exec(
        `${CREATE[dialect]}; insert into instants values ${INSTANTS.map(({ id, text }) => `(${id}, '${text}${zone}', '${text}')`).join()}`,
      )
      server = await createServer({
        db: opened.db,
        engine: engineCase.engine,
        registrations: [{ name: 'instants', schema: TABLES[dialect], authorization: { permissions: { read: true } } }],
      })
    })
    afterAll(() => opened?.close())

    const ORDERS: [sort: string, ids: number[]][] = [
      ['at', [5, 6, 1, 4, 2, 3]],
      ['-at', [3, 2, 4, 1, 6, 5]],
      ['local', [5, 6, 1, 4, 2, 3]],
      ['-local,id', [3, 2, 1, 4, 6, 5]],
      ['at,-local', [5, 6, 4, 1, 2, 3]],
    ]
    it.each(ORDERS.flatMap(([sort, ids]) => [1, 2, 4].map(limit => ({ sort, limit, ids }))))(
      'are returned once each by a cursor: sort=$sort, $limit at a time',
      async ({ sort, limit, ids }) => {
        expect(await walk(server, 'instants', { sort, limit })).toEqual(ids)
      },
    )
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
      await opened.exec(
        `${CREATE_TASKS[dialect]}; insert into tasks values (1, 'high'), (2, 'it''s'), (3, 'low'), (4, 'it''s'), (5, 'low')`,
      )
      server = await createServer({
        db: opened.db,
        engine: engineCase.engine,
        registrations: [
          { name: 'tasks', schema: TASKS[dialect], authorization: { permissions: { read: true } } },
          { name: 'judged', schema: TASKS[dialect], authorization: { permissions: { read: true }, objectLevel: () => true } },
        ],
      })
    })
    afterAll(() => opened?.close())

    it.each([1, 2, 3])('is sorted by the order of its values, and paged by cursor, %i at a time', async (limit) => {
      expect([await walk(server, 'tasks', { sort: 'level', limit }), await walk(server, 'tasks', { sort: '-level,id', limit })]).toEqual([
        [3, 5, 2, 4, 1],
        [1, 2, 4, 3, 5],
      ])
    })

    it.each([
      ['it\'s', [2, 4]],
      [{ $gt: 'low' }, [1, 2, 4]],
      [{ $lte: 'it\'s' }, [2, 3, 4, 5]],
      [
        ['low', 'high'],
        [1, 3, 5],
      ],
      [{ $nin: ['low'] }, [1, 2, 4]],
      [{ $ne: 'high' }, [2, 3, 4, 5]],
      [{ $like: 'h' }, [1]],
    ])('is compared in that order: %j', async (filter, ids) => {
      expect((await get(server, 'tasks', { filter: { level: filter } })).body.data.map(({ id }: { id: number }) => id)).toEqual(ids)
    })

    it.each(['tasks', 'judged'])('has min, max and groups in that order, in SQL and in memory: %s', async (resource) => {
      const { body } = await get(server, `${resource}/aggregate`, {
        aggregate: 'min(level),max(level)',
        having: { max_level: { $gt: 'it\'s' } },
      })
      expect(body.data).toEqual([{ min_level: 'low', max_level: 'high' }])
      const levels = async (query: object) =>
        (await get(server, `${resource}/aggregate`, { groupBy: 'level', aggregate: 'max(level)', ...query })).body.data.map(
          ({ group }: { group: { level: string } }) => group.level,
        )
      expect([await levels({}), await levels({ sort: '-max_level' }), await levels({ having: { max_level: { $lt: 'high' } } })]).toEqual([
        LEVELS,
        LEVELS.toReversed(),
        LEVELS.slice(0, 2),
      ])
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
      await opened.exec(
        `create table devices (id uuid primary key, address macaddr); insert into devices values ${KEYS.map((key, index) => `('${key}', '08:00:2b:01:02:0${index}')`).join()}`,
      )
      server = await createServer({
        db: opened.db,
        engine: engineCase.engine,
        registrations: [{ name: 'devices', schema: devices, authorization: { permissions: { read: true } } }],
      })
    })
    afterAll(() => opened?.close())

    const ids = async (query: object) => (await get(server, 'devices', { ...query })).body.data.map(({ id }: { id: string }) => id)

    it('is sorted, paged and filtered like text', async () => {
      expect([
        await walk(server, 'devices', { sort: '-id', limit: 1 }),
        await walk(server, 'devices', { sort: 'address', limit: 2 }),
      ]).toEqual([KEYS.toReversed(), KEYS])
      expect([
        await ids({ filter: { id: { $gt: KEYS[0] } } }),
        await ids({ filter: { id: KEYS.slice(0, 2) } }),
        await ids({ filter: { address: { $like: '%:02:01' } } }),
      ]).toEqual([KEYS.slice(1), KEYS.slice(0, 2), [KEYS[1]]])
    })

    it('has min and max, and having compares them', async () => {
      const { body } = await get(server, 'devices/aggregate', {
        aggregate: 'min(id),max(id),max(address)',
        having: { max_id: { $gt: KEYS[1], $lte: KEYS[2]!.toUpperCase() } },
      })
      expect(body.data).toEqual([{ min_id: KEYS[0], max_id: KEYS[2], max_address: '08:00:2b:01:02:02' }])
      expect(
        (await get(server, 'devices/aggregate', { aggregate: 'max(address)', groupBy: 'id', sort: '-max_address' })).body.data.map(
          ({ group }: { group: { id: string } }) => group.id,
        ),
      ).toEqual(KEYS.toReversed())
    })
  })
})

const PERMISSIONS = { read: true, create: true, update: true, delete: true, aggregate: true } as const

/** Whether a JSON value has the form that a JSON Schema describes, as far as the schemas of columns go. */
function conforms(schema: Record<string, any>, value: any): boolean { // eslint-disable-line @typescript-eslint/no-explicit-any -- JSON
  if (schema.anyOf) return schema.anyOf.some((one: object) => conforms(one, value))
  const types = [schema.type ?? []].flat()
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  if (types.length > 0 && !types.some(one => one === type || (one === 'integer' && Number.isInteger(value)))) return false
  if (schema.enum && !schema.enum.includes(value)) return false
  if (schema.pattern && !new RegExp(schema.pattern).test(value)) return false
  if (schema.contentEncoding === 'base64' && Buffer.from(value, 'base64').toString('base64') !== value) return false
  if (schema.format === 'date-time' && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$|infinity|BC$/.test(value)) return false
  return !schema.items || value.every((item: unknown) => conforms(schema.items, item))
}

describe.each(DRIVER_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('what a get answers', () => {
    const { dialect } = engineCase
    // postgres.js reads a NULL in an array as the text `NULL`, and a custom type without functions has what the driver reads.
    const cases = typeCases(dialect).filter(({ name }) => engineCase.name !== 'postgres.js' || name !== 'bareTexts')
    const counts = { types: 0, values: 0, writes: 0, filters: 0, imports: 0, schemas: 0 }
    let opened: Opened
    let server: TestServer
    beforeAll(async () => {
      opened = await engineCase.open()
      if (BEFORE[dialect]) await opened.exec(BEFORE[dialect])
      for (const { create } of cases) for (const statement of create) await opened.exec(statement)
      const registrations = cases.flatMap(({ name, table, copy }) => [
        { name, schema: table, authorization: { permissions: PERMISSIONS } },
        { name: `${name}Copy`, schema: copy, authorization: { permissions: PERMISSIONS } },
      ])
      server = await createServer({ db: opened.db, engine: engineCase.engine, registrations, plugins: [dataExport(), openApi()] })
    })
    afterAll(async () => {
      await opened?.close()
      console.info(`${engineCase.name}: ${Object.entries(counts).map(([what, count]) => `${count} ${what}`).join(', ')}`)
    })

    it.each(cases.map(one => [one.name, one] as const))(
      'is accepted by an update, a filter and an import, and is as described: %s',
      async (name, { table, literals }) => {
        const ids = literals.map((_, index) => `r${index}`)
        const type = getTableColumns(table).value!.getSQLType()
        const stored = async (of: string) =>
          (await opened.all(`select ${STORED[dialect](type)} from ${of} order by id`)).map(([value]) => String(value))
        const named = getTableName(table)
        const before = await stored(named)
        const { fields, validation } = (await get(server, '_schema')).body.resources[name]
        const { operators } = fields.value
        const document = (await get(server, '_openapi.json')).body
        const schemas = { create: validation.create.properties.value ?? {}, record: document.components.schemas[name]!.properties.value }
        const values: unknown[] = []
        for (const [index, id] of ids.entries()) {
          const { status, body } = await get(server, `${name}/${id}`)
          const { value } = body
          expect({ literal: literals[index], status, hasValue: value !== undefined && value !== null }).toEqual({
            literal: literals[index],
            status: 200,
            hasValue: true,
          })
          values.push(value)
          const patched = await server.request('PATCH', `/api/${name}/${id}`, { body: { value } })
          expect({ value, status: patched.status, answered: patched.body.value ?? patched.body }).toEqual({
            value,
            status: 200,
            answered: value,
          })
          counts.writes++
          for (const filter of [
            ...(operators.includes('$eq') ? [{ value: { $eq: value } }] : []),
            ...(operators.includes('$in') ? [{ value: { $in: [value] } }] : []),
          ]) {
            expect({ filter, found: idsOf(await get(server, name, { filter, limit: 100 })) }).toEqual({
              filter,
              found: expect.arrayContaining([id]),
            })
            counts.filters++
          }
          if (operators.includes('$eq')) {
            const text = typeof value === 'object' || fields.value.kind === 'json' ? JSON.stringify(value) : String(value)
            expect({ text, found: idsOf(await get(server, name, { 'filter[value]': text, 'limit': 100 })) }).toEqual({
              text,
              found: expect.arrayContaining([id]),
            })
            counts.filters++
          }
          for (const [where, schema] of Object.entries(schemas)) {
            expect({ where, schema, value, conforms: conforms(schema, value) }).toEqual({ where, schema, value, conforms: true })
            counts.schemas++
          }
          expect({ value, kind: fields.value.kind, has: KIND_FORMS[fields.value.kind as Kind](value) }).toEqual({
            value,
            kind: fields.value.kind,
            has: true,
          })
        }
        expect(await stored(named)).toEqual(before)
        // The database generates the value of a serial column, so a file cannot set it.
        if (!fields.value.writable.create) return
        for (const [format, type] of [
          ['csv', 'text/csv'],
          ['ndjson', 'application/x-ndjson'],
        ] as const) {
          const text = await (await server.fetch(new Request(`http://localhost/api/${name}/export?format=${format}&sort=id`))).text()
          await opened.exec(`delete from ${named.replace('kept', 'copy')}`)
          const imported = await server.request('POST', `/api/${name}Copy/import`, { raw: text, headers: { 'content-type': type } })
          expect({ format, text, status: imported.status, body: imported.body.created ?? imported.body }).toMatchObject({
            format,
            text,
            status: 200,
          })
          expect({ format, text, stored: await stored(named.replace('kept', 'copy')) }).toEqual({ format, text, stored: before })
          counts.imports++
        }
        counts.types++
        counts.values += literals.length
      },
    )
  })
})

/** The JSON values of each kind. */
const KIND_FORMS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: value => typeof value === 'string',
  number: value => typeof value === 'number',
  integer: value => Number.isInteger(value),
  boolean: value => typeof value === 'boolean',
  date: value => conforms({ type: 'string', format: 'date-time' }, value),
  bigint: value => /^-?\d+$/.test(String(value)) && typeof value === 'string',
  decimal: value => typeof value === 'string',
  json: () => true,
  blob: value => typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value,
  custom: () => true,
}

const idsOf = ({ status, body }: Answered): unknown => status === 200 ? body.data.map(({ id }: { id: string }) => id) : body

const INSTANT = '2024-03-10T08:00:00.000Z'
const TIME_COLUMNS: Readonly<Record<'pg' | 'mysql', Readonly<Record<string, unknown>>>> = {
  pg: {
    localText: timestamp('local_text', { mode: 'string' }),
    zonedText: timestamp('zoned_text', { mode: 'string', withTimezone: true }),
    local: timestamp('local'),
    zoned: timestamp('zoned', { withTimezone: true }),
    secondsText: timestamp('seconds_text', { mode: 'string', precision: 0 }),
    millisText: timestamp('millis_text', { mode: 'string', precision: 3, withTimezone: true }),
    seconds: timestamp('seconds', { precision: 0 }),
  },
  mysql: {
    localText: datetime('local_text', { mode: 'string' }),
    stampText: mysqlTimestamp('stamp_text', { mode: 'string' }),
    local: datetime('local'),
    stamp: mysqlTimestamp('stamp'),
    millisText: datetime('millis_text', { mode: 'string', fsp: 3 }),
    millis: datetime('millis', { fsp: 3 }),
    microsText: mysqlTimestamp('micros_text', { mode: 'string', fsp: 6 }),
  },
}
const PLAIN_COLUMNS: Readonly<Record<'pg' | 'mysql', Readonly<Record<string, unknown>>>> = {
  pg: { day: date('day'), clock: time('clock'), precise: time('precise', { precision: 3 }) },
  mysql: { day: mysqlDate('day', { mode: 'string' }), clock: mysqlTime('clock'), precise: mysqlTime('precise', { fsp: 3 }) },
}

describe.each(DRIVER_CASES.filter(({ dialect }) => dialect !== 'sqlite'))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a column with a date and a time', () => {
    const dialect = engineCase.dialect as 'pg' | 'mysql'
    const columns = {
      id: dialect === 'pg' ? integer('id').primaryKey() : int('id').primaryKey(),
      ...TIME_COLUMNS[dialect],
      ...PLAIN_COLUMNS[dialect],
    }
    const moments = dialect === 'pg' ? pgTable('moments', columns as never) : mysqlTable('moments', columns as never)
    const names = Object.keys(TIME_COLUMNS[dialect])
    let opened: Opened
    let server: TestServer
    beforeAll(async () => {
      opened = await engineCase.open()
      if (dialect === 'pg') await opened.exec(`set time zone 'Europe/Berlin'`)
      await opened.exec(createTableText({ key: ['id'], columns: {} }, moments))
      server = await createServer({
        db: opened.db,
        engine: engineCase.engine,
        registrations: [
          { name: 'moments', schema: moments, authorization: { permissions: PERMISSIONS } },
          { name: 'judged', schema: moments, authorization: { permissions: PERMISSIONS, objectLevel: () => true } },
        ],
      })
      const times = ['2024-03-10T10:00:00+02:00', '2024-03-10T08:00:00Z', '2024-03-10 07:59:59', '2024-03-11T00:00:00-05:30']
      for (const [index, time] of times.entries()) {
        const body = { id: index + 1, ...Object.fromEntries(names.map(name => [name, time])) }
        const created = await server.request('POST', '/api/moments', { body })
        expect([created.status, index === 0 ? created.body : {}]).toMatchObject([
          201,
          index === 0 ? Object.fromEntries(names.map(name => [name, INSTANT])) : {},
        ])
      }
    })
    afterAll(() => opened?.close())

    it.each(names)('is sent as ISO 8601 in UTC, whatever its mode: %s', async (name) => {
      const { body } = await get(server, 'moments', { sort: 'id' })
      expect(body.data.map((row: Record<string, unknown>) => row[name])).toEqual([
        INSTANT,
        INSTANT,
        '2024-03-10T07:59:59.000Z',
        '2024-03-11T05:30:00.000Z',
      ])
    })

    it.each(
      names.flatMap(
        name =>
          [
            [name, '2024-03-10T08:00:00Z', [1, 2]],
            [name, '2024-03-10T10:00:00.000+02:00', [1, 2]],
            [name, '2024-03-10 08:00:00', [1, 2]],
            [name, { $gt: '2024-03-10T09:59:59+02:00' }, [1, 2, 4]],
            [name, { $lt: '2024-03-10T10:00:00+02:00' }, [3]],
            [name, { $in: ['2024-03-10T09:00:00+01:00', '2024-03-11T05:30:00Z'] }, [1, 2, 4]],
            [name, { $gte: '2024-03-11' }, [4]],
          ] as const,
      ),
    )('is found by its instant: %s %j', async (name, filter, ids) => {
      expect(idsOf(await get(server, 'moments', { filter: { [name]: filter }, sort: 'id' }))).toEqual(ids)
      if (typeof filter === 'string') expect(idsOf(await get(server, 'moments', { [`filter[${name}]`]: filter, sort: 'id' }))).toEqual(ids)
    })

    it.each(names.flatMap(name => ['moments', 'judged'].map(resource => [name, resource] as const)))(
      'has min, max, having and groups with this form: %s of %s',
      async (name, resource) => {
        const { body } = await get(server, `${resource}/aggregate`, {
          aggregate: `min(${name}),max(${name})`,
          having: { [`max_${name}`]: { $gt: '2024-03-11T07:29:59+02:00' } },
        })
        expect(body.data).toEqual([{ [`min_${name}`]: '2024-03-10T07:59:59.000Z', [`max_${name}`]: '2024-03-11T05:30:00.000Z' }])
        const groups = (await get(server, `${resource}/aggregate`, { groupBy: name, aggregate: 'count' })).body.data
        expect(groups.map(({ group, count }: { group: Record<string, string>, count: number }) => [group[name], count])).toEqual([
          ['2024-03-10T07:59:59.000Z', 1],
          [INSTANT, 2],
          ['2024-03-11T05:30:00.000Z', 1],
        ])
      },
    )

    it.each(names)('is paged by a cursor: %s', async (name) => {
      expect([
        await walk(server, 'moments', { sort: `${name},id`, limit: 1 }),
        await walk(server, 'moments', { sort: `-${name},id`, limit: 1 }),
      ]).toEqual([
        [3, 1, 2, 4],
        [4, 1, 2, 3],
      ])
    })

    it('is described as a date, and refuses text that is no time', async () => {
      const { fields, validation } = (await get(server, '_schema')).body.resources.moments
      for (const name of names) {
        expect([name, fields[name].kind, fields[name].searchable, JSON.stringify(validation.create.properties[name])]).toEqual([
          name,
          'date',
          false,
          expect.stringContaining('"format":"date-time"'),
        ])
        for (const value of ['2024-02-30T10:00:00+02:00', 'today', '10:00', 5])
          expect([name, value, (await server.request('PATCH', '/api/moments/1', { body: { [name]: value } })).status]).toEqual([
            name,
            value,
            400,
          ])
      }
    })

    it.each([
      ['day', '2024-03-10', ['2024-03-10T10:00:00+02:00', '2024-03-10T00:00:00Z']],
      ['clock', '10:00:00', ['10:00:00+02:00', '10:00:00Z', '10:00+02']],
      ['precise', '10:00:00.500', ['10:00:00.500Z']],
    ] as const)('stays plain text without an offset if it has only one of them: %s', async (name, value, wrong) => {
      expect((await server.request('PATCH', '/api/moments/1', { body: { [name]: value } })).status).toBe(200)
      expect(String((await get(server, 'moments/1')).body[name]).replace(/\.5$/, '.500')).toBe(value)
      expect(idsOf(await get(server, 'moments', { filter: { [name]: value } }))).toEqual([1])
      for (const offset of wrong) {
        expect([offset, (await server.request('PATCH', '/api/moments/1', { body: { [name]: offset } })).status]).toEqual([offset, 400])
        expect([offset, (await get(server, 'moments', { filter: { [name]: offset } })).status]).toEqual([offset, 400])
      }
    })
  })
})
