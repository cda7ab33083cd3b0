/**
 * Batches (D1): no transaction, but a list of statements that is applied as a whole or not at all. Nobody can look at a
 * result half-way, so a guard is a statement of its own behind the one it watches, and fails where that one touched
 * another number of rows than it had to.
 */
import type { SQL } from 'drizzle-orm'
import { ExpectationError, type BuiltStatement, type Engine, type Outcome, type Row, type Statement, type WriteStatement } from './engine'
import { toInvalidValue } from './violation'
import { sqlite } from './dialects/sqlite'
import { encodeParameters } from './encode-parameters'
import { toDatabase } from './drizzle-database'

/** Cloudflare sets them lower than SQLite does. */
const D1_LIMITS = Object.freeze({ terms: 5, pattern: 50 })

export function createBatchEngine(name: string, database: unknown): Engine {
  const db = toDatabase(database)
  const session = db.session as BatchSession

  const prepare = ({ text, values }: Statement) => session.prepareQuery({ sql: text, params: [...values] }, undefined, 'all', true)

  function entry(statement: Statement, read: (result: BatchResult) => unknown): BatchEntry {
    const { text, values } = encodeParameters(statement)
    return { _prepare() {
      session.logger.logQuery(text, [...values])
      return { stmt: prepare({ text, values }).stmt, getQuery: () => ({ sql: text, params: [...values] }), mapResult: read }
    } }
  }

  function builtEntry({ build }: BuiltStatement): BatchEntry {
    const query = build(db as never) as Partial<BatchEntry> | undefined
    if (typeof query?._prepare !== 'function')
      throw new TypeError(
        '[auto-api] atomicWrites(): a statement is not one of Drizzle\'s query builders. Return the builder, without awaiting it.',
      )
    const prepared = query._prepare()
    const { sql, params } = prepared.getQuery()
    return entry({ text: sql, values: params }, result => ({
      rows: [],
      affectedRows: result.meta.changes,
      result: prepared.mapResult(result, true),
    }))
  }

  return Object.freeze({
    name,
    dialect: 'sqlite' as const,
    adapter: sqlite,
    // More than D1's hundred are packed; this many places are a text within its hundred kilobytes.
    maxParameters: 6_000,
    // Nothing comes between the statements of a batch.
    concurrent: false,
    supportsFollowUp: false,
    limits: D1_LIMITS,
    render: (sql: SQL) => {
      const { sql: text, params } = db.dialect.sqlToQuery(sql)
      assertNames(text)
      return { text, values: params }
    },
    columnName: column => db.dialect.casing.getColumnCasing(column),
    async query(statement) {
      try {
        return await prepare(encodeParameters(statement)).values()
      }
      catch (error) {
        throw toInvalidValue('sqlite', error)
      }
    },
    async commit(statements) {
      if (statements.length === 0) return []
      const alone = statements.length === 1
      const entries = statements.flatMap((statement, index) =>
        'build' in statement
          ? [builtEntry(statement)]
          : [
              entry(statement, result => toOutcome(statement, result)),
              ...(alone && statement.atomic ? [] : guards(statement, index).map(guard => entry(guard, () => undefined))),
            ],
      )
      try {
        const outcomes = (await session.batch(entries)).filter(outcome => outcome !== undefined) as Outcome[]
        if (alone) assertTouched(statements[0]!, outcomes[0]!)
        return outcomes
      }
      catch (error) {
        throw toGuardError(error) ?? error
      }
    },
  } satisfies Engine)
}

/** The parts of Drizzle's D1 session that run statements. */
interface BatchSession {
  readonly logger: { readonly logQuery: (text: string, values: unknown[]) => void }
  readonly prepareQuery: (
    query: { sql: string, params: unknown[] },
    fields: undefined,
    method: 'all',
    arrayMode: boolean,
  ) => { readonly stmt: unknown, readonly values: () => Promise<Row[]> }
  readonly batch: (entries: readonly BatchEntry[]) => Promise<unknown[]>
}

/** What a batch takes: Drizzle's builders, and whatever can be prepared as they can. */
interface BatchEntry {
  readonly _prepare: () => {
    readonly stmt: unknown
    readonly getQuery: () => { sql: string, params: unknown[] }
    readonly mapResult: (result: BatchResult, fromBatch: true) => unknown
  }
}

interface BatchResult {
  readonly results: readonly Readonly<Record<string, unknown>>[]
  readonly meta: { readonly changes: number }
}

/** A batch answers rows by name, and JavaScript puts names that are numbers before all others. @throws When a name is one. */
function assertNames(text: string): void {
  // A path such as '$."2024"' is no name.
  const [, name] = /"(\d+)"/.exec(text.replace(/'(?:[^']|'')*'/g, '')) ?? []
  if (name !== undefined)
    throw new Error(
      `[auto-api] A table has the column "${name}": on D1 a column's name cannot be digits only, for its rows would be read in another order. Rename the column.`,
    )
}

function toOutcome({ returnsRows: returns }: WriteStatement, { results, meta }: BatchResult): Outcome {
  // A batch answers rows by name. What is returned of a write are columns of one table: their names differ.
  return returns ? { rows: results.map(row => Object.values(row)), affectedRows: results.length } : { rows: [], affectedRows: meta.changes }
}

/** All the rows it must touch or none: nothing has to be undone. */
function assertTouched(statement: WriteStatement | BuiltStatement, { affectedRows }: Outcome): void {
  if ('expectedRows' in statement && statement.expectedRows !== undefined && affectedRows !== statement.expectedRows) throw new ExpectationError(0, affectedRows)
}

const MARK = 'auto-api guard'

/**
 * `select case when changes() = 1 then 1 else json_extract('{}', 'auto-api guard 3 touched ' || changes()) end`
 *
 * The path is no path: the error quotes it, which is how it is known which guard it was. What a read found is counted by
 * reading it once more: within a batch nothing comes between.
 */
function guards({ text, values, expectedRows, returnsRows: returns }: WriteStatement, index: number): readonly Statement[] {
  if (expectedRows === undefined) return []
  const reads = returns && /^\s*(?:select|with)\b/i.test(text)
  const touched = reads ? `(select count(*) from (${text}))` : 'changes()'
  return [{
    text: `select case n when ${expectedRows} then 1 else json_extract('{}', '${MARK} ${index} touched ' || n) end from (select ${touched} as n)`,
    values: reads ? values : [],
  }]
}

function toGuardError(error: unknown): ExpectationError | undefined {
  const [, index, touched] = /auto-api guard (\d+) touched (\d+)/.exec(String((error as Error | undefined)?.message)) ?? []
  return index === undefined ? undefined : new ExpectationError(Number(index), Number(touched))
}
