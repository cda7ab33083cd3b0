/** SQL over entries that is built once and used in many requests. It has no parameters. */
import { aliasedTable, type SQL, type Table } from 'drizzle-orm'
import { createLruCache } from '../../../engines/lru-cache'
import { toFixedSql } from '../../../core/sql/outline'

/** Readers with different fields need different SQL. */
const MAX_FIXED = 500

const caches = new WeakMap<object, ReturnType<typeof createLruCache<SQL>>>()

/**
 * Returns the SQL for a key. `build` runs only if the cache does not contain the key.
 * @param owner the API: its resources and their SQL do not change
 * @param key SQL with the same key must have the same text
 */
export function fixedSql(owner: object, key: string, build: () => SQL): SQL {
  let cache = caches.get(owner)
  if (!cache) caches.set(owner, cache = createLruCache(MAX_FIXED))
  return cache(key, () => toFixedSql(build()))
}

const aliases = new WeakMap<Table, Map<string, Table>>()

/** An alias of a table. The same object for each name. */
export function aliasOf(table: Table, name: string): Table {
  let known = aliases.get(table)
  if (!known) aliases.set(table, known = new Map())
  let alias = known.get(name)
  if (!alias) known.set(name, alias = aliasedTable(table, name))
  return alias
}
