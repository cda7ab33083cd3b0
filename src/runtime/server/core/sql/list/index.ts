/** Conditions over lists of values: `in`, `not in`, and combinations of several columns. */
import { is, sql, SQL } from 'drizzle-orm'
import type { Dialect } from '../../../../shared/dialects'
import type { Engine } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import { boundDriverValue, equalsRaw, isNotNull, NO_ROWS, type ComparableColumn } from '../conditions'
import { asSql, commaList, where, word, type Part, type Where } from '../where'
import type { ListSql, Tuple } from './list-sql'
import { mysqlList } from './mysql'
import { postgresList } from './pg'
import { sqliteList } from './sqlite'

const LISTS: Readonly<Record<Dialect, ListSql>> = { sqlite: sqliteList, pg: postgresList, mysql: mysqlList }

/** `field in (…)` if `inside` is true, otherwise `field not in (…)`. NULL matches neither condition. */
export function inList(engine: Engine, field: Field, values: readonly unknown[], inside: boolean): Where {
  if (values.length === 0) return inside ? NO_ROWS : isNotNull(field)
  const encoded = values.map(value => field.encode(value))
  const list = encoded.some(value => is(value, SQL))
    ? where`(${commaList(encoded.map(value => boundDriverValue(field, value)))})`
    : LISTS[engine.dialect](engine, [field], encoded.map(value => [value]), false)
  const condition = where`${field.column} ${inside ? word('in') : word('not in')} ${list}`
  return inside && field.isKey ? condition.with({ byKeys: true }) : condition
}

/**
 * Builds `(a, b) in ((?, ?), (?, ?))`, which selects rows by composite keys. The keys are driver values. For text, the condition also
 * compares by bytes: the plain part can use an index, and the bytewise part excludes other spellings that the collation treats as equal.
 */
export function inTuples(engine: Engine, columns: readonly ComparableColumn[], tuples: readonly Tuple[]): Where {
  if (tuples.length === 0) return NO_ROWS
  const listOf = LISTS[engine.dialect]
  const plain = where`${tuple(columns.map(({ column }) => column))} in ${listOf(engine, columns, tuples, false)}`
  const bytes = columns.find(({ bytes }) => bytes)?.bytes
  if (!bytes) return plain.with({ byKeys: true })
  const exactColumns = columns.map(({ column, bytes }) => bytes ? bytes.operand(sql`${column}`) : column)
  const exact = bytes.condition(asSql(where`${tuple(exactColumns)} in ${listOf(engine, columns, tuples, true)}`))
  return where`(${plain} and ${exact})`.with({ byKeys: true })
}

/** Like {@link inTuples}, but `a = ?` for a single value. Only for unique keys: for others, a planner can then choose a slow index. */
export function inUniqueKeys(engine: Engine, columns: readonly ComparableColumn[], tuples: readonly Tuple[]): Where {
  return tuples.length === 1 && columns.length === 1 ? equalsRaw(columns[0]!, tuples[0]![0]) : inTuples(engine, columns, tuples)
}

const tuple = (parts: readonly Part[]): Part => parts.length === 1 ? parts[0]! : where`(${commaList(parts)})`
