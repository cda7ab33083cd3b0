/** A test server in memory over the tables of one test. */
import Database from 'better-sqlite3'
import type { Table } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import type { AutoApiPlugin } from '../../src/runtime/server/plugin/contract'
import type { ResourceRegistration } from '../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../src/runtime/shared/config'
import { createServer, type TestServer } from './server'

export interface TablesServer extends TestServer {
  /** Every row of a table, as the database holds it. */
  readonly rows: (table: string) => unknown[]
}

export const OPEN = Object.freeze({ read: true, create: true, update: true, delete: true })

/** @param modules the tables of each schema file, by export name */
export async function serveTables(
  ddl: string,
  modules: Record<string, Table>[],
  registrations: Record<string, Omit<ResourceRegistration, 'name'>>,
  config: Partial<AutoApiConfig> = {},
  plugins: readonly AutoApiPlugin[] = [],
): Promise<TablesServer> {
  const client = new Database(':memory:')
  client.exec(ddl)
  const server = await createServer({
    registrations: Object.entries(registrations).map(([name, registration]) => ({ name, ...registration })),
    modules,
    db: drizzle({ client }),
    config,
    plugins,
  })
  return { ...server, rows: table => client.prepare(`select * from "${table}"`).raw().all() }
}
