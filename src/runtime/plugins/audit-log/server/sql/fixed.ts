/** SQL over entries that is built once and used in many requests. It has no parameters. */
import { aliasedTable, type SQL, type Table } from 'drizzle-orm'
import { createLruCache, memoized } from '../../../../server/kit/process'
import { constant, type Where } from '../../../../server/kit/where'

/** Readers with different fields need different SQL. */
const MAX_FIXED = 500

const cacheOf = memoized((_: object) => createLruCache<Where>(MAX_FIXED))

/**
 * Returns the SQL for a key. `build` runs only if the cache does not contain the key.
 * @param owner the API: its resources and their SQL do not change
 * @param key SQL with the same key must have the same text
 */
export function fixedSql(owner: object, key: string, build: () => SQL): Where {
  return cacheOf(owner)(key, () => constant(build()))
}

const aliasesOf = memoized((_: Table) => new Map<string, Table>())

/** An alias of a table. The same object for each name. */
export function aliasOf(table: Table, name: string): Table {
  const known = aliasesOf(table)
  let alias = known.get(name)
  if (!alias) known.set(name, alias = aliasedTable(table, name))
  return alias
}
