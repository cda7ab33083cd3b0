/** What differs between the dialects, side by side: everything else of a statement is the same text. */
import { is, sql, type Column, type SQL } from 'drizzle-orm'
import { MySqlColumn } from 'drizzle-orm/mysql-core'
import { PgChar, PgColumn, PgCustomColumn, PgEnumColumn } from 'drizzle-orm/pg-core'
import type { Dialect } from '../../shared/dialects'

export interface DialectFacts {
  /** A write answers its rows; elsewhere they are read back in the same transaction. */
  readonly returning: boolean
  /** NULLs sort where the engine puts them: below every value, or above. */
  readonly nullsLow: boolean
  /** `(a, b) > (?, ?)` is read by an index over both. */
  readonly tuples: boolean
  /** Ignores the case of ASCII letters; `\` escapes. */
  readonly like: (column: Column, value: SQL) => SQL
  /** Keeps the rows of a SELECT as they are until the commit: against changes, and against other locks too. */
  readonly lock: Readonly<Record<'share' | 'update', SQL>>
  /** `select …` with a number for each row, in the order in which they are found. */
  readonly numbered: (columns: SQL, table: SQL, number: SQL) => SQL
  /** How many rows a SELECT has locked. */
  readonly countLocked: (rows: SQL) => SQL
  /** What stands behind the table of an insert that sets nothing. */
  readonly nothing: SQL
  /** A value as text, and text as a value of a column: how keys of different types stand in one column of a query. */
  readonly toText: (value: SQL) => SQL
  readonly fromText: (text: SQL, column: Column) => SQL
  /** How values of a column are compared by bytes, whatever its collation; `undefined` for types that have no collation. */
  readonly bytewise: (column: Column) => Bytewise | undefined
}

/** A comparison by bytes. It stands beside the plain comparison, which is the one that an index serves. */
export interface Bytewise {
  /** Put around both sides of the comparison. */
  readonly of: (value: SQL) => SQL
  /** Put around the comparison, where the planner would take it for one more condition that few rows meet. */
  readonly beside: (condition: SQL) => SQL
}

const asItIs = (condition: SQL) => condition
/** Postgres knows nothing of how often a CASE holds: it goes by the plain comparison. */
const unknown = (condition: SQL) => sql`case when ${condition} then true else false end`

const NO_LOCK = { share: sql``, update: sql`` }

const numbered: DialectFacts['numbered'] = (columns, table, number) =>
  sql`select ${columns}, row_number() over () as ${number} from ${table}`

const counted = (rows: SQL) => sql`select count(*) from (${rows}) as locked`

export const DIALECTS: Readonly<Record<Dialect, DialectFacts>> = {
  sqlite: {
    returning: true,
    nullsLow: true,
    tuples: true,
    like: (column, value) => sql`${column} like ${value} escape '\\'`,
    // One writer at a time.
    lock: NO_LOCK,
    numbered,
    countLocked: counted,
    nothing: sql`default values`,
    toText: value => value,
    fromText: text => text,
    bytewise: column =>
      /char|clob|text/i.test(column.getSQLType()) ? { of: value => sql`${value} collate binary`, beside: asItIs } : undefined,
  },
  pg: {
    returning: true,
    nullsLow: false,
    tuples: true,
    like: (column, value) => sql`cast(${column} as text) ilike ${value}`,
    // Foreign keys take weaker locks than these; a writer of the row itself has to wait.
    lock: { share: sql` for share`, update: sql` for no key update` },
    numbered,
    countLocked: counted,
    nothing: sql`default values`,
    // A column of a recursive query has one collation, whichever columns it is filled from.
    toText: value => sql`cast(${value} as text) collate "C"`,
    fromText: (text, column) => sql`cast(${text} as ${postgresType(column)})${isPostgresText(column) ? sql` collate "default"` : sql``}`,
    bytewise: postgresBytes,
  },
  mysql: {
    returning: false,
    nullsLow: true,
    tuples: false,
    like: (column, value) => sql`lower(${column}) like lower(${value})`,
    // As MySQL 5 and MariaDB spell it; MySQL 8 still does.
    lock: { share: sql` lock in share mode`, update: sql` for update` },
    // MariaDB sorts before it numbers by a window.
    numbered: (columns, table, number) =>
      sql`select ${columns}, (@found := @found + 1) as ${number} from (select @found := 0) as start cross join ${table}`,
    // In a derived table there is nothing to lock.
    countLocked: rows => rows,
    nothing: sql`() values ()`,
    toText: value => sql`cast(${value} as char(255))`,
    fromText: (text, column) => mysqlValue(text, column),
    // `utf8mb4_bin` is no substitute: it takes text that ends in spaces for the same text without them.
    bytewise: column =>
      /^(?:national )?n?(?:var)?char|^(?:tiny|medium|long)?text/i.test(column.getSQLType())
        ? { of: value => sql`cast(convert(${value} using utf8mb4) as binary)`, beside: asItIs }
        : undefined,
  },
}

/** Compares a column by bytes; see {@link DialectFacts.bytewise}. */
export function bytewise(column: Column): ReturnType<DialectFacts['bytewise']> {
  return DIALECTS[is(column, PgColumn) ? 'pg' : is(column, MySqlColumn) ? 'mysql' : 'sqlite'].bytewise(column)
}

/** Types of Postgres whose text depends on nothing but the value, `citext` among them. */
const PLAIN_TEXT = /^(?:text|varchar|character varying|citext|name)\b(?!.*\[)/i
/** Types without a collation. Another name that an app's own column type has may be a domain over text. */
const UNCOLLATED
  = /^(?:(?:small|big)?int\d?\b|integer|(?:small|big)?serial|numeric|decimal|real|double|float|bool|uuid|json|date|time|interval|bytea|inet|cidr|macaddr|bit|varbit|money)|\[/i

const isPostgresText = (column: Column) => is(column, PgChar) || PLAIN_TEXT.test(column.getSQLType())

function postgresBytes(column: Column): Bytewise | undefined {
  const type = column.getSQLType()
  if (PLAIN_TEXT.test(type)) return { of: value => sql`cast(${value} as text) collate "C"`, beside: unknown }
  // `char` pads; what an app's own type does, only the type knows.
  const collated = is(column, PgChar) || (is(column, PgCustomColumn) && !UNCOLLATED.test(type))
  return collated ? { of: value => sql`cast(cast(${value} as ${postgresType(column)}) as text) collate "C"`, beside: unknown } : undefined
}

const SERIAL: Readonly<Record<string, string>> = { serial: 'integer', bigserial: 'bigint', smallserial: 'smallint' }
/** Without a length these would mean one character or one bit. */
const UNBOUNDED: Readonly<Record<string, string>> = { char: 'bpchar', bit: 'varbit' }

/** The type a value of the column is cast to: without length and precision, which would cut or round it, and without a collation. */
export function postgresType(column: Column): SQL {
  if (is(column, PgEnumColumn)) {
    const { enumName, schema } = column.enum
    return schema ? sql`${sql.identifier(schema)}.${sql.identifier(enumName)}` : sql`${sql.identifier(enumName)}`
  }
  const type = column.getSQLType().replace(/\s*\([^)]*\)/, '').replace(/\s+collate\s.*$/i, '')
  return sql.raw(SERIAL[type] ?? UNBOUNDED[type] ?? type)
}

/** Text compared with a number would be compared as doubles, and no index would be read. */
function mysqlValue(text: SQL, column: Column): SQL {
  if (!/Int|Serial|Year|Boolean|Decimal/.test(column.columnType)) return sql`${text} collate utf8mb4_bin`
  return mysqlNumber(text, column)
}

/** A parameter that stands for a number beyond what a double holds; drivers write it as text. */
export function mysqlNumber(value: SQL, column: Column): SQL {
  if (/Decimal/.test(column.columnType)) return sql`cast(${value} as decimal(65, 30))`
  return column.getSQLType().includes('unsigned') ? sql`cast(${value} as unsigned)` : sql`cast(${value} as signed)`
}

/** A type of the database's, whose values stand in the order in which it lists them. */
export const isEnum = (column: Column): boolean => /^(?:Pg|MySql)Enum/.test(column.columnType)

/** An enum is sorted by the places of its values, and would be compared with text as text: `field(?, 'low', 'high')` is the place. */
export function mysqlEnum(value: SQL, column: Column): SQL {
  return sql`field(${value} collate utf8mb4_bin, ${enumValues(column)})`
}

/** `elt(2, 'low', 'high')`: the value at a place. */
export function mysqlEnumValue(place: SQL, column: Column): SQL {
  return sql`elt(${place}, ${enumValues(column)})`
}

/** In hexadecimal no character of a value means anything to SQL. */
function enumValues({ enumValues: values = [] }: Column): SQL {
  return sql.raw(values.map(text => `_utf8mb4 x'${globalThis.Buffer.from(text).toString('hex')}'`).join(', '))
}
