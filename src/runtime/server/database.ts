/** The database of the app's default API. A server plugin sets it once. The API resolves it for every request. */
import { useRuntime } from './api/runtime'
import type { DatabaseOptions } from './core/replicas/options'
import type { EngineDefinition } from './engines/define'
import type { EngineName } from './engines/index'

export { createEngine, type EngineName } from './engines/index'
export type { DatabaseOptions } from './core/replicas/options'
export type { DefinedEngine, EngineDefinition } from './engines/define'
export {
  BusyError,
  ExpectationError,
  InvalidValueError,
  TooComplexError,
  type BuiltStatement,
  type CommitEntry,
  type DerivedStatements,
  type Engine,
  type Outcome,
  type Row,
  type Statement,
  type WriteStatement,
} from './engines/engine'

/** Returns the database of a request. The event is h3's. Its type is `any`, because only the HTTP adapter imports h3. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the app's platform decides what the event holds
export type DatabaseOfEvent = (event: any) => object

/**
 * Sets the database of the API. Call it in a Nitro plugin.
 * @param db any Drizzle database, or a function that returns it. The API calls the function once per request with the event, because
 * D1's binding comes with the event. The event of a Nitro task works too. Outside of a request the function gets no event.
 * @param engine the name of the database driver, or an engine of {@link defineEngine}. It decides how writes are committed.
 * @param options the read replicas of the database, which a `withReplicas()` of Drizzle has already, and prepared statements.
 * @throws When the engine is unknown or has an invalid member, the value is not a Drizzle database, or the database belongs to another
 * engine. Also when an option is invalid.
 * @example
 * export default defineNitroPlugin(() => {
 *   initializeDatabase(drizzle({ client: new Database('app.db') }), 'better-sqlite3')
 * })
 * @example
 * export default defineNitroPlugin(() => {
 *   initializeDatabase(event => drizzle(event.context.cloudflare.env.DB), 'd1')
 * })
 */
export function initializeDatabase(
  db: object | DatabaseOfEvent, engine: EngineName | EngineDefinition, options: DatabaseOptions = {},
): void {
  useRuntime().database.initialize(db, engine, options)
}

/**
 * Returns the Drizzle database that {@link initializeDatabase} has set.
 * @param event the event of the request. It is required if the database comes with the event.
 * @throws When `initializeDatabase` was not called.
 * @example
 * const db = getDatabase(event) as ReturnType<typeof drizzle>
 */
export function getDatabase(event?: unknown): unknown {
  return useRuntime(event).database.get(event)
}

/**
 * Adds types to the definition of an engine, for a database or a driver that has no built-in engine. It returns its argument. Run the
 * tests of `nuxt-auto-api/testing` on the engine, because the API relies on all of its promises.
 * @example
 * export const measured = defineEngine({
 *   name: 'measured',
 *   dialect: 'sqlite',
 *   create(db) {
 *     const engine = createEngine('libsql', db)
 *     return { ...engine, query: statement => measure(() => engine.query(statement)) }
 *   },
 * })
 */
export function defineEngine(definition: EngineDefinition): EngineDefinition {
  return definition
}
