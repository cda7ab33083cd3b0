/** The SQL of Postgres. */
import { is, sql, type Column, type SQL } from 'drizzle-orm'
import { PgChar, PgCustomColumn, PgEnumColumn } from 'drizzle-orm/pg-core'
import type { AggregateSql, Bytewise, DialectAdapter } from './adapter'
import { countOf, isExact, numberedByWindow, unchanged, withoutSerial } from './column'

/** Doubles are added as decimals: otherwise a sum depends on the order of the rows. */
const aggregates: AggregateSql = {
  exactSum: (column, kind) => sql`cast(${aggregates.sum(column, kind)} as text)`,
  sum: (column, kind) => kind === 'number' ? sql`sum(cast(${column} as numeric))` : sql`sum(${column})`,
  average: (column, kind) => isExact(kind) ? sql`avg(${column})` : sql`cast(avg(cast(${column} as numeric)) as double precision)`,
  // Compared with a sum of integers, a parameter would have to be an integer.
  number: value => sql`cast(${value} as numeric)`,
  extreme: (name, column) =>
    hasNoExtremes(column) ? sql`${sql.raw(name)}(cast(${column} as text) collate "C")` : sql`${sql.raw(name)}(${column})`,
  fromExtreme: unchanged,
  comparedExtreme: (value, column) => hasNoExtremes(column) ? sql`cast(cast(${value} as ${postgresType(column)}) as text)` : value,
}

export const pg: DialectAdapter = {
  returning: true,
  nullsLow: false,
  tupleComparison: true,
  typedColumns: true,
  checksForeignKeysByRow: false,
  checkDeferred: 'set constraints all immediate',
  like: (column, pattern) => sql`cast(${column} as text) ilike ${pattern}`,
  // Foreign keys take weaker locks than these; a writer of the row itself has to wait.
  lock: { share: sql` for share`, update: sql` for no key update` },
  numbered: numberedByWindow,
  countLocked: countOf,
  defaultValues: sql`default values`,
  tuples: unchanged,
  // A parameter that is assigned to no column would be text.
  typed: (value, column) => sql`cast(${value} as ${postgresType(column)})`,
  // A column of a recursive query has one collation, whichever columns its values come from.
  toText: value => sql`cast(${value} as text) collate "C"`,
  fromText: (text, column) => sql`cast(${text} as ${postgresType(column)})${isText(column) ? sql` collate "default"` : sql``}`,
  convert: (value, from, to) => typeOf(from) === typeOf(to) ? value : sql`cast(cast(${value} as text) as ${postgresType(to)})`,
  bytewise,
  aggregates,
}

/** Types without `min` and `max`. Their texts have one length: bytes are in the order of the values. */
const WITHOUT_EXTREMES = new Set(['PgUUID', 'PgMacaddr', 'PgMacaddr8'])
const hasNoExtremes = (column: Column) => WITHOUT_EXTREMES.has(column.columnType)

/** Types whose text depends on the value only, `citext` among them. */
const PLAIN_TEXT = /^(?:text|varchar|character varying|citext|name)\b(?!.*\[)/i
/** Types without a collation. Another name of a custom column type may be a domain over text. */
const UNCOLLATED = new RegExp(
  '^(?:(?:small|big)?int\\d?\\b|integer|(?:small|big)?serial|numeric|decimal|real|double|float|bool|uuid|json|date|time|interval'
  + '|bytea|inet|cidr|macaddr|bit|varbit|money)|\\[',
  'i',
)

const isText = (column: Column) => is(column, PgChar) || PLAIN_TEXT.test(column.getSQLType())
const typeOf = (column: Column) => withoutSerial(column.getSQLType())

function bytewise(column: Column): Bytewise | undefined {
  const type = column.getSQLType()
  if (PLAIN_TEXT.test(type)) return { operand: value => sql`cast(${value} as text) collate "C"`, condition: hideFromPlanner }
  // `char` pads its values, and a custom type can convert them: both sides are cast to the type of the column first.
  const collated = is(column, PgChar) || (is(column, PgCustomColumn) && !UNCOLLATED.test(type))
  return collated
    ? { operand: value => sql`cast(cast(${value} as ${postgresType(column)}) as text) collate "C"`, condition: hideFromPlanner }
    : undefined
}

/** Postgres has no statistics on how often a CASE holds: it plans by the plain comparison. */
const hideFromPlanner = (condition: SQL) => sql`case when ${condition} then true else false end`

/** Without a length these would mean one character or one bit. */
const UNBOUNDED: Readonly<Record<string, string>> = { char: 'bpchar', bit: 'varbit' }

/** The type a value of the column is cast to: without length and precision, which would cut or round it, and without a collation. */
export function postgresType(column: Column): SQL {
  if (is(column, PgEnumColumn)) {
    const { enumName, schema } = column.enum
    return schema ? sql`${sql.identifier(schema)}.${sql.identifier(enumName)}` : sql`${sql.identifier(enumName)}`
  }
  const type = column.getSQLType().replace(/\s*\([^)]*\)/, '').replace(/\s+collate\s.*$/i, '')
  return sql.raw(UNBOUNDED[type] ?? withoutSerial(type))
}
