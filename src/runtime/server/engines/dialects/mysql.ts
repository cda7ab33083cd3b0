/** The SQL of MySQL and MariaDB. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import { sqlTypeOf, typeOf } from '../../drizzle/index'
import type { AggregateSql, DialectAdapter } from './adapter'
import { isEnum, isExact, isLong, unchanged } from './column'
import { mariadbReplication } from './replication'

/** MySQL's `avg()` has only four more decimals than its column. `average` divides the sum by the count, which gives more digits. */
const aggregates: AggregateSql = {
  exactSum: (column, kind) => sql`cast(${kind === 'number' ? sumOfDoubles(column) : sql`sum(${column})`} as char)`,
  sum: (column, kind) => (kind === 'number' ? toDigits(sumOfDoubles(column)) : sql`sum(${column})`),
  average: (column, kind) =>
    isExact(kind)
      ? sql`cast(sum(${column}) as decimal(65, 20)) / count(${column})`
      : sql`${aggregates.sum(column, kind)} * 1e0 / count(${column})`,
  // Without the cast, MySQL compares text with a decimal as doubles.
  number: value => sql`cast(${value} as decimal(65, 30))`,
  // `column + 0` is the position of an enum value. Without it, MySQL compares the text of the value.
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
  // MySQL 5 and MariaDB do not support `for share`. MySQL 8 accepts both.
  lock: { share: sql` lock in share mode`, update: sql` for update` },
  // A user variable numbers the rows, because MariaDB sorts the rows before it computes a window function.
  numbered: (columns, table, number) =>
    sql`select ${columns}, (@found := @found + 1) as ${number} from (select @found := 0) as start cross join ${table}`,
  // MySQL cannot lock the rows of a derived table, so the caller counts the rows that the SELECT returns.
  countLocked: unchanged,
  defaultValues: sql`() values ()`,
  tuples: unchanged,
  typed: unchanged,
  tableItself: unchanged,
  // The database does not move a condition with a random number.
  ofWholeUnion: condition => sql`((${condition}) or rand() < 0)`,
  asStored,
  toText: value => sql`cast(${value} as char(255))`,
  toLongText: value => sql`cast(${value} as char)`,
  // Without the cast, MySQL compares text with a number as doubles, and uses no index.
  fromText: (text, column) => isNumber(column) ? mysqlNumber(text, column) : sql`${text} collate utf8mb4_bin`,
  convert: unchanged,
  // The collation `utf8mb4_bin` is not enough, because it ignores spaces at the end of text.
  bytewise: column =>
    /^(?:national )?n?(?:var)?char|^(?:tiny|medium|long)?text/i.test(sqlTypeOf(column))
      ? { operand: value => sql`cast(convert(${value} using utf8mb4) as binary)`, condition: unchanged }
      : undefined,
  // Only the plain comparison can use an index.
  keysInSelect: (key, bytes) => bytes ? [key, bytes.operand(key)] : [key],
  fingerprint: (column, kind) => {
    // As a decimal text, a single-precision number would lose digits. As a double, it keeps them.
    const value = sql`cast(${typeOf(column) === 'MySqlFloat' ? sql`${column} + 0e0` : column} as char)`
    return isLong(kind) ? sql`sha2(${kind === 'json' ? value : column}, 256)` : value
  },
  same: (left, right) => sql`${left} <=> ${right}`,
  replication: mariadbReplication,
  // Galera. MySQL has no such variable, and returns no row.
  cluster: { text: `show variables like 'wsrep_on'`, read: rows => rows[0]?.[1] === 'ON' },
  aggregates,
}

/** The types of a UNION that has a number or a time in one query, and text in another one, are text. Drivers send some of them as text. */
const STORED_CASTS: readonly (readonly [type: RegExp, cast: (value: SQL, column: Column) => SQL])[] = [
  [/^(?:tiny|small|medium|big)?int|^serial|^year|^bool|^decimal/i, mysqlNumber],
  [/^(?:double|float|real)/i, value => sql`(${value} + 0e0)`],
  [/^(?:datetime|timestamp)/i, value => sql`cast(${value} as datetime(6))`],
  [/^date/i, value => sql`cast(${value} as date)`],
  [/^time/i, value => sql`cast(${value} as time(6))`],
]

function asStored(value: SQL, column: Column): SQL {
  const type = sqlTypeOf(column)
  return STORED_CASTS.find(([pattern]) => pattern.test(type))?.[1](value, column) ?? value
}

const isNumber = (column: Column) => /Int|Serial|Year|Boolean|Decimal/.test(typeOf(column))

/** Casts a parameter to a number. Drivers send a number as text if a double cannot hold it. */
export function mysqlNumber(value: SQL, column: Column): SQL {
  if (/Decimal/.test(typeOf(column))) return sql`cast(${value} as decimal(65, 30))`
  return sqlTypeOf(column).includes('unsigned') ? sql`cast(${value} as unsigned)` : sql`cast(${value} as signed)`
}

/**
 * `field(?, 'low', 'high')`: converts an enum value to its position. An enum sorts by position, but MySQL compares an enum with
 * text as text.
 */
export function mysqlEnum(value: SQL, column: Column): SQL {
  return sql`field(${value} collate utf8mb4_bin, ${enumValues(column)})`
}

/** `elt(2, 'low', 'high')`: converts a position to its enum value. */
function enumValueAt(position: SQL, column: Column): SQL {
  return sql`elt(${position}, ${enumValues(column)})`
}

/** Lists the enum values in hexadecimal, so that no character of a value has a meaning in SQL. */
function enumValues({ enumValues: values = [] }: Column): SQL {
  return sql.raw(values.map(text => `_utf8mb4 x'${globalThis.Buffer.from(text).toString('hex')}'`).join(', '))
}

/** Returns NULL if a double cannot hold the sum. MariaDB would return 0, or fail in a calculation with the sum. */
function sumOfDoubles(column: Column): SQL {
  return sql`case when abs(sum(${column} / 1e16)) <= 1.797e292 then sum(${column}) end`
}

/** Rounds a double to its significant digits: `round(s, 14 - floor(log10(abs(s))))`. Zero has no logarithm and stays zero. */
function toDigits(value: SQL): SQL {
  return sql`coalesce(round(${value}, 14 - floor(log10(abs(nullif(${value}, 0))))), ${value})`
}
