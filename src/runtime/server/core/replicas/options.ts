/** Checks the replicas of a database: those of the options, and those of Drizzle's `withReplicas()`. */
import { didYouMean } from '../../../shared/suggest'
import { hasSessions } from '../../engines/d1-sessions'
import { toDatabase } from '../../engines/drizzle-database'
import type { Engine } from '../../engines/engine'
import { createD1Replicas } from './d1'
import { createReplicas, type Replicas } from './replicas'

export interface DatabaseOptions {
  /** The Drizzle databases of one or several read replicas, of Postgres or MariaDB. */
  readonly replica?: object | readonly object[]
  /**
   * Milliseconds that a replica can be behind. Reads do not use one that is further behind.
   * @default 10000
   */
  readonly maxLag?: number
  /**
   * Whether repeated reads are prepared statements with names, which Postgres parses once for each connection. Only with
   * drizzle-orm/node-postgres, and not behind a pooler.
   * @default false
   */
  readonly prepare?: boolean
  /**
   * Whether reads use sessions of Cloudflare D1, and so its replicas. Only with the engine `d1`.
   * @default false
   */
  readonly sessions?: boolean
}

const NAMES: Readonly<Record<keyof DatabaseOptions, true>> = { replica: true, maxLag: true, prepare: true, sessions: true }
const DEFAULT_MAX_LAG = 10_000
const MIN_MAX_LAG = 100

/** What `withReplicas()` of Drizzle returns, in 0.45 and 1.0. */
interface DrizzleReplicas {
  readonly $primary?: unknown
  readonly $replicas?: unknown
}

/**
 * @param engine the name of the engine
 * @throws When an option is unknown or has an invalid value.
 */
export function assertOptions(db: object, options: unknown, engine: string): asserts options is DatabaseOptions {
  if (typeof options !== 'object' || options === null) throw invalid('the options must be an object, such as `{ replica }`.')
  const unknown = Object.keys(options).find(name => !Object.hasOwn(NAMES, name))
  if (unknown !== undefined) throw invalid(`the option \`${unknown}\` is unknown.${didYouMean(unknown, Object.keys(NAMES))}`)
  const { replica, maxLag, prepare, sessions } = options as DatabaseOptions
  if (sessions !== undefined && typeof sessions !== 'boolean') throw invalid('`sessions` must be `true` or `false`.')
  if (sessions === true && engine !== 'd1') throw invalid(`\`sessions\` requires the engine 'd1', not '${engine}'.`)
  if (sessions === true && maxLag !== undefined) throw invalid('`maxLag` has no effect with `sessions`: D1 chooses the replica.')
  if (prepare !== undefined && typeof prepare !== 'boolean') throw invalid('`prepare` must be `true` or `false`.')
  if (maxLag !== undefined && !(Number.isSafeInteger(maxLag) && maxLag >= MIN_MAX_LAG))
    throw invalid(`\`maxLag\` must be a whole number of milliseconds, ${MIN_MAX_LAG} or more.`)
  if (replica === undefined) return
  if (typeof db === 'function')
    throw invalid('`replica` requires a database, not a function. Let the function return `withReplicas(primary, [replica])` of Drizzle.')
  if ((db as DrizzleReplicas).$replicas !== undefined)
    throw invalid('the database is a `withReplicas()` of Drizzle already. Remove `replica`.')
  const replicas = [replica].flat() as readonly unknown[]
  if (replicas.length === 0) throw invalid('`replica` is an empty list.')
  if (replicas.some(one => typeof one !== 'object' || one === null))
    throw invalid('`replica` must be a Drizzle database, or a list of them.')
  if (replicas.includes(db)) throw invalid('`replica` is the database itself.')
}

/** Returns the database that writes: for a `withReplicas()` of Drizzle, its primary. */
export const primaryDatabase = (db: object): object => ((db as DrizzleReplicas).$primary as object | undefined) ?? db

/**
 * @param create creates the engine of a database
 * @throws When the API does not support replicas of the engine, or a replica is no database of the engine.
 */
export function resolveReplicas(
  db: object, primary: Engine, { replica, maxLag = DEFAULT_MAX_LAG, sessions }: DatabaseOptions, create: (db: object) => Engine,
): Replicas | undefined {
  if (sessions === true) {
    if (!hasSessions(toDatabase(db))) throw invalid('`sessions` requires the binding of a D1 database that has `withSession()`.')
    return createD1Replicas(db, create)
  }
  const { $replicas } = db as DrizzleReplicas
  const found = replica === undefined ? $replicas as readonly object[] | undefined ?? [] : [replica].flat() as readonly object[]
  if (found.length === 0) return undefined
  if (!primary.adapter.replication) {
    // Drizzle's own queries use the replicas on every dialect. The API then uses the primary.
    if (replica === undefined) return undefined
    throw invalid(
      `replicas require Postgres or MariaDB. The API does not compare replicas of the engine '${primary.name}' with their primary.`,
    )
  }
  for (const one of found) keepPoolAlive(one)
  return createReplicas(primary, found.map(create), maxLag)
}

interface Pool {
  readonly on?: (event: 'error', listen: () => void) => unknown
  readonly listenerCount?: (event: 'error') => number
}

/** Without a listener, Node ends the process when a server closes the idle connection of a pool. The next check reports the outage. */
function keepPoolAlive(db: object): void {
  const { $client: pool } = db as { readonly $client?: Pool }
  if (typeof pool?.on === 'function' && pool.listenerCount?.('error') === 0) pool.on('error', () => {})
}

const invalid = (message: string) => new TypeError(`[auto-api] initializeDatabase(): ${message}`)
