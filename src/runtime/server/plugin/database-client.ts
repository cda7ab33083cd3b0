/** The client of the app's database, for parts of the server that need a connection of their own. */
import type { Dialect } from '../../shared/dialects'
import { defineService } from '../core/extensions/services'
import type { Database } from '../core/replicas/database'
import { primaryDatabase } from '../core/replicas/options'
import { toDatabase } from '../engines/drizzle-database'
import type { PluginServer } from './server'

export interface DatabaseClient {
  readonly dialect: Dialect
  /** The client of the driver, such as a pool. */
  readonly client: unknown
}

const CLIENT = defineService<() => DatabaseClient>('database client')

export function provideDatabaseClient({ services }: PluginServer, database: Database): void {
  services.set(CLIENT, () => ({
    dialect: database.engine().dialect,
    client: (toDatabase(primaryDatabase(database.get() as object)).session as { readonly client?: unknown }).client,
  }))
}

/** @throws When the database is not initialized. */
export const findDatabaseClient = ({ services }: PluginServer): DatabaseClient => services.get(CLIENT)!()
