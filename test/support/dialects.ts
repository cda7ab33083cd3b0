/** The dialects of Drizzle, which render SQL. SQLite's class has another name in each major version, so a database provides it. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { MySqlDialect } from 'drizzle-orm/mysql-core'
import { PgDialect } from 'drizzle-orm/pg-core'
import { toDatabase } from '../../src/runtime/server/engines/drizzle-database'

export const DIALECTS = {
  sqlite: toDatabase(drizzle({ client: new Database(':memory:') })).dialect,
  pg: new PgDialect(),
  mysql: new MySqlDialect(),
}
