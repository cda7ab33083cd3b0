/** All or nothing for custom code: statements collected first, then committed together. */
import { useRuntime } from '../api/runtime'
import { withHttpErrors } from '../http'
import type { AutoApiContext } from '../registration'

/** A statement of Drizzle's query builder, over the database it is given. */
export type AtomicStatement<Database> = (db: Database) => unknown

const AsyncFunction = (async () => {}).constructor

/**
 * Commits statements together: one transaction, or one `db.batch()` where the engine has no transactions.
 * What a statement needs to know of an earlier one it reads in SQL: none of them is awaited in between.
 * @returns each statement's result, in order: rows of a `returning()` or a select, the driver's result otherwise.
 * @throws What the database refuses, or 503 `BUSY` when other commits stood in the way again and again; then nothing is applied.
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
  // Awaited, a builder would run by itself, after the transaction it was meant for.
  if (statements.some(build => build instanceof AsyncFunction))
    throw new TypeError('[auto-api] atomicWrites(): a statement is an async function. Return the builder, without awaiting it.')
  const outcomes = await withHttpErrors(ctx.event, async () =>
    useRuntime(ctx.event).database.engine(ctx.event).commit(statements.map(build => ({ build: build as (db: never) => unknown }))),
  )
  return outcomes.map(({ result }) => result)
}
