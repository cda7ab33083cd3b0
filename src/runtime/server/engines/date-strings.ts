/**
 * Lets mysql2 return times as text by its option `dateStrings`. Drizzle passes a `typeCast` that returns the same text, but mysql2 calls
 * it for every value of a row.
 */
import type { DrizzleDatabase } from './drizzle-database'

interface Config { readonly typeCast?: unknown }

/** The members of mysql2's pools and connections, as far as this file uses them. */
interface Client {
  readonly query: (options: object, values: unknown) => Promise<unknown>
  readonly pool?: { readonly config?: { readonly connectionConfig?: Config } }
  readonly connection?: { readonly config?: Config }
}

/**
 * Returns a database for statements that read rows. It is the same one if the client is not mysql2's, or if the app has configured its own
 * `typeCast`, which would then convert the values.
 */
export function withDateStrings(db: DrizzleDatabase): DrizzleDatabase {
  const { client } = db.session as { readonly client?: Client }
  const config = client?.pool?.config?.connectionConfig ?? client?.connection?.config
  if (!client || config?.typeCast !== true) return db
  const query = (options: object, values: unknown) => client.query({ ...options, typeCast: undefined, dateStrings: true }, values)
  return Object.create(db, { session: { value: Object.create(db.session, { client: { value: { query } } }) } }) as DrizzleDatabase
}
