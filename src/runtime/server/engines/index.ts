/** The engines by name: which mechanism commits for them, and what their dialect is. */
import { sql } from 'drizzle-orm'
import { didYouMean } from '../../shared/suggest'
import type { Dialect } from '../../shared/dialects'
import type { Engine } from './engine'
import { createBatchEngine } from './batch'
import { assertDriver, NEON_HTTP, type Mechanism } from './assert-driver'
import { createInteractiveEngine } from './interactive'
import { toDatabase } from './drizzle-database'
import { createSynchronousEngine } from './synchronous'

interface EngineRow {
  readonly dialect: Dialect
  readonly mechanism: Mechanism
  readonly create: (name: string, db: unknown) => Engine
  /** Run once on every new database: what the module relies on and the engine leaves off. Synchronous engines only. */
  readonly setUp?: readonly string[]
}

/** In a transaction, statement by statement. */
const interactive = (dialect: Dialect, maxParameters: number): EngineRow => ({
  dialect,
  mechanism: 'interactive',
  create: (name, db) => createInteractiveEngine(name, db, dialect, maxParameters),
})

/** A statement's parameters are counted in 16 bits. */
const SIXTEEN_BITS = 65_535
const OF_SQLITE = 32_766

export const ENGINES = {
  'better-sqlite3': { dialect: 'sqlite', mechanism: 'synchronous', create: createSynchronousEngine, setUp: ['pragma foreign_keys = on'] },
  'd1': { dialect: 'sqlite', mechanism: 'batch', create: createBatchEngine },
  'libsql': interactive('sqlite', OF_SQLITE),
  'turso': interactive('sqlite', OF_SQLITE),
  'postgres': interactive('pg', SIXTEEN_BITS),
  'neon': interactive('pg', SIXTEEN_BITS),
  'mysql': interactive('mysql', SIXTEEN_BITS),
  'planetscale': interactive('mysql', SIXTEEN_BITS),
} as const satisfies Record<string, EngineRow>

/** A supported database engine. */
export type EngineName = keyof typeof ENGINES

/** @throws When the name is not an engine, the value not a Drizzle database, or the database another engine's. */
export function createEngine(name: EngineName, db: unknown): Engine {
  assertEngine(name)
  const { create, setUp = [], ...row }: EngineRow = ENGINES[name]
  assertDriver(name, row, toDatabase(db))
  const engine = create(name, db)
  for (const text of setUp) void engine.commit([{ text: engine.render(sql.raw(text)).text, values: [] }])
  return engine
}

/** @throws When the name is not an engine; the message lists those there are. */
export function assertEngine(name: string): asserts name is EngineName {
  if (Object.hasOwn(ENGINES, name)) return
  if (name === 'neon-http') throw new TypeError(`[auto-api] initializeDatabase(): ${NEON_HTTP}`)
  const names = Object.keys(ENGINES)
  throw new TypeError(
    `[auto-api] initializeDatabase(): "${name}" is not a supported engine. Use one of: ${names.join(', ')}.${didYouMean(String(name), names)}`,
  )
}
