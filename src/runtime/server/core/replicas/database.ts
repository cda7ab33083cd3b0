/** Stores the database of one API. The app sets it once at startup. The API resolves it for every request. */
import { assertEngine, createEngine, type EngineName } from '../../engines/index'
import type { EngineDefinition } from '../../engines/define'
import type { CommitEntry, Engine, Statement } from '../../engines/engine'
import { lengthOf } from '../../engines/observe'
import { createAttached } from '../process/request-scoped'
import { traceCommit, traceStatement } from '../process/trace'
import { assertOptions, primaryDatabase, resolveReplicas, type DatabaseOptions } from './options'
import type { Replicas } from './replicas'
import { memoized } from '../memoized'

/** Returns the database of a request. */
type Source = (event?: unknown) => unknown

export interface Database {
  /**
   * @throws When the engine is unknown, the value is not a Drizzle database, or the database belongs to another engine. Also when an option
   * is invalid.
   */
  readonly initialize: (db: object, engine: EngineName | EngineDefinition, options?: DatabaseOptions) => void
  /** @throws When the database is not initialized. */
  readonly get: (event?: unknown) => unknown
  /** Returns the engine of the request's database. Each database has one engine object. @throws When the database is not initialized. */
  readonly engine: (event?: unknown) => Engine
  /** Returns the replicas of the request's database, or `undefined` if it has none. @throws When the database is not initialized. */
  readonly replicas: (event?: unknown) => Replicas | undefined
}

export function createDatabase(): Database {
  let source: { readonly get: Source, readonly connect: (db: object) => Connected } | undefined

  function requireSource() {
    if (source) return source
    throw new Error(
      '[auto-api] There is no database yet. Call initializeDatabase(db, engine) in a server plugin (server/plugins/database.ts).',
    )
  }

  const connected = (event: unknown) => {
    const { get, connect } = requireSource()
    return connect(get(event) as object)
  }

  return {
    initialize(db, engine, options = {}) {
      assertEngine(engine)
      assertOptions(db, options)
      const connect = oncePerDatabase(engine, options)
      if (typeof db === 'function') {
        source = { get: oncePerRequest(db as Source), connect }
        return
      }
      connect(db)
      source = { get: () => db, connect }
    },
    get: event => requireSource().get(event),
    engine: event => connected(event).engine,
    replicas: event => connected(event).replicas,
  }
}

/** What the API creates once for each database. */
interface Connected {
  readonly engine: Engine
  readonly replicas?: Replicas
}

function oncePerDatabase(definition: EngineName | EngineDefinition, options: DatabaseOptions): (db: object) => Connected {
  const create = (db: object) => traced(createEngine(definition, db, { prepare: options.prepare, observe: traceStatement }))
  return memoized((db: object): Connected => {
    // The engine checks whether the value is a database.
    const engine = create(typeof db === 'object' && db !== null ? primaryDatabase(db) : db)
    return { engine, replicas: resolveReplicas(db, engine, options, create) }
  })
}

/** Measures the reads and commits of an engine. The engine measures the statements of a commit. */
const traced = (engine: Engine): Engine => Object.freeze({
  ...engine,
  query: (statement: Statement) => traceStatement(() => [statement.text], () => engine.query(statement), lengthOf),
  commit: (entries: readonly CommitEntry[]) => traceCommit(entries.length, () => engine.commit(entries)),
})

/** Calls the function once for each request and caches the database it returns. */
function oncePerRequest(get: Source): Source {
  const databases = createAttached<unknown>('database')
  return (event) => {
    if (typeof event !== 'object' || event === null) return get(event)
    const known = databases.get(event)
    if (known !== undefined) return known
    const found = get(event)
    databases.set(event, found)
    return found
  }
}
