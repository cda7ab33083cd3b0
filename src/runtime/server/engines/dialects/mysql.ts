/** The SQL of MySQL and MariaDB. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { AggregateSql, DialectAdapter } from './adapter'
import { isEnum, isExact, unchanged } from './column'

/** MySQL's averages end four digits behind the point of their column: they are divided here, with more digits. */
const aggregates: AggregateSql = {
  exactSum: (column, kind) => sql`cast(${kind === 'number' ? sumOfDoubles(column) : sql`sum(${column})`} as char)`,
  sum: (column, kind) => (kind === 'number' ? toDigits(sumOfDoubles(column)) : sql`sum(${column})`),
  average: (column, kind) =>
    isExact(kind)
      ? sql`cast(sum(${column}) as decimal(65, 20)) / count(${column})`
      : sql`${aggregates.sum(column, kind)} * 1e0 / count(${column})`,
  // Text and a decimal would be compared as doubles.
  number: value => sql`cast(${value} as decimal(65, 30))`,
  // An enum by the position of its value: MySQL would compare its text.
  extreme: (name, column) => isEnum(column) ? sql`${sql.raw(name)}(${column} + 0)` : sql`${sql.raw(name)}(${column})`,
  fromExtreme: (extreme, column) => isEnum(column) ? enumValueAt(extreme, column) : extreme,
  comparedExtreme: unchanged,
}

export const mysql: DialectAdapter = {
  returning: false,
  nullsLow: true,
  tupleComparison: false,
  typedColumns: true,
  checksForeignKeysByRow: true,
  like: (column, pattern) => sql`lower(${column}) like lower(${pattern})`,
  // The spelling of MySQL 5 and MariaDB; MySQL 8 accepts it.
  lock: { share: sql` lock in share mode`, update: sql` for update` },
  // MariaDB sorts before it numbers by a window.
  numbered: (columns, table, number) =>
    sql`select ${columns}, (@found := @found + 1) as ${number} from (select @found := 0) as start cross join ${table}`,
  // The rows of a derived table cannot be locked.
  countLocked: unchanged,
  defaultValues: sql`() values ()`,
  tuples: unchanged,
  typed: unchanged,
  toText: value => sql`cast(${value} as char(255))`,
  // Text compared with a number would be compared as doubles, and no index would be read.
  fromText: (text, column) => isNumber(column) ? mysqlNumber(text, column) : sql`${text} collate utf8mb4_bin`,
  convert: unchanged,
  // `utf8mb4_bin` is no substitute: it takes text that ends in spaces for the same text without them.
  bytewise: column =>
    /^(?:national )?n?(?:var)?char|^(?:tiny|medium|long)?text/i.test(column.getSQLType())
      ? { operand: value => sql`cast(convert(${value} using utf8mb4) as binary)`, condition: unchanged }
      : undefined,
  aggregates,
}

const isNumber = (column: Column) => /Int|Serial|Year|Boolean|Decimal/.test(column.columnType)

/** A parameter for a number beyond what a double holds: drivers send it as text. */
export function mysqlNumber(value: SQL, column: Column): SQL {
  if (/Decimal/.test(column.columnType)) return sql`cast(${value} as decimal(65, 30))`
  return column.getSQLType().includes('unsigned') ? sql`cast(${value} as unsigned)` : sql`cast(${value} as signed)`
}

/** `field(?, 'low', 'high')`: an enum sorts by the position of its value, and would be compared with text as text. */
export function mysqlEnum(value: SQL, column: Column): SQL {
  return sql`field(${value} collate utf8mb4_bin, ${enumValues(column)})`
}

/** `elt(2, 'low', 'high')` */
function enumValueAt(position: SQL, column: Column): SQL {
  return sql`elt(${position}, ${enumValues(column)})`
}

/** In hexadecimal no character of a value has a meaning in SQL. */
function enumValues({ enumValues: values = [] }: Column): SQL {
  return sql.raw(values.map(text => `_utf8mb4 x'${globalThis.Buffer.from(text).toString('hex')}'`).join(', '))
}

/** A sum of doubles beyond a double is NULL: MariaDB would return 0, and fail where it computes with it. */
function sumOfDoubles(column: Column): SQL {
  return sql`case when abs(sum(${column} / 1e16)) <= 1.797e292 then sum(${column}) end`
}

/** The significant digits of a double: `round(s, 14 - floor(log10(abs(s))))`, where zero has none. */
function toDigits(value: SQL): SQL {
  return sql`coalesce(round(${value}, 14 - floor(log10(abs(nullif(${value}, 0))))), ${value})`
}
