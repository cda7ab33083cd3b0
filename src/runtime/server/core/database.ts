/** Stores the database of one API. The app sets it once at startup. The API resolves it for every request. */
import { assertEngine, createEngine, type EngineName } from '../engines/index'
import type { Engine } from '../engines/engine'

/** Returns the database of a request. */
type Source = (event?: unknown) => unknown

export interface Database {
  /** @throws When the engine is unknown, the value is not a Drizzle database, or the database belongs to another engine. */
  readonly initialize: (db: object, engine: EngineName) => void
  /** @throws When the database is not initialized. */
  readonly get: (event?: unknown) => unknown
  /** Returns the engine of the request's database. Each database has one engine object. @throws When the database is not initialized. */
  readonly engine: (event?: unknown) => Engine
}

export function createDatabase(): Database {
  let source: { readonly get: Source, readonly engine: EngineName } | undefined
  const engines = new WeakMap<object, Engine>()

  function requireSource() {
    if (source) return source
    throw new Error(
      '[auto-api] There is no database yet. Call initializeDatabase(db, engine) in a server plugin (server/plugins/database.ts).',
    )
  }

  function engineOf(db: object, name: EngineName): Engine {
    let engine = engines.get(db)
    if (!engine) engines.set(db, engine = createEngine(name, db))
    return engine
  }

  return {
    initialize(db, engine) {
      assertEngine(engine)
      if (typeof db === 'function') {
        source = { get: oncePerRequest(db as Source), engine }
        return
      }
      engineOf(db, engine)
      source = { get: () => db, engine }
    },
    get: event => requireSource().get(event),
    engine(event) {
      const { get, engine } = requireSource()
      return engineOf(get(event) as object, engine)
    },
  }
}

/** Calls the function once for each request and caches the database it returns. */
function oncePerRequest(get: Source): Source {
  const databases = new WeakMap<object, unknown>()
  return (event) => {
    if (typeof event !== 'object' || event === null) return get(event)
    if (!databases.has(event)) databases.set(event, get(event))
    return databases.get(event)
  }
}
