/** The database of the app's default API: given once in a server plugin, resolved for every request. */
import { useRuntime } from './api/runtime'
import type { EngineName } from './engines/index'

export type { EngineName as Engine } from './engines/index'

/** Returns the database of a request. The event's type is h3's, which only the HTTP adapter imports. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the app's platform decides what the event holds
export type DatabaseOfEvent = (event: any) => object

/**
 * Sets the database of the API. Call it in a Nitro plugin.
 * @param db any Drizzle database, or a function that returns it, called once per request: D1's binding comes with the event,
 * a Nitro task's event included. Outside of a request it is called without one.
 * @param engine the driver behind it: the engine decides how writes are committed.
 * @throws When the engine is unknown, the value is not a Drizzle database, or the database is one of another engine.
 * @example
 * export default defineNitroPlugin(() => {
 *   initializeDatabase(drizzle(new Database('app.db')), 'better-sqlite3')
 * })
 * @example
 * export default defineNitroPlugin(() => {
 *   initializeDatabase(event => drizzle(event.context.cloudflare.env.DB), 'd1')
 * })
 */
export function initializeDatabase(db: object | DatabaseOfEvent, engine: EngineName): void {
  useRuntime().database.initialize(db, engine)
}

/**
 * The Drizzle database given to {@link initializeDatabase}.
 * @param event the request, where the database comes with it.
 * @throws When `initializeDatabase` was not called.
 * @example
 * const db = getDatabase(event) as ReturnType<typeof drizzle>
 */
export function getDatabase(event?: unknown): unknown {
  return useRuntime(event).database.get(event)
}
