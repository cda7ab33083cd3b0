/** Example of the docs page `from-handlers`: the connection that the handlers have already. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'

export const client = new Database(':memory:')
export const db = drizzle({ client })
