/** The engines by name. Each has a dialect and a mechanism that commits its statements. */
import { sql } from 'drizzle-orm'
import { didYouMean } from '../../shared/suggest'
import type { Dialect } from '../../shared/dialects'
import type { Engine } from './engine'
import { assertDefinition, createDefinedEngine, type EngineDefinition } from './define'
import { createBatchEngine } from './batch'
import { assertDriver, canPrepare, NEON_HTTP, type Mechanism } from './assert-driver'
import { createInteractiveEngine } from './interactive'
import type { Observed } from './observe'
import { toDatabase } from './drizzle-database'
import { createSynchronousEngine } from './synchronous'

export interface EngineOptions extends Observed {
  /** Whether repeated reads are prepared statements with names. Only for direct connections of node-postgres. @default false */
  readonly prepare?: boolean
}

interface EngineRow {
  readonly dialect: Dialect
  readonly mechanism: Mechanism
  readonly create: (name: string, db: unknown, options: EngineOptions) => Engine
  /** Statements that run once on each new database. Only synchronous engines have them. */
  readonly setUp?: readonly string[]
}

const interactive = (dialect: Dialect): EngineRow => ({
  dialect,
  mechanism: 'interactive',
  create: (name, db, options) => createInteractiveEngine(name, db, dialect, MAX_PARAMETERS[dialect], options),
})

/** The maximum number of parameters of one statement. Postgres and MySQL count parameters with 16 bits. postgres.js accepts two less. */
const MAX_PARAMETERS = { sqlite: 32_766, pg: 65_533, mysql: 65_535 }

export const ENGINES = {
  'better-sqlite3': { dialect: 'sqlite', mechanism: 'synchronous', create: createSynchronousEngine, setUp: ['pragma foreign_keys = on'] },
  'd1': { dialect: 'sqlite', mechanism: 'batch', create: createBatchEngine },
  'libsql': interactive('sqlite'),
  'turso': interactive('sqlite'),
  'postgres': interactive('pg'),
  'neon': interactive('pg'),
  'mysql': interactive('mysql'),
  'planetscale': interactive('mysql'),
} as const satisfies Record<string, EngineRow>

/** A supported database engine. */
export type EngineName = keyof typeof ENGINES

/**
 * Creates the engine of a database.
 * @throws When the engine is neither a supported name nor a valid definition, or the database does not fit the engine or the options.
 * @example
 * const engine = createEngine('libsql', drizzle({ client }))
 */
export function createEngine(engine: EngineName | EngineDefinition, db: unknown, options: EngineOptions = {}): Engine {
  assertEngine(engine)
  if (options.prepare === true && (typeof engine !== 'string' || !canPrepare(toDatabase(db))))
    throw new TypeError(
      '[auto-api] initializeDatabase(): `prepare` requires drizzle-orm/node-postgres. postgres.js prepares its statements itself, '
      + 'unless its own option `prepare` is false.',
    )
  return typeof engine === 'string' ? createNamedEngine(engine, db, options) : createDefinedEngine(engine, db)
}

function createNamedEngine(name: EngineName, db: unknown, options: EngineOptions): Engine {
  const { create, setUp = [], ...row }: EngineRow = ENGINES[name]
  assertDriver(name, row, toDatabase(db))
  const engine = create(name, db, options)
  for (const text of setUp) void engine.commit([{ text: engine.render(sql.raw(text)).text, values: [] }])
  return engine
}

/** @throws When the engine is neither a supported name nor a valid definition. */
export function assertEngine(engine: unknown): asserts engine is EngineName | EngineDefinition {
  const names = Object.keys(ENGINES)
  if (typeof engine === 'object' && engine !== null) return assertDefinition(engine, names)
  if (Object.hasOwn(ENGINES, engine as string)) return
  if (engine === 'neon-http') throw new TypeError(`[auto-api] initializeDatabase(): ${NEON_HTTP}`)
  throw new TypeError(
    `[auto-api] initializeDatabase(): "${String(engine)}" is not a supported engine. `
    + `Use one of: ${names.join(', ')}; or an engine of \`defineEngine()\`.${didYouMean(String(engine), names)}`,
  )
}
