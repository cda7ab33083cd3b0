/** Synchronous SQLite (better-sqlite3): everything is awaited before the transaction begins, nothing inside it. */
import { BusyError, ExpectationError, type BuiltStatement, type Engine, type Outcome, type WriteStatement } from './engine'
import { toInvalidValue } from './violation'
import { sqlite } from './dialects/sqlite'
import { isTransient } from './retry'
import { createPreparer, toDatabase } from './drizzle-database'

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
  const prepare = createPreparer(db)

  // `.all()` and not `.get()`: a statement with RETURNING must reach its end, or the WAL is never checkpointed.
  function run(statement: WriteStatement, index: number): Outcome {
    const query = prepare(statement)
    const rows = statement.returnsRows ? query.values(statement.values) : []
    for (const next of statement.followUp?.(rows) ?? []) prepare(next).run(next.values)
    const affectedRows = statement.returnsRows ? rows.length : query.run(statement.values).changes
    if (statement.expectedRows !== undefined && affectedRows !== statement.expectedRows) throw new ExpectationError(index, affectedRows)
    return { rows, affectedRows }
  }

  /** A statement an app built runs on the one connection there is: whatever is in the middle of a transaction belongs to it. */
  function runAny(statement: WriteStatement | BuiltStatement, index: number): Outcome {
    return 'build' in statement ? runBuilt(statement.build(database as never)) : run(statement, index)
  }

  // The driver's own, made once: Drizzle makes it anew for every transaction.
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
    query: statement => unlessBusy(() => prepare(statement).values(statement.values), error => toInvalidValue('sqlite', error)),
    commit: statements => unlessBusy(() => statements.length === 1 && isWhole(statements[0]!)
      ? [runAny(statements[0]!, 0)]
      // Immediate: a lock that is asked for half-way cannot be waited for.
      : immediate(statements)),
  } satisfies Engine)
}

/** Not tried again: while the driver waited for another process to let go, as long as its `timeout` says, nobody else was served. */
function unlessBusy<T>(run: () => T, toError: (error: unknown) => unknown = error => error): T {
  try {
    return run()
  }
  catch (error) {
    throw isTransient(error) ? new BusyError(error) : toError(error)
  }
}

/** A single statement is its own transaction, as long as no guard finds it done in part. */
const isWhole = (statement: WriteStatement | BuiltStatement) =>
  'build' in statement || statement.expectedRows === undefined || statement.atomic === true

/** The parts of Drizzle's synchronous builders that run them; without one of these calls they do nothing. */
interface Built {
  readonly all?: () => unknown[]
  readonly run?: () => { changes: number }
  readonly config?: { readonly returning?: unknown, readonly fields?: unknown }
}

function runBuilt(query: unknown): Outcome {
  const { all, run, config } = query as Built
  const answers = config?.returning !== undefined || config?.fields !== undefined
  if (answers ? !all : !run)
    throw new TypeError(
      '[auto-api] atomicWrites(): a statement is not one of Drizzle\'s query builders. Return the builder, without awaiting it.',
    )
  if (answers) {
    const result = all!.call(query)
    return { rows: [], affectedRows: result.length, result }
  }
  const result = run!.call(query)
  return { rows: [], affectedRows: result.changes, result }
}

function toStatement({ sql, params }: { sql: string, params: unknown[] }) {
  return { text: sql, values: params }
}
