/** The SQL over entries, by dialect. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { Dialect } from '../../../../shared/dialects'
import type { Resource } from '../../../../server/kit/rows'
import { isWhole, literal, type EntrySql } from './entry-sql'
import { mysqlEntries } from './mysql'
import { pgEntries } from './pg'
import { sqliteEntries } from './sqlite'
import { memoized } from '../../../../server/kit/process'
import type { Part } from '../../../../server/kit/where'

export { literal, type EntrySql } from './entry-sql'

export const ENTRY_SQL: Readonly<Record<Dialect, EntrySql>> = { sqlite: sqliteEntries, pg: pgEntries, mysql: mysqlEntries }

/**
 * Whether a row of the resource has the id. Returns `undefined` if SQL cannot compare its key: for dates, decimals and custom types. Of a
 * composite key, SQL can compare texts whose id has no encoded character.
 */
export function hasRecordId({ primaryKey, dialect }: Resource, id: Column | SQL): SQL | undefined {
  const { hasId, part, isPlain } = ENTRY_SQL[dialect]
  if (primaryKey.length === 1) return hasId(primaryKey[0]!, sql`${id}`)
  const conditions = primaryKey.map((field, index) => {
    const text = part(sql`${id}`, index)
    const equal = hasId(field, text)
    return equal && (isWhole(field) ? equal : sql`${equal} and ${isPlain(text)}`)
  })
  return conditions.includes(undefined) ? undefined : sql`(${sql.join(conditions as SQL[], sql` and `)})`
}

/** Whether SQL can compare the ids of a resource. */
export const canCompareId = memoized((resource: Resource) => hasRecordId(resource, sql`null`) !== undefined)

/** `case resource when 'posts' then … else false end`: evaluates one condition per row, and has no nesting. */
export function byResource(resource: SQL, conditions: ReadonlyMap<string, Part>, otherwise = sql`false`): SQL {
  if (conditions.size === 0) return otherwise
  const branches = [...conditions].map(([name, condition]) => sql`when ${sql.raw(literal(name))} then (${condition})`)
  return sql`case ${resource} ${sql.join(branches, sql` `)} else ${otherwise} end`
}
