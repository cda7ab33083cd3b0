/** Commits several statements of custom code in one commit: all of them or none. */
import { useRuntime } from '../api/runtime'
import { withHttpErrors } from '../http'
import type { AutoApiContext } from '../registration'

/** Builds a statement with Drizzle's query builder, on the given database. */
export type AtomicStatement<Database> = (db: Database) => unknown

const AsyncFunction = (async () => {}).constructor

/**
 * Commits all statements or none, in one transaction, or one `db.batch()` where the engine has no transactions.
 * No statement is awaited before the next one. A statement that depends on an earlier one reads its result in SQL.
 * @returns each statement's result, in order: rows of a `returning()` or a select, the driver's result otherwise.
 * @throws The database's error, or 503 `BUSY` when other commits blocked this one repeatedly. Then nothing is applied.
 * @example
 * await atomicWrites<BetterSQLite3Database>(ctx, [
 *   db => db.update(accounts).set({ balance: sql`balance - 10` }).where(eq(accounts.id, 1)),
 *   db => db.update(accounts).set({ balance: sql`balance + 10` }).where(eq(accounts.id, 2)),
 * ])
 */
export async function atomicWrites<Database>(
  ctx: Pick<AutoApiContext, 'event'>,
  statements: readonly AtomicStatement<Database>[],
): Promise<unknown[]> {
  if (statements.length === 0) return []
  // An awaited builder runs immediately, outside of the transaction.
  if (statements.some(build => build instanceof AsyncFunction))
    throw new TypeError('[auto-api] atomicWrites(): a statement is an async function. Return the builder, without awaiting it.')
  const outcomes = await withHttpErrors(ctx.event, async () =>
    useRuntime(ctx.event).database.engine(ctx.event).commit(statements.map(build => ({ build: build as (db: never) => unknown }))),
  )
  return outcomes.map(({ result }) => result)
}
