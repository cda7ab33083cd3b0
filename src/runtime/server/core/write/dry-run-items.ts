/** A dry run of a batch that is not atomic. Each item sees the effects of the items before it, as in the real write. */
import { limitExceeded } from '../error'
import type { WritePlan } from '../plan/write'
import { CommitFailed } from '../commit/failure'
import { yieldToEventLoop } from '../process/turns'
import { commitParts, recheckTarget, type PartsCommit } from './commit-parts'
import { withoutError, type Item } from './items'
import type { WritePart } from './parts'

/** The time limit in milliseconds. The work grows with the square of the number of items. */
const MAX_DURATION = 5_000

/**
 * Runs all items in one commit and, if that fails, each item together with the passing items before it. Every commit is rolled back.
 * @throws `LIMIT_EXCEEDED` if it takes too long.
 */
export async function dryRunItems(part: WritePart, commit: PartsCommit): Promise<void> {
  const { plan, items, written, call } = part
  const attempt = async (chosen: readonly Item[]): Promise<unknown> => {
    try {
      if (chosen.length > 0) await commitParts([{ ...part, items: chosen }], commit)
      return undefined
    }
    catch (error) {
      return error
    }
  }
  if (!await attempt(withoutError(items))) return
  const deadline = Date.now() + MAX_DURATION
  const passing: Item[] = []
  for (const item of withoutError(items)) {
    if (Date.now() > deadline) throw limitExceeded('The dry run of this batch takes too long. Send fewer items.')
    await yieldToEventLoop()
    const error = await attempt([...passing, item])
    if (!error) passing.push(item)
    else if (await isAlreadyDeleted(plan, item, error, attempt)) written.set(item.index, {})
    else item.error = error instanceof CommitFailed ? await recheckTarget(plan, item, error, call) : error
  }
  for (const item of items) if (item.error !== undefined) written.delete(item.index)
}

/** Whether the cascade of an earlier item deletes the row of this item. The real write counts such a row as deleted. */
async function isAlreadyDeleted(
  { kind }: WritePlan, item: Item, error: unknown, attempt: (chosen: readonly Item[]) => Promise<unknown>,
): Promise<boolean> {
  const isMissing = kind === 'delete' && error instanceof CommitFailed && error.expectation === 'row'
  return isMissing && !await attempt([item])
}
