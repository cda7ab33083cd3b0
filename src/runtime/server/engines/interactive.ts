/** Commits statements one after another in a transaction, on Postgres, MySQL and libSQL. */
import { isPromise } from '../../shared/awaitable'
import type { Dialect } from '../../shared/dialects'
import { nameOf } from '../drizzle/index'
import { toQueryError } from './violation'
import type { DialectAdapter } from './dialects/adapter'
import { DIALECTS } from './dialects/index'
import { DRIVERS, type Driver } from './drivers'
import {
  ExpectationError, joinOutcomes, withCurrentValues,
  type CommitEntry, type Engine, type Outcome, type Row, type Statement, type WriteStatement,
} from './engine'
import { lengthOf, runOnly, type Observe, type Observed } from './observe'
import { createPreparedNames, isNameError } from './prepared-names'
import { withRetries } from './retry'
import { notAQueryBuilder, textOf, toDatabase, type DrizzleDatabase } from './drizzle-database'

interface Options extends Observed {
  /** Whether repeated reads outside of commits are prepared statements with names. @default false */
  readonly prepare?: boolean
}

/** @param maxParameters the maximum number of parameters of one statement in this dialect */
export function createInteractiveEngine(
  name: string, database: unknown, dialect: Dialect, maxParameters: number, { prepare = false, observe = runOnly }: Options = {},
): Engine {
  const db = toDatabase(database)
  const driver = DRIVERS[dialect]
  const observed = withObserver(driver, observe)
  const lock = driver.lock(db)
  const isCluster = createClusterTest(driver, DIALECTS[dialect])
  const commit = (entries: readonly CommitEntry[]) => driver.transaction(db, async (tx) => {
    const outcomes: Outcome[] = []
    for (const entry of entries) outcomes.push(await runAny({ driver: observed, tx, isCluster, observe }, entry, outcomes))
    return outcomes
  })
  const shouldRetry = (entry: CommitEntry | undefined) => entry !== undefined && 'retry' in entry && entry.retry === true

  const reader = driver.reader?.(db) ?? db
  const read = prepare ? preparedReader(driver, reader) : (statement: Statement) => driver.rows(reader, statement)

  const fail = (error: unknown): never => {
    throw toQueryError(dialect, error)
  }

  return Object.freeze({
    name,
    dialect,
    adapter: DIALECTS[dialect],
    maxParameters,
    concurrent: driver.concurrent,
    supportsFollowUp: true,
    blocking: driver.blocking(db),
    render(sql) {
      const { sql: text, params: values } = db.dialect.sqlToQuery(sql)
      return { text, values }
    },
    columnName: column => nameOf(db.dialect, column),
    query: statement => withRetries(() => lock.shared(() => read(statement)), () => false).catch(fail),
    commit: statements => withRetries(() => lock.exclusive(() => commit(statements)), index => shouldRetry(statements[index])),
  } satisfies Engine)
}

function preparedReader({ rows, named }: Driver, db: DrizzleDatabase): (statement: Statement) => Promise<readonly Row[]> {
  const names = createPreparedNames()
  return async (statement) => {
    const name = names.nameOf(statement.text)
    if (name === undefined) return rows(db, statement)
    try {
      return await named!(db, statement, name)
    }
    catch (error) {
      if (!isNameError(error)) throw error
      const found = await rows(db, statement)
      names.renew(name, error)
      return found
    }
  }
}

/** A transaction, and what runs statements in it. */
interface Transaction {
  readonly driver: Pick<Driver, 'rows' | 'run'>
  readonly tx: DrizzleDatabase
  readonly isCluster: (tx: DrizzleDatabase) => Promise<boolean>
  readonly observe: Observe
}

function withObserver({ rows, run }: Driver, observe: Observe): Transaction['driver'] {
  return {
    rows: async (tx, statement) => observe(() => [statement.text], () => rows(tx, statement), lengthOf),
    run: async (tx, statement) => observe(() => [statement.text], () => run(tx, statement), ({ affectedRows }) => affectedRows),
  }
}

/** Asks the database once, in the first transaction that needs it. */
function createClusterTest(driver: Driver, { cluster }: DialectAdapter): Transaction['isCluster'] {
  let known: boolean | undefined
  return async tx => known ??= cluster !== undefined && cluster.read(await driver.rows(tx, { text: cluster.text, values: [] }))
}

/** @param outcomes the outcomes of the earlier entries of the commit */
function runAny(transaction: Transaction, entry: CommitEntry, outcomes: readonly Outcome[]): Promise<Outcome> {
  if ('build' in entry) return runBuilt(transaction, entry.build(transaction.tx as never))
  return 'derive' in entry ? runDerived(transaction, entry.derive(outcomes), outcomes.length) : run(transaction, entry, outcomes.length)
}

async function runDerived(transaction: Transaction, statements: readonly WriteStatement[], index: number): Promise<Outcome> {
  const outcomes: Outcome[] = []
  for (const statement of statements) outcomes.push(await run(transaction, statement, index))
  return joinOutcomes(outcomes)
}

async function run(transaction: Transaction, statement: WriteStatement, index: number): Promise<Outcome> {
  const outcome = await runStatement(transaction, withCurrentValues(statement), index)
  statement.onOutcome?.(outcome)
  return outcome
}

async function runStatement({ driver, tx, isCluster }: Transaction, statement: WriteStatement, index: number): Promise<Outcome> {
  if (statement.returnsRows && !statement.readBack) {
    const rows = await driver.rows(tx, statement)
    for (const next of statement.followUp?.(rows) ?? []) await driver.run(tx, next)
    const outcome = assertExpected(statement, index, { rows, affectedRows: rows.length })
    if (statement.certify && await isCluster(tx)) for (const next of statement.certify(rows)) await driver.run(tx, next)
    return outcome
  }
  const { affectedRows, insertId } = await driver.run(tx, statement)
  assertExpected(statement, index, { rows: [], affectedRows })
  const readsBack = statement.readBack && affectedRows > 0
  return { rows: readsBack ? await driver.rows(tx, withCurrentValues(statement.readBack!(insertId))) : [], affectedRows }
}

function assertExpected({ expectedRows }: WriteStatement, index: number, outcome: Outcome): Outcome {
  if (expectedRows !== undefined && outcome.affectedRows !== expectedRows) throw new ExpectationError(index, outcome.affectedRows)
  return outcome
}

/** Runs a Drizzle query builder, which sends its query when it is awaited. Refuses a promise, because its query already runs. */
async function runBuilt({ observe }: Transaction, query: unknown): Promise<Outcome> {
  if (typeof (query as { then?: unknown } | null)?.then !== 'function' || isPromise(query)) {
    throw notAQueryBuilder()
  }
  const affected = (result: unknown) => Array.isArray(result) ? result.length : 0
  const result = await observe(() => [textOf(query)], async () => query, affected)
  return { rows: [], affectedRows: affected(result), result }
}
