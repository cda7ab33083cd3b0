/** Commits several statements of custom code in one commit: all of them or none. */
import { useRuntime } from '../api/runtime'
import { withHttpErrors } from '../http/handle'
import {
  commitReports, createReport, emitReports, findReport, type ReportedChange, type ReportedChanges,
} from '../core/entries/reported-changes'
import { rollBack } from '../core/commit/roll-back'
import type { CallerContext } from '../core/entries/call'
import type { AutoApiContext } from '../registration'

export type { ReportedChange, ReportedChanges } from '../core/entries/reported-changes'

/** Builds a statement with Drizzle's query builder, on the given database. */
export type AtomicStatement<Database> = (db: Database) => unknown

const AsyncFunction = (async () => {}).constructor

/**
 * Commits all statements or none, in one transaction, or one `db.batch()` where the engine has no transactions.
 * In a dry run, all statements run and are rolled back, and plugins take no part. Engines that commit in batches (D1) then return no
 * results: each is `undefined`.
 * No statement is awaited before the next one. A statement that depends on an earlier one reads its result in SQL.
 * Plugins receive the changes of its {@link reportChanges} entries: `inCommit` before the commit, and `onCommit` after it.
 * @returns each statement's result, in order: rows of a `returning()` or a select, the driver's result otherwise. The result of a
 * `reportChanges` entry is `undefined`.
 * @throws The database's error, or 503 `BUSY` when other commits blocked this one repeatedly. Then nothing is applied.
 * @example
 * await atomicWrites<BetterSQLite3Database>(ctx, [
 *   db => db.update(accounts).set({ balance: sql`balance - 10` }).where(eq(accounts.id, 1)),
 *   db => db.update(accounts).set({ balance: sql`balance + 10` }).where(eq(accounts.id, 2)),
 * ])
 */
export async function atomicWrites<Database>(
  ctx: Pick<AutoApiContext, 'event'> & Partial<Pick<AutoApiContext, 'dryRun'>>,
  entries: readonly (AtomicStatement<Database> | ReportedChanges)[],
): Promise<unknown[]> {
  const statements = entries.filter(entry => findReport(entry) === undefined) as readonly AtomicStatement<Database>[]
  assertStatements(statements)
  const reports = entries.flatMap(entry => findReport(entry) ?? [])
  if (reports.some(({ session }) => session !== reports[0]!.session || session.ctx.event !== ctx.event))
    throw new TypeError('[auto-api] atomicWrites(): an entry of `reportChanges` belongs to another request.')
  const built = statements.map(build => ({ build: build as (db: never) => unknown }))
  const engine = () => useRuntime(ctx.event).database.engine(ctx.event)
  const outcomes = entries.length === 0
    ? []
    : await withHttpErrors(ctx.event, () => ctx.dryRun ? rollBack(built, engine()) : commitReports(built, reports, engine()))
  if (!ctx.dryRun) await emitReports(reports)
  const results = (outcomes ?? []).map(({ result }) => result).values()
  return entries.map(entry => findReport(entry) ? undefined : results.next().value)
}

/**
 * Names the rows that the statements of {@link atomicWrites} change. `inCommit` of every plugin receives these changes before the commit,
 * and `onCommit` after it.
 * Pass the return value to `atomicWrites`: it has no effect anywhere else.
 * @throws {TypeError} When the resource, the table or the kind does not exist, or no row can have the id.
 * @example
 * await atomicWrites<BetterSQLite3Database>(ctx, [
 *   db => db.update(posts).set({ status: 'published' }).where(eq(posts.id, 1)),
 *   reportChanges(ctx, [{ resource: 'posts', kind: 'update', id: 1 }]),
 * ])
 */
export function reportChanges(ctx: CallerContext, changes: readonly ReportedChange[]): ReportedChanges {
  return createReport(ctx, changes)
}

function assertStatements(statements: readonly unknown[]): void {
  if (statements.some(statement => typeof statement !== 'function'))
    throw new TypeError('[auto-api] atomicWrites(): an entry is neither a function nor the return value of `reportChanges`.')
  // An awaited builder runs immediately, outside of the transaction.
  if (statements.some(build => build instanceof AsyncFunction))
    throw new TypeError('[auto-api] atomicWrites(): a statement is an async function. Return the builder, without awaiting it.')
}
