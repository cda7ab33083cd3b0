/** The tests that every engine must pass. They need no test runner. */
import type { Engine } from '../../server/engines/engine'
import { COMMIT_CASES } from './commit-cases'
import { CONCURRENCY_CASES } from './concurrency-cases'
import { DIALECT_CASES } from './dialect-cases'
import { openScene, type EngineCase } from './scene'
import { STATEMENT_CASES } from './statement-cases'
import { VALUE_CASES } from './value-cases'

/** An engine and the database that it uses. */
export interface OpenedEngine {
  readonly engine: Engine
  /** The database for which the engine was created. */
  readonly db: unknown
  readonly close: () => unknown
}

export interface EngineSuiteOptions<Opened extends OpenedEngine = OpenedEngine> {
  /**
   * Opens an engine. Each test opens one, creates tables with names of its own, removes them and calls `close`. Tests can therefore share
   * a database and run at the same time.
   */
  readonly create: () => Opened | Promise<Opened>
  /**
   * Runs a statement in a transaction of another connection, and returns a function that rolls this transaction back. With it, the suite
   * also tests a locked database. The connections of the engine need a short lock timeout.
   */
  readonly block?: (opened: Opened, sql: string) => Promise<() => unknown>
}

export interface EngineTest {
  /** The promise of the engine, as a sentence about it. */
  readonly name: string
  /** @throws When the engine breaks the promise. */
  readonly run: () => Promise<void>
}

/**
 * Returns the tests of everything that the API expects from an engine: all or nothing, expectations, values, constraints, concurrency.
 * @example
 * for (const { name, run } of engineSuite({ create: () => ({ engine: createEngine(own, db), db, close: () => {} }) })) it(name, run)
 */
export function engineSuite<Opened extends OpenedEngine>({ create, block }: EngineSuiteOptions<Opened>): readonly EngineTest[] {
  const cases: readonly EngineCase[] = [
    ...COMMIT_CASES, ...STATEMENT_CASES, ...VALUE_CASES, ...DIALECT_CASES, ...CONCURRENCY_CASES.filter(({ blocks }) => block || !blocks),
  ]
  return cases.map(({ name, run }) => ({
    name,
    async run() {
      const opened = await create()
      try {
        const scene = await openScene(opened.engine, block && (sql => block(opened, sql)))
        try {
          await run(scene)
        }
        finally {
          await scene.close()
        }
      }
      finally {
        await opened.close()
      }
    },
  }))
}
