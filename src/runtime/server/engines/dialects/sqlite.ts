/** The SQL of SQLite, libSQL and D1. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import { sqlTypeOf } from '../../drizzle/index'
import type { AggregateSql, DialectAdapter } from './adapter'
import { countOf, isExact, isLong, numberedByWindow, unchanged } from './column'

/** In SQLite, a sum of large integers overflows. The drivers also return 64-bit integers as doubles. */
const aggregates: AggregateSql = {
  exactSum(column, kind) {
    if (isWhole(kind)) return sumHalves(column)
    if (kind !== 'decimal') return sql`sum(cast(${column} as real))`
    // SQLite stores a decimal without a fraction as an integer. This expression adds integers and doubles separately.
    const whole = sql`case typeof(${column}) when 'integer' then ${column} end`
    const fractional = sql`case typeof(${column}) when 'integer' then 0.0 else ${column} end`
    return sql`coalesce(${sumHalves(whole)}, case when count(${column}) > 0 then '0:0' end) || ':' || sum(${fractional})`
  },
  // Exact within 64 bits. For larger sums SQLite continues with doubles, but a plain `sum()` would fail.
  sum: (column, kind) =>
    isWhole(kind) ? sql`(sum(${column} >> 32) * 4294967296 + sum(${column} & 4294967295))` : sql`sum(cast(${column} as real))`,
  average: column => sql`avg(${column})`,
  number: toNumber,
  extreme: (name, column) => sql`${sql.raw(name)}(${column})`,
  fromExtreme: unchanged,
  comparedExtreme: (value, _, kind) => isExact(kind) ? toNumber(value) : value,
}

export const sqlite: DialectAdapter = {
  returning: true,
  nullsLow: true,
  tupleComparison: true,
  typedColumns: false,
  checksForeignKeysByRow: false,
  deferForeignKeys: 'pragma defer_foreign_keys = on',
  like: (column, pattern) => sql`${column} like ${pattern} escape '\\'`,
  // SQLite has one writer at a time, so rows need no locks.
  lock: { share: sql``, update: sql`` },
  numbered: numberedByWindow,
  countLocked: countOf,
  defaultValues: sql`default values`,
  tuples: list => sql`values ${list}`,
  typed: unchanged,
  // Without the name of the database, the query would refer to itself.
  tableItself: table => sql`main.${table}`,
  ofWholeUnion: unchanged,
  asStored,
  toText: unchanged,
  toLongText: value => sql`cast(${value} as text)`,
  fromText: unchanged,
  convert: unchanged,
  bytewise: column =>
    /char|clob|text/i.test(sqlTypeOf(column)) ? { operand: value => sql`${value} collate binary`, condition: unchanged } : undefined,
  // An index of the default collation also supports this comparison.
  keysInSelect: (key, bytes) => [bytes ? bytes.operand(key) : key],
  // `quote` distinguishes NULL, numbers, text and bytes, and writes a double with all its digits. It cuts text at a NUL character.
  fingerprint: (column, kind) => isLong(kind)
    ? sql`case when instr(${column}, char(0)) > 0 then 'x' || hex(${column}) else quote(${column}) end`
    : sql`quote(${column})`,
  same: (left, right) => sql`${left} = ${right}`,
  aggregates,
}

const isWhole = (kind: string) => kind === 'bigint' || kind === 'integer'

/** A UNION has the affinity of its first query only if the others cannot return values of another type. */
function asStored(value: SQL, column: Column): SQL {
  const type = sqlTypeOf(column)
  if (/int/i.test(type)) return sql`cast(${value} as numeric)`
  if (/char|clob|text/i.test(type)) return sql`cast(${value} as text)`
  return /blob|^$/i.test(type) ? value : sql`cast(${value} as numeric)`
}

/** The result of an aggregate has no type affinity. Without the cast, SQLite compares it with a parameter as text. */
function toNumber(value: SQL): SQL {
  return sql`cast(${value} as numeric)`
}

/** `'high:low'`: the sums of the upper and of the lower 32 bits. The server adds the two when it reads the row. */
function sumHalves(value: SQL | Column): SQL {
  return sql`cast(sum(${value} >> 32) as text) || ':' || cast(sum(${value} & 4294967295) as text)`
}
