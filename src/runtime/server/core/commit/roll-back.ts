/** Runs the entries of a commit on any engine, and rolls them back. */
import { ExpectationError, type CommitEntry, type Engine, type Outcome, type WriteStatement } from '../../engines/engine'

/** Rolls back a commit if it is the last statement: it returns a row but expects none, so it fails on every engine. */
const ROLL_BACK: WriteStatement = Object.freeze({ text: 'select 1', values: [], returnsRows: true, expectedRows: 0 })

/**
 * Runs the entries and rolls them back.
 * @returns the outcomes of the entries. `undefined` on an engine that returns no outcomes of a commit that fails.
 * @throws The error of the engine with which a commit would fail.
 */
export async function rollBack(entries: readonly CommitEntry[], engine: Engine): Promise<readonly Outcome[] | undefined> {
  const { checkDeferred } = engine.adapter
  // The database checks deferred constraints when a transaction commits. This one rolls back, so a statement runs the checks.
  const all: readonly CommitEntry[] = [...entries, ...checkDeferred ? [{ text: checkDeferred, values: [] }] : []]
  let outcomes: readonly Outcome[] | undefined
  const last: CommitEntry = !engine.supportsFollowUp
    ? ROLL_BACK
    : { derive: (earlier) => {
        outcomes = earlier.slice(0, entries.length)
        return [ROLL_BACK]
      } }
  try {
    await engine.commit([...all, last])
  }
  catch (error) {
    if (error instanceof ExpectationError && error.index === all.length) return outcomes
    throw error
  }
  throw new Error('[auto-api] The engine committed operations that had to be rolled back.')
}
