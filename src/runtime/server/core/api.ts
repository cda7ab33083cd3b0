/** The API as a value: what is known before the first request, and what was added to it. */
import type { AutoApiConfig } from '../../shared/config'
import type { TableGraph } from '../schema/graph'
import type { Resource } from '../schema/model'
import type { Database } from './database'
import type { Extensions } from './extensions'
import type { FindSecret } from './secret'
import type { StatementCache } from './sql/statement-cache'

/** Frozen. Two APIs in one process share nothing. */
export interface Api extends Extensions {
  readonly config: AutoApiConfig
  readonly resources: ReadonlyMap<string, Resource>
  /** Every known table and the tables that refer to it. */
  readonly graph: TableGraph
  readonly statements: StatementCache
  readonly database: Database
  /** Sets the database. @throws As {@link Database.initialize}. */
  readonly initializeDatabase: Database['initialize']
  /** Path segments below a resource that are routes: no record can have them as its id. */
  readonly reservedIds: ReadonlySet<string>
  /** The secret for signatures and encryption; `undefined` when the app has not set one. */
  readonly secret?: FindSecret
}
