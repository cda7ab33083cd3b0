/** Each reached row once, in the group of the nearest row that the closure starts from. */
import { sql, type SQL } from 'drizzle-orm'
import { adapterOf, CLOSURE, GROUP, key, list, TABLE, widthOf, type Closure } from './closure'

/** `reached`, or the query below as `reached` where the closure starts from several rows. */
export function fromClosure(closure: Closure): SQL {
  return closure.manyRoots ? sql`${nearestRoot(closure)} as ${CLOSURE}` : sql`${CLOSURE}`
}

/**
 * `(select * from (select *, row_number() over (partition by t, k0 order by n) as m from (… numbered n …) as r) as r where m = 1)`:
 * a recursive query finds rows step by step, so a row is found first on the shortest path to it.
 */
function nearestRoot(closure: Closure): SQL {
  const [ROWS, FOUND, TIMES] = [sql.identifier('r'), sql.identifier('n'), sql.identifier('m')]
  const keys = [TABLE, ...Array.from({ length: widthOf(closure) }, (_, index) => key(index))]
  const columns = list([...keys, GROUP])
  const numbered = adapterOf(closure).numbered(columns, sql`${CLOSURE}`, sql`${FOUND}`)
  const rank = sql`row_number() over (partition by ${list(keys)} order by ${FOUND}) as ${TIMES}`
  const ranked = sql`select ${columns}, ${rank} from (${numbered}) as ${ROWS}`
  return sql`(select ${columns} from (${ranked}) as ${ROWS} where ${TIMES} = 1)`
}
