/** Selects each reached row once. A row that several start rows reach gets the group of the nearest one. */
import { sql, type SQL } from 'drizzle-orm'
import { adapterOf, CLOSURE, GROUP, key, list, TABLE, widthOf, type Closure } from './closure'

/** Returns the closure for a FROM clause: `reached`, or `(select …) as reached` if the closure starts from several rows. */
export function fromClosure(closure: Closure): SQL {
  return closure.manyRoots ? sql`${nearestRoot(closure)} as ${CLOSURE}` : sql`${CLOSURE}`
}

/**
 * Selects the first occurrence of each row. A recursive query returns rows by depth, so the first occurrence has the shortest path.
 * `n` is the position of a row in `reached`. `m` counts the occurrences of the same row.
 *
 * ```sql
 * (select t, k0, g from (
 *   select t, k0, g, row_number() over (partition by t, k0 order by n) as m from (
 *     select t, k0, g, row_number() over () as n from reached
 *   ) as r
 * ) as r where m = 1)
 * ```
 */
function nearestRoot(closure: Closure): SQL {
  const [ROWS, POSITION, OCCURRENCE] = [sql.identifier('r'), sql.identifier('n'), sql.identifier('m')]
  const keys = [TABLE, ...Array.from({ length: widthOf(closure) }, (_, index) => key(index))]
  const columns = list([...keys, GROUP])
  const numbered = adapterOf(closure).numbered(columns, sql`${CLOSURE}`, sql`${POSITION}`)
  const occurrence = sql`row_number() over (partition by ${list(keys)} order by ${POSITION}) as ${OCCURRENCE}`
  const ranked = sql`select ${columns}, ${occurrence} from (${numbered}) as ${ROWS}`
  return sql`(select ${columns} from (${ranked}) as ${ROWS} where ${OCCURRENCE} = 1)`
}
