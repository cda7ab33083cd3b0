/**
 * Keeps the plans of SQLite's queries. SQLite looks at the values of `a = ?` and `limit ?` while it plans a query. So it plans the query
 * again each time a value is bound, even if no value can change the plan. It does not look into `likely(?)`, which has the same value.
 */
import { TOKENS } from './encode-parameters'

/** Returns the rows of a query about the database. */
export type ReadSchema = (sql: string) => readonly (readonly unknown[])[]

/** With these statistics of ANALYZE, a value that is rare has another plan than one that is common. */
const STATISTICS = `select 1 from sqlite_master where name = 'sqlite_stat4'`
const OBJECTS = `select tbl_name, sql from sqlite_master where type in ('index', 'view') or sql like 'create virtual%'`

/** An index of columns, without a condition or with one that contains no value. A query uses a partial index only for certain values. */
const PLAIN_INDEX = /^create\s+(?:unique\s+)?index\b[^()]*\([^()]*\)\s*(?:where\s+[\w"`.[\]]+\s+is\s+(?:not\s+)?null\s*)?$/i

/** The pattern decides whether one of these operators uses an index. */
const PATTERN = /\b(?:like|glob|match|regexp)\s*$/i

/** Rewrites a query so that SQLite keeps its plan. Returns the same text if a value can change the plan. */
export function keepPlan(text: string, read: ReadSchema): string {
  if (dependsOnValues(text, read)) return text
  return text.replace(TOKENS, (token, position: number) => {
    const isPattern = PATTERN.test(text.slice(Math.max(0, position - 12), position))
    return token === '?' && !isPattern ? 'likely(?)' : token
  })
}

/**
 * Tables of other files have a schema of their own. A view, or the code of a virtual table, can use any index. The index of a constraint
 * has no SQL, and no condition.
 */
function dependsOnValues(text: string, read: ReadSchema): boolean {
  if (read(STATISTICS).length > 0 || read('pragma database_list').length > 1) return true
  return read(OBJECTS).some(([name, sql]) => sql !== null && text.includes(String(name)) && !PLAIN_INDEX.test(String(sql)))
}
