/** The SQL of Postgres. */
import { is, sql, type Column, type SQL } from 'drizzle-orm'
import { PgChar, PgCustomColumn, PgEnumColumn } from 'drizzle-orm/pg-core'
import { sqlTypeOf, typeOf } from '../../drizzle/index'
import type { AggregateSql, Bytewise, DialectAdapter } from './adapter'
import { countOf, isExact, isLong, numberedByWindow, unchanged, withoutSerial } from './column'
import { postgresReplication } from './replication'

/** Adds doubles as `numeric`, because a sum of doubles depends on the order of the rows. */
const aggregates: AggregateSql = {
  exactSum: (column, kind) => sql`cast(${aggregates.sum(column, kind)} as text)`,
  sum: (column, kind) => kind === 'number' ? sql`sum(cast(${column} as numeric))` : sql`sum(${column})`,
  average: (column, kind) => isExact(kind) ? sql`avg(${column})` : sql`cast(avg(cast(${column} as numeric)) as double precision)`,
  // Without the cast, Postgres expects an integer for a parameter that is compared with a sum of integers.
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
  // Both locks block an update or a delete of the row. A foreign key check takes the weaker `for key share` lock, which neither blocks.
  lock: { share: sql` for share`, update: sql` for no key update` },
  numbered: numberedByWindow,
  countLocked: countOf,
  defaultValues: sql`default values`,
  tuples: unchanged,
  // Without the cast, a parameter that is not assigned to a column has the type text.
  typed: (value, column) => sql`cast(${value} as ${postgresType(column)})`,
  tableItself: unchanged,
  ofWholeUnion: unchanged,
  // The types of a UNION are those of its first query.
  asStored: unchanged,
  // A column of a recursive query must have one collation, although its values come from columns with different collations.
  toText: value => sql`cast(${value} as text) collate "C"`,
  toLongText: value => sql`cast(${value} as text)`,
  fromText: (text, column) => sql`cast(${text} as ${postgresType(column)})${isText(column) ? sql` collate "default"` : sql``}`,
  convert: (value, from, to) => plainTypeOf(from) === plainTypeOf(to) ? value : sql`cast(cast(${value} as text) as ${postgresType(to)})`,
  bytewise,
  fingerprint: (column, kind) => isLong(kind)
    ? sql`encode(sha256(convert_to(cast(${column} as text), 'UTF8')), 'hex')`
    : sql`cast(${column} as text)`,
  same: (left, right) => sql`${left} is not distinct from ${right}`,
  estimate: { explain: query => sql`explain (format json) ${query}`, read: readEstimate },
  replication: postgresReplication,
  aggregates,
}

/** `[{ "Plan": { "Plan Rows": 100 } }]`, as text or parsed by the driver. */
function readEstimate(value: unknown): number | undefined {
  const [explained] = (typeof value === 'string' ? JSON.parse(value) : value) as { Plan?: { 'Plan Rows'?: unknown } }[]
  const rows = explained?.Plan?.['Plan Rows']
  return typeof rows === 'number' ? Math.round(rows) : undefined
}

/** Types without `min` and `max`. All texts of such a type have the same length, so their bytes sort in the order of the values. */
const WITHOUT_EXTREMES = new Set(['PgUUID', 'PgMacaddr', 'PgMacaddr8'])
const hasNoExtremes = (column: Column) => WITHOUT_EXTREMES.has(typeOf(column))

/** Types that store text unchanged, including `citext`. */
const PLAIN_TEXT = /^(?:text|varchar|character varying|citext|name)\b(?!.*\[)/i
/** Types without a collation. A custom column with any other type name can be a domain over text, which has a collation. */
const UNCOLLATED = new RegExp(
  '^(?:(?:small|big)?int\\d?\\b|integer|(?:small|big)?serial|numeric|decimal|real|double|float|bool|uuid|json|date|time|interval'
  + '|bytea|inet|cidr|macaddr|bit|varbit|money)|\\[',
  'i',
)

const isText = (column: Column) => is(column, PgChar) || PLAIN_TEXT.test(sqlTypeOf(column))
const plainTypeOf = (column: Column) => withoutSerial(sqlTypeOf(column))

function bytewise(column: Column): Bytewise | undefined {
  const type = sqlTypeOf(column)
  if (PLAIN_TEXT.test(type)) return { operand: value => sql`cast(${value} as text) collate "C"`, condition: hideFromPlanner }
  // `char` pads its values, and a custom type can convert them. Therefore both sides are cast to the type of the column first.
  const collated = is(column, PgChar) || (is(column, PgCustomColumn) && !UNCOLLATED.test(type))
  return collated
    ? { operand: value => sql`cast(cast(${value} as ${postgresType(column)}) as text) collate "C"`, condition: hideFromPlanner }
    : undefined
}

/**
 * The query contains the plain comparison and the bytewise one. Postgres has no statistics for a CASE condition, so only the plain
 * comparison affects the number of rows that the planner expects.
 */
const hideFromPlanner = (condition: SQL) => sql`case when ${condition} then true else false end`

/** Without a length, `char` means one character and `bit` means one bit. The mapped types have no limit. */
const UNBOUNDED: Readonly<Record<string, string>> = { char: 'bpchar', bit: 'varbit' }

/**
 * The type for casts to the column's type. It has no length and no precision, because these would cut or round the value. It has no
 * collation.
 */
export function postgresType(column: Column): SQL {
  if (is(column, PgEnumColumn)) {
    const { enumName, schema } = column.enum
    return schema ? sql`${sql.identifier(schema)}.${sql.identifier(enumName)}` : sql`${sql.identifier(enumName)}`
  }
  const type = sqlTypeOf(column).replace(/\s*\([^)]*\)/, '').replace(/\s+collate\s.*$/i, '')
  return sql.raw(UNBOUNDED[type] ?? withoutSerial(type))
}
