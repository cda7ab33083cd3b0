/** The type of one API: its configuration, resources and database, and the extensions that the app and its plugins add. */
import type { AutoApiConfig } from '../../shared/config'
import type { TableGraph } from '../schema/graph'
import type { Resource } from '../schema/model'
import type { Database } from './replicas/database'
import type { Extensions } from './extensions/extensions'
import type { FindSecrets } from './process/secret'
import type { StatementCache } from './sql/statement-cache'

/** The object is frozen. Two APIs in one process share no state. */
export interface Api extends Extensions {
  readonly config: AutoApiConfig
  readonly resources: ReadonlyMap<string, Resource>
  /** Every known table and the tables that refer to it. */
  readonly graph: TableGraph
  readonly statements: StatementCache
  readonly database: Database
  /** Sets the database. @throws As {@link Database.initialize}. */
  readonly initializeDatabase: Database['initialize']
  /** Path segments after the resource that belong to other routes. No record can have such a segment as its id. */
  readonly reservedIds: ReadonlySet<string>
  /** Finds the secrets for hashes and encryption. It returns `undefined` if the app has not set one. */
  readonly secrets?: FindSecrets
}
