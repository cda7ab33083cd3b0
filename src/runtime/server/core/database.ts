/** Stores the database of one API. The app sets it once at startup. The API resolves it for every request. */
import { assertEngine, createEngine, type EngineName } from '../engines/index'
import type { EngineDefinition } from '../engines/define'
import type { Engine } from '../engines/engine'

/** Returns the database of a request. */
type Source = (event?: unknown) => unknown

export interface Database {
  /** @throws When the engine is unknown, the value is not a Drizzle database, or the database belongs to another engine. */
  readonly initialize: (db: object, engine: EngineName | EngineDefinition) => void
  /** @throws When the database is not initialized. */
  readonly get: (event?: unknown) => unknown
  /** Returns the engine of the request's database. Each database has one engine object. @throws When the database is not initialized. */
  readonly engine: (event?: unknown) => Engine
}

export function createDatabase(): Database {
  let source: { readonly get: Source, readonly engineOf: (db: object) => Engine } | undefined

  function requireSource() {
    if (source) return source
    throw new Error(
      '[auto-api] There is no database yet. Call initializeDatabase(db, engine) in a server plugin (server/plugins/database.ts).',
    )
  }

  return {
    initialize(db, engine) {
      assertEngine(engine)
      const engineOf = oncePerDatabase(engine)
      if (typeof db === 'function') {
        source = { get: oncePerRequest(db as Source), engineOf }
        return
      }
      engineOf(db)
      source = { get: () => db, engineOf }
    },
    get: event => requireSource().get(event),
    engine(event) {
      const { get, engineOf } = requireSource()
      return engineOf(get(event) as object)
    },
  }
}

function oncePerDatabase(definition: EngineName | EngineDefinition): (db: object) => Engine {
  const engines = new WeakMap<object, Engine>()
  return (db) => {
    let engine = engines.get(db)
    if (!engine) engines.set(db, engine = createEngine(definition, db))
    return engine
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
