/** Commits statements in a synchronous transaction of better-sqlite3. */
import { BusyError, ExpectationError, type BuiltStatement, type Engine, type Outcome, type WriteStatement } from './engine'
import { toInvalidValue } from './violation'
import { sqlite } from './dialects/sqlite'
import { isTransient } from './retry'
import { createStatementPreparer, notAQueryBuilder, toDatabase } from './drizzle-database'

/** SQLite's own limit. */
const MAX_PARAMETERS = 32_766

/** The driver behind Drizzle's database. */
interface Database {
  readonly $client: {
    readonly transaction: <A extends unknown[], R>(run: (...args: A) => R) => { readonly immediate: (...args: A) => R }
  }
}

export function createSynchronousEngine(name: string, database: unknown): Engine {
  const db = toDatabase(database)
  const prepare = createStatementPreparer(db)

  // Reads all rows: a statement with RETURNING must reach its end, or the WAL is never checkpointed.
  function run(statement: WriteStatement, index: number): Outcome {
    const query = prepare(statement)
    const rows = statement.returnsRows ? query.values(statement.values) : []
    for (const next of statement.followUp?.(rows) ?? []) prepare(next).run(next.values)
    const affectedRows = statement.returnsRows ? rows.length : query.run(statement.values).changes
    if (statement.expectedRows !== undefined && affectedRows !== statement.expectedRows) throw new ExpectationError(index, affectedRows)
    return { rows, affectedRows }
  }

  /** A statement of the app runs on the only connection, so it is part of the transaction. */
  function runAny(statement: WriteStatement | BuiltStatement, index: number): Outcome {
    return 'build' in statement ? runBuilt(statement.build(database as never)) : run(statement, index)
  }

  // The driver's own function, created once: Drizzle creates it for every transaction.
  const { immediate } = (database as Database).$client.transaction((statements: readonly (WriteStatement | BuiltStatement)[]) =>
    statements.map(runAny),
  )

  return Object.freeze({
    name,
    dialect: 'sqlite' as const,
    adapter: sqlite,
    maxParameters: MAX_PARAMETERS,
    concurrent: false,
    supportsFollowUp: true,
    blocking: true,
    render: sql => toStatement(db.dialect.sqlToQuery(sql)),
    columnName: column => db.dialect.casing.getColumnCasing(column),
    query: statement => translateErrors(() => prepare(statement).values(statement.values), error => toInvalidValue('sqlite', error)),
    commit: statements => translateErrors(() => statements.length === 1 && isAtomic(statements[0]!)
      ? [runAny(statements[0]!, 0)]
      // Immediate: a lock requested within a transaction cannot be waited for.
      : immediate(statements)),
  } satisfies Engine)
}

/** A locked database is not tried again: the driver has blocked the process for its whole `timeout`. */
function translateErrors<T>(run: () => T, toError: (error: unknown) => unknown = error => error): T {
  try {
    return run()
  }
  catch (error) {
    throw isTransient(error) ? new BusyError(error) : toError(error)
  }
}

/** A single statement is its own transaction, unless its expectation can fail after it changed rows. */
const isAtomic = (statement: WriteStatement | BuiltStatement) =>
  'build' in statement || statement.expectedRows === undefined || statement.atomic === true

/** The methods that run a synchronous builder of Drizzle. */
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
