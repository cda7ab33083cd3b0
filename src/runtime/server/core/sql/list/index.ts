/** Conditions over lists of values: `in`, `not in`, and combinations of several columns. */
import { is, sql, SQL } from 'drizzle-orm'
import type { Dialect } from '../../../../shared/dialects'
import type { Engine } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import { boundValue, equalsRaw, fromClauses, isNotNull, NO_ROWS, type Clause, type ComparableColumn } from '../clause'
import { shape } from '../shape'
import type { ListSql, Tuple } from './list-sql'
import { mysqlList } from './mysql'
import { postgresList } from './pg'
import { sqliteList } from './sqlite'

const LISTS: Readonly<Record<Dialect, ListSql>> = { sqlite: sqliteList, pg: postgresList, mysql: mysqlList }

/** `field in (…)` if `inside` is true, otherwise `field not in (…)`. NULL matches neither condition. */
export function inList(engine: Engine, field: Field, values: readonly unknown[], inside: boolean): Clause {
  if (values.length === 0) return inside ? NO_ROWS : isNotNull(field)
  const encoded = values.map(value => [field.encode(value)])
  const list = encoded.some(([value]) => is(value, SQL))
    ? listOfSql(engine, field, values)
    : LISTS[engine.dialect](engine, [field], encoded, false)
  const { values: bound, build } = list
  const operator = inside ? 'in' : 'not in'
  return {
    ...inside && field.isKey && { byKeys: true },
    shape: shape`${field.column} ${operator} ${list.shape}`,
    values: bound,
    build: () => sql`${field.column} ${sql.raw(operator)} ${build()}`,
  }
}

/**
 * Builds `(a, b) in ((?, ?), (?, ?))`, which selects rows by composite keys. The keys are driver values. For text, the condition also
 * compares by bytes: the plain part can use an index, and the bytewise part excludes other spellings that the collation treats as equal.
 */
export function inTuples(engine: Engine, columns: readonly ComparableColumn[], tuples: readonly Tuple[]): Clause {
  if (tuples.length === 0) return NO_ROWS
  const listOf = LISTS[engine.dialect]
  const list = listOf(engine, columns, tuples, false)
  const plain: Clause = {
    byKeys: true,
    shape: shape`keys ${columns.map(({ column }) => column)} in ${list.shape}`,
    values: list.values,
    build: () => sql`${tuple(columns.map(({ column }) => sql`${column}`))} in ${list.build()}`,
  }
  const bytes = columns.find(({ bytes }) => bytes)?.bytes
  if (!bytes) return plain
  const exactList = listOf(engine, columns, tuples, true)
  const exactColumns = columns.map(({ column, bytes }) => bytes ? bytes.operand(sql`${column}`) : sql`${column}`)
  return {
    byKeys: true,
    shape: shape`bytewise ${plain.shape}`,
    values: [...plain.values, ...exactList.values],
    build: () => sql`(${plain.build()} and ${bytes.condition(sql`${tuple(exactColumns)} in ${exactList.build()}`)})`,
  }
}

/** Like {@link inTuples}, but `a = ?` for a single value. Only for unique keys: for others, a planner can then choose a slow index. */
export function inUniqueKeys(engine: Engine, columns: readonly ComparableColumn[], tuples: readonly Tuple[]): Clause {
  return tuples.length === 1 && columns.length === 1 ? equalsRaw(columns[0]!, tuples[0]![0]) : inTuples(engine, columns, tuples)
}

const tuple = (parts: readonly SQL[]) => parts.length === 1 ? parts[0]! : sql`(${sql.join([...parts], sql`, `)})`

/** Builds `(point(?), point(?))` for a custom type that converts its values to SQL. */
function listOfSql(engine: Engine, field: Field, values: readonly unknown[]): Clause {
  const items = values.map(value => boundValue(engine, field, value))
  return fromClauses(shape`list`, items, () => sql`(${sql.join(items.map(({ build }) => build()), sql`, `)})`)
}
