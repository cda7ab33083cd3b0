/** The results of aggregates in SQL: selected with all their digits, and as the database compares them. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { Kind } from '../../../../shared/wire'
import { isEnum, mysqlEnumValue, postgresType } from '../../../engines/dialects'
import type { Dialect } from '../../../../shared/dialects'
import { selectExactly } from '../../../schema/field'
import { compared } from '../../sql/clause'
import { comparesFields, type Aggregate } from '../../plan/aggregate'

type Term = (column: Column, kind: Kind) => SQL

interface Arithmetic {
  /** A sum with all its digits, for `finish`. */
  readonly exact: Term
  /** A sum and an average in ORDER BY and HAVING: the same numbers as are answered, a double's last digits aside. */
  readonly sum: Term
  readonly average: Term
  /** A number that comes as text, beside one of these. */
  readonly number: (value: SQL) => SQL
}

const isWhole = (kind: Kind) => kind === 'bigint' || kind === 'integer'
const isExact = (kind: Kind) => kind === 'bigint' || kind === 'decimal'

/** SQLite would overflow on a sum of large integers and hand 64 bits over as a double. */
const sqlite: Arithmetic = {
  exact(column, kind) {
    if (isWhole(kind)) return halves(column)
    if (kind !== 'decimal') return sql`sum(cast(${column} as real))`
    // A decimal without a fraction is kept as an integer: those are added apart from the doubles.
    const whole = sql`case typeof(${column}) when 'integer' then ${column} end`
    const broken = sql`case typeof(${column}) when 'integer' then 0.0 else ${column} end`
    return sql`coalesce(${halves(whole)}, case when count(${column}) > 0 then '0:0' end) || ':' || sum(${broken})`
  },
  // Exact within 64 bits; beyond them SQLite goes on with doubles, where a plain sum would fail.
  sum: (column, kind) =>
    isWhole(kind) ? sql`(sum(${column} >> 32) * 4294967296 + sum(${column} & 4294967295))` : sql`sum(cast(${column} as real))`,
  average: column => sql`avg(${column})`,
  // Compared with a result, which has no type of its own, it would be taken for text.
  number: value => sql`cast(${value} as numeric)`,
}

/** Doubles are added as decimals: otherwise a sum depends on the order of the rows. */
const pg: Arithmetic = {
  exact: (column, kind) => sql`cast(${pg.sum(column, kind)} as text)`,
  sum: (column, kind) => kind === 'number' ? sql`sum(cast(${column} as numeric))` : sql`sum(${column})`,
  average: (column, kind) => isExact(kind) ? sql`avg(${column})` : sql`cast(avg(cast(${column} as numeric)) as double precision)`,
  // Beside a sum of integers it would have to be one.
  number: value => sql`cast(${value} as numeric)`,
}

/** MySQL's averages end four digits behind the point of their column: they are divided here, with more. */
const mysql: Arithmetic = {
  exact: (column, kind) => sql`cast(${kind === 'number' ? withinDouble(column) : sql`sum(${column})`} as char)`,
  sum: (column, kind) => (kind === 'number' ? toDigits(withinDouble(column)) : sql`sum(${column})`),
  average: (column, kind) =>
    isExact(kind)
      ? sql`cast(sum(${column}) as decimal(65, 20)) / count(${column})`
      : sql`${mysql.sum(column, kind)} * 1e0 / count(${column})`,
  // Text and a decimal would be compared as doubles.
  number: value => sql`cast(${value} as decimal(65, 30))`,
}

const ARITHMETIC: Readonly<Record<Dialect, Arithmetic>> = { sqlite, pg, mysql }

/** The result with all its digits. */
export function exactResult({ field, function: name }: Aggregate, dialect: Dialect): SQL {
  if (!field) return sql`count(*)`
  const { column, kind } = field
  if (name === 'count') return sql`count(${column})`
  if (name === 'min' || name === 'max')
    return isEnum(column) && dialect === 'mysql'
      ? mysqlEnumValue(extreme(name, column, dialect), column)
      : selectExactly(field, extreme(name, column, dialect))
  // An average is a sum divided by its count, outside of SQL, so that every engine rounds it alike.
  return ARITHMETIC[dialect].exact(column, kind)
}

/** The result as the database compares it, in ORDER BY and HAVING. */
export function comparableResult({ field, function: name }: Aggregate, dialect: Dialect): SQL {
  if (!field) return sql`count(*)`
  if (name === 'sum') return ARITHMETIC[dialect].sum(field.column, field.kind)
  if (name === 'avg') return ARITHMETIC[dialect].average(field.column, field.kind)
  if (name === 'count') return sql`count(${field.column})`
  return extreme(name, field.column, dialect)
}

/** Types Postgres has no `min` and `max` for. Their text is of one length: its bytes are in the order of the values. */
const TEXTUAL = new Set(['PgUUID', 'PgMacaddr', 'PgMacaddr8'])

function extreme(name: 'min' | 'max', column: Column, dialect: Dialect): SQL {
  const call = sql.raw(name)
  if (TEXTUAL.has(column.columnType)) return sql`${call}(cast(${column} as text) collate "C")`
  // By its place: MySQL would take the least and the greatest text.
  return isEnum(column) && dialect === 'mysql' ? sql`${call}(${column} + 0)` : sql`${call}(${column})`
}

/** A value beside the result it is compared with. */
export function comparedValue(aggregate: Aggregate, value: SQL, dialect: Dialect): SQL {
  const { field } = aggregate
  if (!comparesFields(aggregate)) return ARITHMETIC[dialect].number(value)
  if (TEXTUAL.has(field!.column.columnType)) return sql`cast(cast(${value} as ${postgresType(field!.column)}) as text)`
  return dialect === 'sqlite' && isExact(field!.kind) ? sqlite.number(value) : compared(field!, value)
}

/** `'high:low'`: the halves of 64 bits apart, put together again when the row is read. */
function halves(value: SQL | Column): SQL {
  return sql`cast(sum(${value} >> 32) as text) || ':' || cast(sum(${value} & 4294967295) as text)`
}

/** A sum of doubles beyond a double is nothing: MariaDB would answer 0, and fail where it computes with it. */
function withinDouble(column: Column): SQL {
  return sql`case when abs(sum(${column} / 1e16)) <= 1.797e292 then sum(${column}) end`
}

/** The digits of a double that count: `round(s, 14 - floor(log10(abs(s))))`, which zero has none of. */
function toDigits(value: SQL): SQL {
  return sql`coalesce(round(${value}, 14 - floor(log10(abs(nullif(${value}, 0))))), ${value})`
}
