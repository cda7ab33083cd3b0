/** Runs the operations of a write in one commit, and reports the changes to listeners. A dry run rolls them back. */
import { BusyError, ExpectationError, type Outcome } from '../../engines/engine'
import { isRefusal } from '../../engines/refusal'
import type { Call } from '../request/session'
import { changedMeanwhile } from '../error'
import { emitChanges } from '../extensions/listeners'
import { andThen, attempt, type Awaitable } from '../awaitable'
import { assignRows, toChanges } from './changes/assign'
import { emitRows } from './changes/watched-rows'
import { planEntries, type PlannedEntry } from './changes/plan'
import { CommitFailed, toCommitFailed, type WritingPlan } from './failure'
import type { WriteOperation } from './operation'
import { rollBack } from './roll-back'

const NOT_RUN: Outcome = Object.freeze({ rows: [], affectedRows: 0 })

/**
 * A promise only if the engine or a plugin returns one.
 * @throws {CommitFailed} If an operation fails. The error of a plugin that refuses the commit, or of its statement. The database is then
 * unchanged.
 */
export function commitOperations(plan: WritingPlan, operations: readonly WriteOperation[], call: Call): Awaitable<void> {
  if (call.ctx.dryRun) return dryRun(plan, operations, call)
  return andThen(planEntries(operations, call, plan.kind === 'purge' && plan.groupRows !== undefined), (entries) => {
    const committing = attempt(() => call.engine.commit(entries.map(({ entry }) => entry)), async (error): Promise<never> => {
      throw await findFailure(error, entries, plan, operations, call)
    })
    return andThen(committing, results => finish(operations, entries, results, call))
  })
}

/** Passes the outcomes of a commit to its operations and to the listeners. */
function finish(
  operations: readonly WriteOperation[], entries: readonly PlannedEntry[], results: readonly Outcome[], call: Call,
): Awaitable<void> {
  const { listeners } = call.api
  const outcomes: Outcome[] = operations.map(() => NOT_RUN)
  entries.forEach(({ operation }, index) => {
    if (operation !== undefined) outcomes[operation] = results[index]!
  })
  operations.forEach((operation, index) => operation.read?.(outcomes[index]!))
  const emitting = listeners.onCommit.length > 0
    ? emitChanges(listeners, toChanges(assignRows(operations, outcomes)), call.ctx)
    : undefined
  return andThen(emitting, () => emitRows(operations, outcomes, call))
}

/**
 * Finds the cause of a failed commit. After a lost connection, the commit can have taken effect: the error stays what it is, because the
 * rows as they are now could make the request look refused.
 *
 * If the operations alone would succeed, a statement of a plugin failed. Its error says nothing about the rows of the request, so the
 * client receives no details of it. A batch does not report which of its statements failed.
 */
async function findFailure(
  error: unknown,
  entries: readonly PlannedEntry[],
  plan: WritingPlan,
  operations: readonly WriteOperation[],
  call: Call,
): Promise<unknown> {
  if (error instanceof ExpectationError) {
    if (entries[error.index]?.checksRead) return new CommitFailed(changedMeanwhile(), undefined, 'group')
    const failed = entries[error.index]?.operation
    return toCommitFailed(failed === undefined ? error : new ExpectationError(failed, 0), plan, operations, call)
  }
  if (!isRefusal(call.engine.dialect, error)) return error
  const isOwn = error instanceof BusyError || entries.every(({ operation }) => operation !== undefined)
  return isOwn ? toCommitFailed(error, plan, operations, call) : await tryOperations(plan, operations, call) ?? error
}

/** Runs the operations, rolls them back, and gives each the outcome that it would have had. Plugins take no part. */
async function dryRun(plan: WritingPlan, operations: readonly WriteOperation[], call: Call): Promise<void> {
  let outcomes: readonly Outcome[] | undefined
  try {
    outcomes = await rollBack(operations.map(({ statement }) => statement), call.engine)
  }
  catch (error) {
    throw await toCommitFailed(error, plan, operations, call)
  }
  for (const [index, { read, predict }] of operations.entries()) {
    if (outcomes) read?.(outcomes[index]!)
    else await predict?.()
  }
}

/**
 * Runs the operations and rolls them back.
 * @returns the error with which a commit would fail, or `undefined` if it would succeed
 */
export async function tryOperations(
  plan: WritingPlan,
  operations: readonly WriteOperation[],
  call: Call,
): Promise<CommitFailed | undefined> {
  try {
    await rollBack(operations.map(({ statement }) => statement), call.engine)
    return undefined
  }
  catch (error) {
    return toCommitFailed(error, plan, operations, call)
  }
}
