/** The database of one API: given once when the server starts, resolved for every request. */
import { assertEngine, createEngine, type EngineName } from '../engines/index'
import type { Engine } from '../engines/engine'

/** Returns the database of a request. */
type Source = (event?: unknown) => unknown

export interface Database {
  /** @throws When the engine is unknown, the value is not a Drizzle database, or the database is one of another engine. */
  readonly initialize: (db: object, engine: EngineName) => void
  /** @throws When the database is not initialized. */
  readonly get: (event?: unknown) => unknown
  /** The engine of the request's database; made once per database. @throws As `get`. */
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

/** The function is called once for each request. */
function oncePerRequest(get: Source): Source {
  const databases = new WeakMap<object, unknown>()
  return (event) => {
    if (typeof event !== 'object' || event === null) return get(event)
    if (!databases.has(event)) databases.set(event, get(event))
    return databases.get(event)
  }
}
