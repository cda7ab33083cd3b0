/** Builds the Drizzle tables of each dialect from the same specs. */
import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import {
  bigint as mysqlBigint,
  boolean as mysqlBoolean,
  customType as mysqlType,
  datetime,
  decimal,
  double,
  foreignKey as mysqlForeignKey,
  int,
  json as mysqlJson,
  mysqlTable,
  primaryKey as mysqlKey,
  varchar,
} from 'drizzle-orm/mysql-core'
import {
  bigint,
  boolean,
  customType as pgType,
  doublePrecision,
  foreignKey as pgForeignKey,
  integer as pgInteger,
  jsonb,
  numeric as pgNumeric,
  pgTable,
  primaryKey as pgKey,
  text as pgText,
  timestamp,
} from 'drizzle-orm/pg-core'
import { blob, foreignKey, integer, numeric, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import type { Kind } from '../oracle/model'
import { ENUMS, kindOf, type NEWSROOM, type Specs, type TableSpec } from './columns'

interface Builder { notNull: () => Builder, primaryKey: () => Builder }
type Columns = Readonly<Record<string, unknown>>
type Values = { enum?: readonly [string, ...string[]] }

interface Maker {
  readonly table: (name: string, columns: Columns, extra: (own: Columns) => unknown[]) => Table
  readonly primaryKey: (config: { columns: unknown[] }) => unknown
  readonly foreignKey: (config: { columns: unknown[], foreignColumns: unknown[] }) => unknown
  readonly kinds: Readonly<Record<Kind, (name: string, values: Values) => unknown>>
}

/** Drizzle has no binary type for these dialects: a custom type, which the app reads as Base64. */
const bytes = (type: string) => ({
  dataType: () => type,
  toDriver: (value: string) => Buffer.from(value, 'base64'),
  fromDriver: (value: Uint8Array) => Buffer.from(value).toString('base64'),
})
const bytea = pgType<{ data: string, driverData: Uint8Array }>(bytes('bytea'))
const varbinary = mysqlType<{ data: string, driverData: Uint8Array }>(bytes('varbinary(100)') as never)

/** The scale of decimal columns, where it is required. */
export const MYSQL_SCALE = 7

const MAKERS: Readonly<Record<Dialect, Maker>> = {
  sqlite: {
    table: sqliteTable as never,
    primaryKey: primaryKey as never,
    foreignKey: foreignKey as never,
    kinds: {
      text: (name, values) => text(name, values),
      integer: name => integer(name),
      real: name => real(name),
      boolean: name => integer(name, { mode: 'boolean' }),
      date: name => integer(name, { mode: 'timestamp_ms' }),
      bigint: name => numeric(name, { mode: 'bigint' }),
      decimal: name => numeric(name),
      json: name => text(name, { mode: 'json' }),
      blob: name => blob(name, { mode: 'buffer' }),
    },
  },
  pg: {
    table: pgTable as never,
    primaryKey: pgKey as never,
    foreignKey: pgForeignKey as never,
    kinds: {
      text: (name, values) => pgText(name, values),
      integer: name => pgInteger(name),
      real: name => doublePrecision(name),
      boolean: name => boolean(name),
      date: name => timestamp(name, { withTimezone: true, precision: 3 }),
      bigint: name => bigint(name, { mode: 'bigint' }),
      decimal: name => pgNumeric(name),
      json: name => jsonb(name),
      blob: name => bytea(name),
    },
  },
  mysql: {
    table: mysqlTable as never,
    primaryKey: mysqlKey as never,
    foreignKey: mysqlForeignKey as never,
    kinds: {
      text: (name, values) => varchar(name, { length: 100, ...values }),
      integer: name => int(name),
      real: name => double(name),
      boolean: name => mysqlBoolean(name),
      date: name => datetime(name, { fsp: 3 }),
      bigint: name => mysqlBigint(name, { mode: 'bigint' }),
      decimal: name => decimal(name, { precision: 40, scale: MYSQL_SCALE }),
      json: name => mysqlJson(name),
      blob: name => varbinary(name),
    },
  },
}

export type Tables<S extends Specs = typeof NEWSROOM, Any extends Table = Table> = Readonly<Record<keyof S, Any>>

/** @param propertyOf names the property of a column that is no key and no foreign key */
export function createTables<S extends Specs>(
  dialect: Dialect, specs: S, propertyOf: (table: string, name: string) => string = (_, name) => name,
): Tables<S> {
  const { table, primaryKey, foreignKey, kinds } = MAKERS[dialect]
  const made: Record<string, Table> = {}
  for (const [name, { columns, key, references = [] }] of Object.entries(specs)) {
    const builders = Object.entries(columns).map(([property, spelled]) => {
      const column = kinds[kindOf(spelled)](toSnake(property), ENUMS[property] ? { enum: ENUMS[property] } : {}) as Builder
      if (key.length === 1 && key[0] === property) return [property, column.primaryKey()]
      return [propertyOf(name, property), spelled.endsWith('!') ? column.notNull() : column]
    })
    made[name] = table(`d_${toSnake(name)}`, Object.fromEntries(builders), own => [
      ...key.length > 1 ? [primaryKey({ columns: key.map(property => own[property]) })] : [],
      ...references.map(([target, ...properties]) => {
        const foreign = target === name ? own : made[target] as unknown as Columns
        return foreignKey({
          columns: properties.map(property => own[property]),
          foreignColumns: specs[target]!.key.map(property => foreign[property]),
        })
      }),
    ])
  }
  return made as Tables<S>
}

const toSnake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Without foreign keys: rows of the newsroom reference rows of other tenants and missing rows. */
export function createTableText({ key }: TableSpec, table: Table): string {
  const columns = getTableColumns(table)
  const lines = Object.values(columns).map(column => `${column.name} ${column.getSQLType()}${column.notNull ? ' not null' : ''}`)
  return `create table ${getTableName(table)} (${lines.join(', ')}, primary key (${key.map(property => columns[property]!.name).join(', ')}))`
}
