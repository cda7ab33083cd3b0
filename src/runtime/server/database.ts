/** The app's database: handed over once in a server plugin, asked for on every request. */
import { createEngine, assertEngine, type EngineName } from './engines/index'
import type { Engine } from './engines/engine'

export type { EngineName as Engine } from './engines/index'

type Source = (event?: unknown) => unknown

/** The database of a request. The event's type is h3's, which only the server's door knows. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- whatever the app's platform puts into the event is the app's to know
export type DatabaseOfEvent = (event: any) => object

let source: { readonly get: Source, readonly engine: EngineName } | undefined
const engines = new WeakMap<object, Engine>()

/**
 * Tells the API which database to use. Call it in a Nitro plugin.
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
  assertEngine(engine)
  if (typeof db === 'function') {
    source = { get: oncePerRequest(db as Source), engine }
    return
  }
  engineOf(db, engine)
  source = { get: () => db, engine }
}

/** Asked once for each request, and forgotten with it. */
function oncePerRequest(get: Source): Source {
  const given = new WeakMap<object, unknown>()
  return (event) => {
    if (typeof event !== 'object' || event === null) return get(event)
    if (!given.has(event)) given.set(event, get(event))
    return given.get(event)
  }
}

/**
 * The Drizzle database given to {@link initializeDatabase}.
 * @param event the request, where the database comes with it.
 * @throws When `initializeDatabase` was not called.
 * @example
 * const db = getDatabase(event) as ReturnType<typeof drizzle>
 */
export function getDatabase(event?: unknown): unknown {
  if (!source)
    throw new Error(
      '[auto-api] There is no database yet. Call initializeDatabase(db, engine) in a server plugin (server/plugins/database.ts).',
    )
  return source.get(event)
}

/** The engine of this request's database; made once per database. */
export function getEngine(event?: unknown): Engine {
  const db = getDatabase(event)
  return engineOf(db as object, source!.engine)
}

function engineOf(db: object, name: EngineName): Engine {
  let engine = engines.get(db)
  if (!engine) engines.set(db, engine = createEngine(name, db))
  return engine
}
