/** A column of each type with the values that it must store and return. */
import * as mysql from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import type { Table } from 'drizzle-orm'
import type { Dialect } from '../../shared/dialects'

export const VALUES = {
  text: ['', 'ada', 'it\'s "quoted" `here` and [there]', 'a ? $1 :name @p %s \\ -- /* */ ;', 'Zoë 日本語 👩‍🚀', ' spaces \n\t'],
  integer: [0, 1, -1, 2_147_483_647, -2_147_483_648],
  bigint: [0n, 9_007_199_254_740_993n, 9_223_372_036_854_775_807n, -9_223_372_036_854_775_808n],
  double: [0, 0.1, -1.5, 123_456.789, 1e20, 1.5e-7],
  boolean: [true, false],
  date: [new Date('2026-02-28T23:59:59.123Z'), new Date('1999-12-31T00:00:00.000Z')],
  json: [{ a: [1, null, 'x'], b: { c: true } }, [], 'text'],
  bytes: [Uint8Array.from({ length: 256 }, (_, index) => index), new Uint8Array(0), new Uint8Array([0, 0])],
} as const

export type ValueKind = keyof typeof VALUES

const bytesOf = (value: unknown) => new Uint8Array(value as Uint8Array)
const pgBytes = pg.customType<{ data: Uint8Array, driverData: unknown }>({ dataType: () => 'bytea', fromDriver: bytesOf })
const mysqlBytes = mysql.customType<{ data: Uint8Array, driverData: unknown }>({ dataType: () => 'varbinary(1000)', fromDriver: bytesOf })

const SQLITE = {
  text: () => sqlite.text('value'),
  integer: () => sqlite.integer('value'),
  bigint: () => sqlite.numeric('value', { mode: 'bigint' }),
  double: () => sqlite.real('value'),
  boolean: () => sqlite.integer('value', { mode: 'boolean' }),
  date: () => sqlite.integer('value', { mode: 'timestamp_ms' }),
  json: () => sqlite.text('value', { mode: 'json' }),
  bytes: () => sqlite.blob('value', { mode: 'buffer' }),
} as const satisfies Record<ValueKind, unknown>

const PG = {
  text: () => pg.text('value'),
  integer: () => pg.integer('value'),
  bigint: () => pg.bigint('value', { mode: 'bigint' }),
  double: () => pg.doublePrecision('value'),
  boolean: () => pg.boolean('value'),
  date: () => pg.timestamp('value', { withTimezone: true }),
  json: () => pg.jsonb('value'),
  bytes: () => pgBytes('value'),
} as const satisfies Record<ValueKind, unknown>

const MYSQL = {
  text: () => mysql.varchar('value', { length: 700 }),
  integer: () => mysql.int('value'),
  bigint: () => mysql.bigint('value', { mode: 'bigint' }),
  double: () => mysql.double('value'),
  boolean: () => mysql.boolean('value'),
  date: () => mysql.datetime('value', { fsp: 3 }),
  json: () => mysql.json('value'),
  bytes: () => mysqlBytes('value'),
} as const satisfies Record<ValueKind, unknown>

const BUILD: Readonly<Record<Dialect, (name: string, kind: ValueKind) => Table>> = {
  sqlite: (name, kind) => sqlite.sqliteTable(name, { id: sqlite.integer('id').primaryKey(), value: SQLITE[kind]() }),
  pg: (name, kind) => pg.pgTable(name, { id: pg.integer('id').primaryKey(), value: PG[kind]() }),
  mysql: (name, kind) => mysql.mysqlTable(name, { id: mysql.int('id').primaryKey(), value: MYSQL[kind]() }),
}

/** A table with the columns `id` and `value`. */
export const valueTable = (dialect: Dialect, name: string, kind: ValueKind): Table => BUILD[dialect](name, kind)
