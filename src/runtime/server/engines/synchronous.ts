/** Commits statements in a synchronous transaction of better-sqlite3. */
import {
  BusyError, bytesOf, ExpectationError, joinOutcomes, TooLargeResult, withCurrentValues,
  type CommitEntry, type Engine, type Outcome, type Row, type Statement, type WriteStatement,
} from './engine'
import { createLruCache } from './lru-cache'
import { nameOf } from '../drizzle/index'
import { toQueryError } from './violation'
import { sqlite } from './dialects/sqlite'
import { lengthOf, runOnly, type Observed } from './observe'
import { keepPlan } from './prepared-plan'
import { isTransient } from './retry'
import { createStatementPreparer, notAQueryBuilder, textOf, toDatabase } from './drizzle-database'

/** The maximum number of prepared statements that read a limited size. Few requests include many records. */
const MAX_BOUNDED = 100

/** SQLite's default limit. */
const MAX_PARAMETERS = 32_766

/** Drizzle's session has the logger of the app. */
interface LoggingSession {
  readonly logger?: { readonly logQuery?: (text: string, values: readonly unknown[]) => void }
}

/** The driver behind Drizzle's database. */
interface Database {
  readonly $client: {
    readonly transaction: <A extends unknown[], R>(run: (...args: A) => R) => { readonly immediate: (...args: A) => R }
    readonly prepare: (sql: string) => { readonly raw: () => RawStatement }
  }
}

interface RawStatement {
  readonly all: () => unknown[][]
  readonly iterate: (...values: readonly unknown[]) => Iterable<Row>
}

export function createSynchronousEngine(name: string, database: unknown, { observe = runOnly }: Observed = {}): Engine {
  const db = toDatabase(database)
  const prepare = createStatementPreparer(db)
  const { $client: client } = database as Database
  const rewrite = (text: string) => keepPlan(text, sql => client.prepare(sql).raw().all())
  const prepareQuery = createStatementPreparer(db, rewrite)
  const bounded = createLruCache<RawStatement>(MAX_BOUNDED)

  /** Row by row takes twice as long, but ends early. Drizzle cannot do that, so this passes the statement to the app's logger itself. */
  function readBounded({ text, values }: Statement, maxBytes: number): readonly Row[] {
    (db.session as LoggingSession).logger?.logQuery?.(text, values)
    const rows: Row[] = []
    let bytes = 0
    for (const row of bounded(text, () => client.prepare(rewrite(text)).raw()).iterate(...values)) {
      if ((bytes += bytesOf(row)) > maxBytes) throw new TooLargeResult()
      rows.push(row)
    }
    return rows
  }

  // Reads all rows. If a statement with RETURNING does not reach its end, SQLite never checkpoints the WAL.
  const read = (statement: Statement) =>
    observe(() => [statement.text], () => prepare(statement).values(statement.values), lengthOf) as readonly Row[]
  const change = (statement: Statement) =>
    observe(() => [statement.text], () => prepare(statement).run(statement.values).changes, Number) as number

  function run(given: WriteStatement, index: number): Outcome {
    const statement = withCurrentValues(given)
    const rows = statement.returnsRows ? read(statement) : []
    for (const next of statement.followUp?.(rows) ?? []) change(next)
    const affectedRows = statement.returnsRows ? rows.length : change(statement)
    if (statement.expectedRows !== undefined && affectedRows !== statement.expectedRows) throw new ExpectationError(index, affectedRows)
    const outcome = { rows, affectedRows }
    statement.onOutcome?.(outcome)
    return outcome
  }

  /** A statement that the app built runs on the same connection, so it is part of the transaction. */
  function runAny(entry: CommitEntry, outcomes: readonly Outcome[]): Outcome {
    if ('build' in entry) {
      const query = entry.build(database as never)
      return observe(() => [textOf(query)], () => runBuilt(query), ({ affectedRows }) => affectedRows) as Outcome
    }
    if ('derive' in entry) return joinOutcomes(entry.derive(outcomes).map(statement => run(statement, outcomes.length)))
    return run(entry, outcomes.length)
  }

  function runAll(entries: readonly CommitEntry[]): Outcome[] {
    const outcomes: Outcome[] = []
    for (const entry of entries) outcomes.push(runAny(entry, outcomes))
    return outcomes
  }

  // Uses the driver's transaction function and creates it once. Drizzle would create it for every transaction.
  const { immediate } = client.transaction(runAll)

  return Object.freeze({
    name,
    dialect: 'sqlite' as const,
    adapter: sqlite,
    maxParameters: MAX_PARAMETERS,
    concurrent: false,
    supportsFollowUp: true,
    blocking: true,
    render: sql => toStatement(db.dialect.sqlToQuery(sql)),
    columnName: column => nameOf(db.dialect, column),
    query: statement => translateErrors(() => statement.maxBytes === undefined
      ? prepareQuery(statement).values(statement.values)
      : readBounded(statement, statement.maxBytes), error => toQueryError('sqlite', error)),
    commit: entries => translateErrors(() => entries.length === 1 && isAtomic(entries[0]!)
      ? runAll(entries)
      // `immediate` takes the write lock at the start. SQLite does not wait for a write lock in the middle of a transaction.
      : immediate(entries)),
  } satisfies Engine)
}

/** Translates driver errors. It does not retry a locked database: the driver already waited for its `timeout` and blocked the process. */
function translateErrors<T>(run: () => T, toError: (error: unknown) => unknown = error => error): T {
  try {
    return run()
  }
  catch (error) {
    throw isTransient(error) ? new BusyError(error) : toError(error)
  }
}

/** Whether a single statement needs no transaction. It needs one if its expectation can fail after it changed rows. */
const isAtomic = (entry: CommitEntry) =>
  'build' in entry || (!('derive' in entry) && (entry.expectedRows === undefined || entry.atomic === true))

/** The members of Drizzle's synchronous query builder that run it. */
interface Built {
  readonly all?: () => unknown[]
  readonly run?: () => { changes: number }
  readonly config?: { readonly returning?: unknown, readonly fields?: unknown }
}

function runBuilt(query: unknown): Outcome {
  const { all, run, config } = query as Built
  const returnsRows = config?.returning !== undefined || config?.fields !== undefined
  if (returnsRows ? !all : !run)
    throw notAQueryBuilder()
  if (returnsRows) {
    const result = all!.call(query)
    return { rows: [], affectedRows: result.length, result }
  }
  const result = run!.call(query)
  return { rows: [], affectedRows: result.changes, result }
}

function toStatement({ sql, params }: { sql: string, params: unknown[] }) {
  return { text: sql, values: params }
}
