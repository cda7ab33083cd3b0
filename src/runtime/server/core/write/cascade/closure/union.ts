/** The recursion of SQLite and MySQL: one recursive term for each foreign key. */
import { sql, type SQL } from 'drizzle-orm'
import { CLOSURE, GROUP, tableNumber, TIME, type Closure } from './closure'
import { keyList } from './keys'
import { stepsOf } from './steps'

/**
 * The columns of the closure are those of `CLOSURE`.
 *
 * union select 1, comments.id, reached.g, reached.d
 * from reached inner join comments on comments.post_id = reached.k0 where reached.t = 0 and …
 */
export function unionRecursion(closure: Closure): SQL {
  const terms = stepsOf(closure).map(({ child, from, where }) => {
    const joins = sql.join(from.map(({ table, on }) => sql` inner join ${table} on ${on}`), sql``)
    const group = sql`${CLOSURE}.${GROUP}, ${CLOSURE}.${TIME}`
    return sql` union select ${tableNumber(closure, child)}, ${keyList(closure, child)}, ${group} from ${CLOSURE}${joins} where ${where}`
  })
  return sql.join(terms, sql``)
}
