/** Tables that hold every column type of a dialect, and for each type a few values that it takes. */
import { getTableColumns, getTableName, type Column, type Table } from 'drizzle-orm'
import * as my from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as lite from 'drizzle-orm/sqlite-core'
import { softDelete as mysqlSoftDelete } from '../../../src/runtime/plugins/schema-mysql'
import { softDelete as pgSoftDelete } from '../../../src/runtime/plugins/schema-pg'
import { softDelete as sqliteSoftDelete } from '../../../src/runtime/plugins/schema-sqlite'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import { sqlTypeOf } from '../../../src/runtime/server/drizzle/index'

type Samples = Readonly<Record<string, readonly unknown[]>>

export interface World {
  readonly things: Table
  readonly parts: Table
  readonly labels: Table
  readonly pairs: Table
  readonly thingLabels: Table
  /** JSON values that the columns of `things` take. */
  readonly samples: Samples
  readonly before?: string
}

const TEXTS = ['a', 'Zoë', '%_\\', 'it\'s', '😀']
const WHOLE = [0, 1, -1, 127]
const NUMBERS = [0, 1.5, -2.25, 1e6]
const DATES = ['2024-02-29', '2024-02-29T12:30:15.123Z', '1999-12-31 23:59:59+02:00']
const DAYS = ['2024-02-29', '1999-12-31']
const UUIDS = ['11111111-1111-4111-8111-111111111111', 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa']
const BIG = ['9223372036854775807', '-9223372036854775808', '0']
const JSONS = [{ a: 1 }, [1, 'b', null], 'text', 3, true]
const BLOBS = ['AQID', '']
const POINTS = [{ x: 1, y: 2 }, { x: 0, y: 0 }]
const toText = { toDriver: (value: { x: number, y: number }) => `${value.x};${value.y}`,
  fromDriver: (text: string) => ({ x: Number(text.split(';')[0]), y: Number(text.split(';')[1]) }) }

interface Kind { readonly data: { x: number, y: number }, readonly driverData: string }

function postgres(): World {
  const level = pg.pgEnum('fuzz_level', ['low', 'it\'s', 'high'])
  const bare = (type: string) => pg.customType<{ data: unknown }>({ dataType: () => type })
  const point = pg.customType<Kind>({ dataType: () => 'text', ...toText })
  const bytes = pg.customType<{ data: string, driverData: Uint8Array }>({ dataType: () => 'bytea', toDriver: value => Buffer.from(value,
    'base64'), fromDriver: value => Buffer.from(value).toString('base64') })
  const c = {
    bigint53: pg.bigint('bigint53', { mode: 'number' }), bigint64: pg.bigint('bigint64', { mode: 'bigint' }),
    boolean: pg.boolean('boolean'), char: pg.char('char', { length: 3 }), cidr: pg.cidr('cidr'),
    date: pg.date('date', { mode: 'date' }), day: pg.date('day'), double: pg.doublePrecision('double'), level: level('level'),
    inet: pg.inet('inet'), integer: pg.integer('integer'), interval: pg.interval('interval'),
    json: pg.json('json'), jsonb: pg.jsonb('jsonb'), line: pg.line('line'), lineAbc: pg.line('line_abc', { mode: 'abc' }),
    macaddr: pg.macaddr('macaddr'), macaddr8: pg.macaddr8('macaddr8'),
    numeric: pg.numeric('numeric', { precision: 10, scale: 2 }), unbounded: pg.numeric('unbounded'),
    numericNumber: pg.numeric('numeric_number', { mode: 'number' }), numericBigint: pg.numeric('numeric_bigint', { mode: 'bigint' }),
    point: pg.point('point'), pointXy: pg.point('point_xy', { mode: 'xy' }), real: pg.real('real'), smallint: pg.smallint('smallint'),
    text: pg.text('text'), time: pg.time('time'), zonedTime: pg.time('zoned_time', { withTimezone: true }),
    timestamp: pg.timestamp('timestamp', { withTimezone: true }), local: pg.timestamp('local'),
    timestampText: pg.timestamp('timestamp_text', { mode: 'string' }), uuid: pg.uuid('uuid'), varchar: pg.varchar('varchar',
      { length: 10 }),
    texts: pg.text('texts').array(), integers: pg.integer('integers').array(), days: pg.date('days').array(),
    uuids: pg.uuid('uuids').array(),
    bareText: bare('text')('bare_text'), bareInteger: bare('integer')('bare_integer'), bareJson: bare('jsonb')('bare_json'),
    barePoint: bare('point')('bare_point'), made: point('made'), bytes: bytes('bytes'),
  }
  const things = pg.pgTable('things', { id: pg.serial('id').primaryKey(), organizationId: pg.integer('organization_id').notNull(),
    title: pg.text('title').notNull(), secret: pg.text('secret'), ...c, ...pgSoftDelete() })
  const parts = pg.pgTable('parts', { id: pg.uuid('id').primaryKey(), organizationId: pg.integer('organization_id').notNull(),
    thingId: pg.integer('thing_id').references(() => things.id), note: pg.varchar('note', { length: 5 }), at: pg.timestamp('at',
      { mode: 'string' }), ...pgSoftDelete() })
  const labels = pg.pgTable('labels', { name: pg.varchar('name', { length: 20 }).primaryKey(),
    organizationId: pg.integer('organization_id').notNull(), weight: pg.real('weight') })
  const pairs = pg.pgTable('pairs', { day: pg.date('day').notNull(), address: pg.inet('address').notNull(),
    organizationId: pg.integer('organization_id').notNull(), note: pg.text('note') }, t => [pg.primaryKey({ columns: [t.day, t.address] })])
  const thingLabels = pg.pgTable('thing_labels', { thingId: pg.integer('thing_id').notNull().references(() => things.id),
    labelName: pg.varchar('label_name', { length: 20 }).notNull().references(() => labels.name), rank: pg.smallint('rank'),
    note: pg.varchar('note', { length: 5 }) }, t => [pg.primaryKey({ columns: [t.thingId, t.labelName] })])
  const samples: Samples = {
    title: TEXTS, bigint53: WHOLE, bigint64: BIG, boolean: [true, false], char: ['abc'], cidr: ['10.0.0.0/8', '::/0'], date: DATES,
    day: DAYS, double: [...NUMBERS, 1.7e308], level: ['low', 'high', 'it\'s'], inet: ['10.0.0.1', '::1', '10.0.0.1/8'],
    integer: [...WHOLE, 2147483647], interval: ['1 day 02:00:00', 'P1Y2M', '-3 mons'], json: JSONS, jsonb: JSONS, line: [[1, 2, 3]],
    lineAbc: [{ a: 1, b: 2, c: 3 }], macaddr: ['08:00:2b:01:02:03'], macaddr8: ['08:00:2b:01:02:03:04:05'],
    numeric: ['12.34', 1.5], unbounded: ['123456789012345678901234567890.5', '0'], numericNumber: NUMBERS, numericBigint: BIG, point: [[1,
      2]], pointXy: POINTS, real: NUMBERS, smallint: WHOLE, text: TEXTS, time: ['12:30:15', '00:00'], zonedTime: ['12:30:15+02'],
    timestamp: DATES, local: DATES, timestampText: DATES, uuid: UUIDS, varchar: TEXTS, texts: [['a', 'b"{}'], []], integers: [[1, 2], []],
    days: [DAYS], uuids: [UUIDS], bareText: TEXTS, bareInteger: WHOLE, bareJson: ['1', '{}'], barePoint: ['(1,2)'], made: POINTS,
    bytes: BLOBS,
  }
  return { things, parts, labels, pairs, thingLabels, samples, before: `create type fuzz_level as enum ('low', 'it''s', 'high')` }
}

function mysql(): World {
  const bare = (type: string) => my.customType<{ data: unknown }>({ dataType: () => type })
  const point = my.customType<Kind>({ dataType: () => 'varchar(100)', ...toText })
  const bytes = my.customType<{ data: string, driverData: Uint8Array }>({ dataType: () => 'varbinary(100)',
    toDriver: value => Buffer.from(value, 'base64') as never, fromDriver: value => Buffer.from(value).toString('base64') })
  const c = {
    bigint53: my.bigint('bigint53', { mode: 'number' }), bigint64: my.bigint('bigint64', { mode: 'bigint' }), ubigint: my.bigint('ubigint',
      { mode: 'bigint', unsigned: true }), binary: my.binary('binary', { length: 4 }), boolean: my.boolean('boolean'),
    char: my.char('char', { length: 3 }), date: my.date('date'), day: my.date('day', { mode: 'string' }), datetime: my.datetime('datetime',
      { fsp: 3 }), datetimeText: my.datetime('datetime_text', { mode: 'string' }),
    decimal: my.decimal('decimal'), wide: my.decimal('wide', { precision: 40, scale: 7 }), decimalNumber: my.decimal('decimal_number',
      { mode: 'number', precision: 12, scale: 3 }), decimalBigint: my.decimal('decimal_bigint', { mode: 'bigint', precision: 30 }),
    double: my.double('double'), level: my.mysqlEnum('level', ['low', 'mid', 'high']), float: my.float('float'),
    integer: my.int('integer'), unsigned: my.int('unsigned', { unsigned: true }), json: my.json('json'),
    mediumint: my.mediumint('mediumint'),
    real: my.real('real'), smallint: my.smallint('smallint'), text: my.text('text'), tinytext: my.tinytext('tinytext'),
    time: my.time('time'), timestamp: my.timestamp('timestamp'), timestampText: my.timestamp('timestamp_text', { mode: 'string' }),
    tinyint: my.tinyint('tinyint'), varbinary: my.varbinary('varbinary', { length: 10 }), varchar: my.varchar('varchar', { length: 10 }),
    year: my.year('year'),
    bareText: bare('varchar(50)')('bare_text'), bareInteger: bare('int')('bare_integer'), bareJson: bare('json')('bare_json'),
    latin: bare('varchar(20) character set latin1')('latin'), made: point('made'), bytes: bytes('bytes'),
  }
  const things = my.mysqlTable('things', { id: my.int('id').autoincrement().primaryKey(),
    organizationId: my.int('organization_id').notNull(), title: my.varchar('title', { length: 200 }).notNull(),
    secret: my.varchar('secret', { length: 100 }), ...c, ...mysqlSoftDelete() })
  const parts = my.mysqlTable('parts', { id: my.char('id', { length: 36 }).primaryKey(),
    organizationId: my.int('organization_id').notNull(), thingId: my.int('thing_id').references(() => things.id), note: my.varchar('note',
      { length: 5 }), at: my.datetime('at', { mode: 'string' }), ...mysqlSoftDelete() })
  const labels = my.mysqlTable('labels', { name: my.varchar('name', { length: 20 }).primaryKey(),
    organizationId: my.int('organization_id').notNull(), weight: my.float('weight') })
  const pairs = my.mysqlTable('pairs', { day: my.date('day', { mode: 'string' }).notNull(), address: my.varchar('address',
    { length: 40 }).notNull(), organizationId: my.int('organization_id').notNull(), note: my.varchar('note', { length: 100 }) },
  t => [my.primaryKey({ columns: [t.day, t.address] })])
  const thingLabels = my.mysqlTable('thing_labels', { thingId: my.int('thing_id').notNull().references(() => things.id),
    labelName: my.varchar('label_name', { length: 20 }).notNull().references(() => labels.name), rank: my.tinyint('rank'),
    note: my.varchar('note', { length: 5 }) }, t => [my.primaryKey({ columns: [t.thingId, t.labelName] })])
  const samples: Samples = {
    title: TEXTS, bigint53: WHOLE, bigint64: BIG, ubigint: ['0', '18446744073709551615'], binary: ['abcd'], boolean: [true, false],
    char: ['abc'], date: DATES, day: DAYS, datetime: DATES, datetimeText: ['2024-02-29 12:30:15'],
    decimal: ['12', 3], wide: ['12345678901234567890.5'], decimalNumber: NUMBERS, decimalBigint: ['9223372036854775807'],
    double: [...NUMBERS, 1.7e308], level: ['low', 'high', 'mid'], float: NUMBERS, integer: WHOLE, unsigned: [0, 4294967295], json: JSONS,
    mediumint: WHOLE, real: NUMBERS, smallint: WHOLE, text: TEXTS, tinytext: TEXTS, time: ['12:30:15', '-100:00:00'], timestamp: DATES,
    timestampText: ['2024-02-29 12:30:15'], tinyint: WHOLE, varbinary: ['abc'], varchar: TEXTS, year: [1999, 2024],
    bareText: TEXTS, bareInteger: WHOLE, bareJson: ['1', '{}'], latin: ['a', 'é'], made: POINTS, bytes: BLOBS,
  }
  return { things, parts, labels, pairs, thingLabels, samples }
}

function sqlite(): World {
  const bare = (type: string) => lite.customType<{ data: unknown }>({ dataType: () => type })
  const point = lite.customType<Kind>({ dataType: () => 'text', ...toText })
  const bytes = lite.customType<{ data: string, driverData: Uint8Array }>({ dataType: () => 'blob', toDriver: value => Buffer.from(value,
    'base64'), fromDriver: value => Buffer.from(value).toString('base64') })
  const c = {
    bigBlob: lite.blob('big_blob', { mode: 'bigint' }), blob: lite.blob('blob', { mode: 'buffer' }), blobJson: lite.blob('blob_json',
      { mode: 'json' }), integer: lite.integer('integer'), boolean: lite.integer('boolean', { mode: 'boolean' }),
    seconds: lite.integer('seconds', { mode: 'timestamp' }), date: lite.integer('date', { mode: 'timestamp_ms' }),
    numeric: lite.numeric('numeric'), numericNumber: lite.numeric('numeric_number', { mode: 'number' }),
    numericBigint: lite.numeric('numeric_bigint', { mode: 'bigint' }),
    real: lite.real('real'), text: lite.text('text'), level: lite.text('level', { enum: ['low', 'it\'s', 'high'] }),
    short: lite.text('short', { length: 5 }), json: lite.text('json', { mode: 'json' }),
    bareText: bare('text')('bare_text'), bareInteger: bare('integer')('bare_integer'), made: point('made'), bytes: bytes('bytes'),
  }
  const things = lite.sqliteTable('things', { id: lite.integer('id').primaryKey({ autoIncrement: true }),
    organizationId: lite.integer('organization_id').notNull(), title: lite.text('title').notNull(), secret: lite.text('secret'), ...c,
    ...sqliteSoftDelete() })
  const parts = lite.sqliteTable('parts', { id: lite.text('id').primaryKey(), organizationId: lite.integer('organization_id').notNull(),
    thingId: lite.integer('thing_id').references(() => things.id), note: lite.text('note', { length: 5 }), at: lite.text('at'),
    ...sqliteSoftDelete() })
  const labels = lite.sqliteTable('labels', { name: lite.text('name').primaryKey(),
    organizationId: lite.integer('organization_id').notNull(), weight: lite.real('weight') })
  const pairs = lite.sqliteTable('pairs', { day: lite.text('day').notNull(), address: lite.text('address').notNull(),
    organizationId: lite.integer('organization_id').notNull(), note: lite.text('note') }, t => [lite.primaryKey({ columns: [t.day,
    t.address] })])
  const thingLabels = lite.sqliteTable('thing_labels', { thingId: lite.integer('thing_id').notNull().references(() => things.id),
    labelName: lite.text('label_name').notNull().references(() => labels.name), rank: lite.integer('rank'), note: lite.text('note',
      { length: 5 }) }, t => [lite.primaryKey({ columns: [t.thingId, t.labelName] })])
  const samples: Samples = {
    title: TEXTS, bigBlob: BIG, blob: BLOBS, blobJson: JSONS, integer: [...WHOLE, 9007199254740991], boolean: [true, false],
    seconds: DATES, date: DATES, numeric: ['12.5', '9007199254740993'], numericNumber: [...NUMBERS, 9007199254740992], numericBigint: BIG,
    real: [...NUMBERS, 1.7e308], text: TEXTS, level: ['low', 'high', 'it\'s'], short: ['abc'], json: JSONS, bareText: TEXTS,
    bareInteger: WHOLE, made: POINTS, bytes: BLOBS,
  }
  return { things, parts, labels, pairs, thingLabels, samples }
}

export const WORLDS: Readonly<Record<Dialect, () => World>> = { sqlite, pg: postgres, mysql }

const COUNTED: Readonly<Record<Dialect, string>> = { sqlite: 'integer primary key autoincrement', pg: 'serial primary key',
  mysql: 'int auto_increment primary key' }

/** With its key and its references to nothing but the two sides of the junction. */
export function tableText(dialect: Dialect, table: Table): string {
  const columns = Object.values(getTableColumns(table))
  const keys: Column[]
    = dialect === 'pg'
      ? pg.getTableConfig(table as never).primaryKeys.flatMap(key => key.columns)
      : dialect === 'mysql'
        ? my.getTableConfig(table as never).primaryKeys.flatMap(key => key.columns)
        : lite.getTableConfig(table as never).primaryKeys.flatMap(key => key.columns)
  const quote = dialect === 'mysql' ? '`' : '"'
  const name = (text: string) => `${quote}${text}${quote}`
  const lines = columns.map((column) => {
    if (column.name === 'id' && getTableName(table) === 'things') return `${name('id')} ${COUNTED[dialect]}`
    return `${name(column.name)} ${sqlTypeOf(column)}${column.primary ? ' primary key' : column.notNull ? ' not null' : dialect === 'mysql' ? ' null' : ''}`
  })
  const references = ('thingId' in getTableColumns(table)) ? [`foreign key (thing_id) references things(id)`] : []
  return `create table ${getTableName(table)} (${[...lines, ...(keys.length > 0 ? [`primary key (${keys.map(key => name(key.name)).join(', ')})`] : []), ...references].join(', ')})`
}
