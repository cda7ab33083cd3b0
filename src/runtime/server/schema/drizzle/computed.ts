/** The columns of computed fields: a column of the declared type for each expression. */
import { Column, getTableColumns, getTableName, is, sql, type SQL, type Table } from 'drizzle-orm'
import {
  bigint as mysqlBigint, boolean as mysqlBoolean, datetime, decimal, double, json, mysqlTable, MySqlTable, text as mysqlText,
} from 'drizzle-orm/mysql-core'
import {
  bigint, boolean, doublePrecision, jsonb, numeric as pgNumeric, pgTable, PgTable, text as pgText, timestamp,
} from 'drizzle-orm/pg-core'
import { integer, numeric, real, sqliteTable, SQLiteTable, text } from 'drizzle-orm/sqlite-core'
import type { Dialect } from '../../../shared/dialects'
import type { ComputedType } from '../../../shared/computed-types'
import { kindOf, sqlTypeOf } from '../../drizzle/index'
import { postgresType } from '../../engines/dialects/pg'
import { copyColumn } from './copy-column'
import { withExpression, type Expression } from './expression'
import { createExpression, type Cast } from './read-expression'

type Columns = Readonly<Record<ComputedType, Column>>

interface ComputedDialect {
  readonly columns: Columns
  readonly create: (name: string) => Table
  /** Casts an expression to the type of its column, so that the database compares and returns it like this column. */
  readonly cast: (column: Column) => Cast
  readonly escapeText: (text: string) => string
}

const columnsOf = (table: Table): Columns => getTableColumns(table) as unknown as Columns

const castTo = (type: SQL): Cast => value => sql`cast(${value} as ${type})`

const quoted = (text: string) => `'${text.replaceAll('\'', '\'\'')}'`

/** In MySQL, a backslash escapes unless the server has the mode `NO_BACKSLASH_ESCAPES`, and its drivers can take `?` for a parameter. */
const quotedInMysql = (text: string) => /[\\?]/.test(text)
  ? `convert(x'${globalThis.Buffer.from(text).toString('hex')}' using utf8mb4)`
  : quoted(text)

/** A cast to text would change the collation, and one to a decimal the digits. JSON and times have their type already. */
const MYSQL_CASTS: readonly (readonly [RegExp, Cast])[] = [
  [/^(?:big|medium|small|tiny)?int|^serial/i, castTo(sql`signed`)], [/^(?:double|float|real)/i, castTo(sql`double`)],
  [/char|text/i, value => sql`concat(${value})`],
]

/** Seconds since 1970 have a time zone, whether those of the expression have one or not. */
const pgTime: Cast = value => sql`to_timestamp(extract(epoch from ${value})::double precision)`

const DIALECTS: Readonly<Record<Dialect, ComputedDialect>> = {
  sqlite: {
    columns: columnsOf(sqliteTable('computed', {
      text: text('text'), integer: integer('integer'), number: real('number'), bigint: numeric('bigint', { mode: 'bigint' }),
      decimal: numeric('decimal'), boolean: integer('boolean', { mode: 'boolean' }), timestamp: integer('timestamp', { mode: 'timestamp' }),
      json: text('json', { mode: 'json' }),
    })),
    create: name => new SQLiteTable(name, undefined, name),
    cast: column => castTo(sql.raw(sqlTypeOf(column))),
    escapeText: quoted,
  },
  pg: {
    columns: columnsOf(pgTable('computed', {
      text: pgText('text'), integer: bigint('integer', { mode: 'number' }), number: doublePrecision('number'),
      bigint: bigint('bigint', { mode: 'bigint' }), decimal: pgNumeric('decimal'), boolean: boolean('boolean'),
      timestamp: timestamp('timestamp', { withTimezone: true }), json: jsonb('json'),
    })),
    create: name => new PgTable(name, undefined, name),
    cast: column => sqlTypeOf(column) === 'timestamp with time zone' ? pgTime : castTo(postgresType(column)),
    escapeText: quoted,
  },
  mysql: {
    columns: columnsOf(mysqlTable('computed', {
      text: mysqlText('text'), integer: mysqlBigint('integer', { mode: 'number' }), number: double('number'),
      bigint: mysqlBigint('bigint', { mode: 'bigint' }), decimal: decimal('decimal', { precision: 65, scale: 30 }),
      boolean: mysqlBoolean('boolean'), timestamp: datetime('timestamp', { fsp: 6 }), json: json('json'),
    })),
    create: name => new MySqlTable(name, undefined, name),
    cast: column => MYSQL_CASTS.find(([pattern]) => pattern.test(sqlTypeOf(column)))?.[1] ?? (value => value),
    escapeText: quotedInMysql,
  },
}

const COLUMNS = Symbol.for('drizzle:Columns')

/** A field for which a column is made. */
export interface ComputedSource {
  readonly type: ComputedType
  readonly sql: SQL
}

export interface ComputedColumn {
  readonly column: Column
  readonly expression: Expression
}

/**
 * Returns the columns of expressions, and a table that contains only them.
 * @param inField calls a function for the field with a name, and adds the name to its errors
 */
export function createComputedColumns(
  own: Table, dialect: Dialect, sources: ReadonlyMap<string, ComputedSource>, inField: <T>(name: string, create: () => T) => T,
): { readonly table: Table, readonly columns: ReadonlyMap<string, ComputedColumn> } {
  const { create } = DIALECTS[dialect]
  const table = create(getTableName(own))
  const columns = new Map([...sources].map(([name, source]) =>
    [name, inField(name, () => createColumn(own, table, dialect, name, source))] as const))
  const byName = Object.fromEntries([...columns].map(([name, { column }]) => [name, column]))
  Object.assign(table, byName, { [COLUMNS]: byName })
  return { table, columns }
}

function createColumn(own: Table, table: Table, dialect: Dialect, name: string, source: ComputedSource): ComputedColumn {
  const { columns, cast, escapeText } = DIALECTS[dialect]
  const declared = columns[source.type]
  const mapped = mappedColumn(source.sql)
  if (mapped && kindOf(mapped) !== kindOf(declared))
    throw new TypeError(`its values have the kind \`${kindOf(mapped)}\` because of \`.mapWith()\`, and not \`${source.type}\``)
  const column = copyColumn(mapped ?? declared, table, { name, notNull: false, keyAsName: false })
  const expression = createExpression(source.sql, own, escapeText, cast(column))
  return { column: withExpression(column, expression), expression }
}

/** The column whose values an expression returns, by its `.mapWith(column)`. */
function mappedColumn(source: SQL): Column | undefined {
  const { decoder } = source as SQL & { readonly decoder?: unknown }
  return is(decoder, Column) ? decoder : undefined
}
