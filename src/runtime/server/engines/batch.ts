/**
 * Commits a list of statements as one D1 batch. D1 applies all statements of a batch or none.
 *
 * JavaScript cannot check a result before the batch ends. Therefore each statement with an expectation is followed by a guard
 * statement. The guard fails if the statement before it affected another number of rows than expected, and D1 rolls back the batch.
 */
import type { Query, SQL } from 'drizzle-orm'
import { nameOf, sessions } from '../drizzle/index'
import type { BatchResult } from '../drizzle/major'
import {
  BusyError, ExpectationError, withCurrentValues,
  type BuiltStatement, type CommitEntry, type Engine, type Outcome, type Row, type Statement, type WriteStatement,
} from './engine'
import { toQueryError } from './violation'
import { sqlite } from './dialects/sqlite'
import { encodeParameters } from './encode-parameters'
import { runOnly, type Observed } from './observe'
import { notAQueryBuilder, toDatabase } from './drizzle-database'

/** The limits of Cloudflare D1. They are lower than the limits of SQLite. */
const D1_LIMITS = Object.freeze({ terms: 5, pattern: 50 })

export function createBatchEngine(name: string, database: unknown, { observe = runOnly }: Observed = {}): Engine {
  const db = toDatabase(database)
  const { session } = db

  const entry = (statement: Statement, read: (result: BatchResult) => Outcome | undefined): BatchEntry =>
    ({ query: toQuery(statement), read })

  function builtEntry({ build }: BuiltStatement): BatchEntry {
    const built = sessions.batch.toBuiltQuery(build(db as never))
    if (!built) throw notAQueryBuilder()
    return entry({ text: built.query.sql, values: built.query.params }, result => ({
      rows: [],
      affectedRows: result.meta.changes,
      result: built.toResult(result),
    }))
  }

  return Object.freeze({
    name,
    dialect: 'sqlite' as const,
    adapter: sqlite,
    // D1 accepts 100 parameters. `encodeParameters` sends more as JSON arrays. D1 compiles a statement to at most 25,000 instructions, and
    // each value of an array takes up to 8 of them. The limit also keeps the SQL text below D1's 100 KB.
    maxParameters: 2_500,
    // D1 runs no other statement between the statements of a batch.
    concurrent: false,
    supportsFollowUp: false,
    limits: D1_LIMITS,
    render: (sql: SQL) => {
      const { sql: text, params } = db.dialect.sqlToQuery(sql)
      assertNames(text)
      return { text, values: params }
    },
    columnName: column => nameOf(db.dialect, column),
    async query(statement) {
      try {
        return (await sessions.batch.rows(session, toQuery(statement))).map(toRow)
      }
      catch (error) {
        throw isOverloaded(error) ? new BusyError(error) : toQueryError('sqlite', error)
      }
    },
    async commit(statements) {
      if (statements.length === 0) return []
      const single = statements.length === 1
      const entries = statements.flatMap((statement, index) => {
        if ('build' in statement) return [builtEntry(statement)]
        if ('derive' in statement) throw new TypeError('[auto-api] A batch cannot use the outcomes of earlier statements.')
        return [
          entry(statement, result => toOutcome(statement, result)),
          ...(single && statement.atomic ? [] : guards(statement, index).map(guard => entry(guard, () => undefined))),
        ]
      })
      try {
        const queries = entries.map(({ query }) => query)
        const results = await observe(() => queries.map(({ sql }) => sql), () => sessions.batch.commit(session, queries), changesOf)
        const outcomes = results.map((result, index) => entries[index]!.read(result)).filter(outcome => outcome !== undefined)
        if (single) assertAffected(statements[0]!, outcomes[0]!)
        return outcomes
      }
      catch (error) {
        throw isOverloaded(error) ? new BusyError(error) : toExpectationError(error) ?? error
      }
    },
  } satisfies Engine)
}

const changesOf = (results: readonly BatchResult[]) => results.reduce((sum, { results, meta }) => sum + (results.length || meta.changes), 0)

/** A statement of a batch, and the function that reads its result. A guard has no outcome. */
interface BatchEntry {
  readonly query: Query
  readonly read: (result: BatchResult) => Outcome | undefined
}

function toQuery(statement: Statement): Query {
  const { text, values } = encodeParameters(withCurrentValues(statement))
  return { sql: text, params: [...values] }
}

/**
 * A batch returns each row as an object, and JavaScript orders numeric property names before all others.
 * @throws When the name of a column consists of digits.
 */
function assertNames(text: string): void {
  // Removes quoted text first, because a JSON path such as '$."2024"' is not a column name.
  const [, name] = /"(\d+)"/.exec(text.replace(/'(?:[^']|'')*'/g, '')) ?? []
  if (name !== undefined)
    throw new Error(
      `[auto-api] A table has the column "${name}". On D1 the name of a column cannot consist of digits, because D1 returns such columns `
      + 'in another order. Rename the column.',
    )
}

function toOutcome({ returnsRows }: WriteStatement, { results, meta }: BatchResult): Outcome {
  // A batch returns each row as an object. A write returns columns of one table, so no two columns share a name.
  return returnsRows
    ? { rows: results.map(row => toRow(Object.values(row))), affectedRows: results.length }
    : { rows: [], affectedRows: meta.changes }
}

/** D1 returns bytes as a list of numbers, which no driver accepts as a parameter, for example of the next batch of a scan. */
const toRow = (row: Row): Row =>
  row.some(Array.isArray) ? row.map(value => Array.isArray(value) ? Uint8Array.from(value as number[]) : value) : row

/** A single atomic statement affects all expected rows or none, so nothing has to be rolled back. */
function assertAffected(statement: CommitEntry, { affectedRows }: Outcome): void {
  if ('expectedRows' in statement && statement.expectedRows !== undefined && affectedRows !== statement.expectedRows)
    throw new ExpectationError(0, affectedRows)
}

const MARK = 'auto-api guard'

/**
 * Creates the guard of a statement:
 * `select case n when 1 then 1 else json_extract('{}', 'auto-api guard 3 touched ' || n) end from (select changes() as n)`
 *
 * The JSON path is invalid, so `json_extract` fails. The error message quotes the path, which contains the statement's index.
 * `changes()` does not count the rows of a read, so the guard runs the read again. No other statement runs between the two.
 */
function guards({ text, values, late, expectedRows, returnsRows }: WriteStatement, index: number): readonly Statement[] {
  if (expectedRows === undefined) return []
  const isRead = returnsRows && /^\s*(?:select|with)\b/i.test(text)
  const touched = isRead ? `(select count(*) from (${text}))` : 'changes()'
  return [
    {
      text: `select case n when ${expectedRows} then 1 else json_extract('{}', '${MARK} ${index} touched ' || n) end `
        + `from (select ${touched} as n)`,
      values: isRead ? values : [],
      ...late && { late },
    },
  ]
}

function toExpectationError(error: unknown): ExpectationError | undefined {
  const [, index, touched] = /auto-api guard (\d+) touched (\d+)/.exec(String((error as Error | undefined)?.message)) ?? []
  return index === undefined ? undefined : new ExpectationError(Number(index), Number(touched))
}

/** D1 refuses a statement before it runs: too many wait for the database. Drizzle wraps the error of a query, not that of a batch. */
const isOverloaded = (error: unknown): boolean =>
  [error, (error as Error).cause].some(found => /D1 DB is overloaded/.test(String((found as Error | undefined)?.message)))
