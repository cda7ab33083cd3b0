/** The closure on Postgres. Postgres accepts only one recursive term, so one term follows all foreign keys. */
import { sql, type SQL } from 'drizzle-orm'
import { all, CLOSURE, GROUP, key, list, TABLE, tableNumber, TIME, widthOf, type Closure, type ClosureSql } from './closure'
import { encodedKey } from './keys'
import { standard } from './standard'
import { stepsOf } from './steps'

export const pg: ClosureSql = { ...standard, recursion: lateralRecursion }

/**
 * `next` contains the children of a reached row over all foreign keys.
 *
 * union select next.t, next.k0, reached.g, reached.d from reached cross join lateral (
 *   select 1 as t, comments.id as k0 from comments where comments.post_id = reached.k0 and reached.t = 0 and … union all …
 * ) as next
 */
function lateralRecursion(closure: Closure): SQL {
  const steps = stepsOf(closure)
  if (steps.length === 0) return sql``
  const NEXT = sql.identifier('next')
  const keys = Array.from({ length: widthOf(closure) }, (_, index) => key(index))
  const parts = steps.map(({ child, from, where }) => {
    const childKeys = keys.map((name, index) => sql`${encodedKey(closure, child, index)} as ${name}`)
    const [tables, joins] = [list(from.map(({ table }) => table)), all(from.map(({ on }) => on))]
    return sql`select ${tableNumber(closure, child)} as ${TABLE}, ${list(childKeys)} from ${tables} where ${joins} and ${where}`
  })
  const columns = [...[TABLE, ...keys].map(name => sql`${NEXT}.${name}`), sql`${CLOSURE}.${GROUP}`, sql`${CLOSURE}.${TIME}`]
  return sql` union select ${list(columns)} from ${CLOSURE} cross join lateral (${sql.join(parts, sql` union all `)}) as ${NEXT}`
}
