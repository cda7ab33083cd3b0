/** Which items made a batch fail: each is tried alone, and rolled back. Hooks do not run again. */
import type { Call } from '../../context'
import { isBusy } from '../../error'
import type { WritePlan } from '../../plan/write'
import type { Scoped } from '../../access/row-scope'
import { tryOperations, violatedFields, type WriteOperation, type CommitFailed } from '../commit/commit'
import type { Item } from './items'
import { yieldToEventLoop } from '../rows/object-level'
import { targetColumns } from './targets'
import { decoder } from '../rows/decode'
import { OPERATIONS } from './operations'

interface FailedItem {
  readonly item: Item
  readonly reason: unknown
}

type Attempt = (items: readonly Item[]) => Promise<CommitFailed | undefined>

/** Milliseconds after which items that were not tried yet are left out. */
const TIME_TO_TRY = 5_000
/** Attempts between which other requests get their turn, also on an engine that never waits. */
const ATTEMPTS_AT_ONCE = 10

/**
 * The items that fail alone. If none does, those that conflict with each other, as far as the database names them.
 * @param batch how the batch failed
 * @throws 503 when the database is too busy to tell.
 */
export async function findFailedItems(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  batch: CommitFailed,
  call: Call,
): Promise<readonly FailedItem[]> {
  const attempt = createAttempt(plan, batch, call)
  const deadline = Date.now() + TIME_TO_TRY
  const failing: { item: Item, undone: CommitFailed }[] = []
  const passing: Item[] = []
  for (const [index, item] of items.entries()) {
    if (Date.now() > deadline) break
    if (index % ATTEMPTS_AT_ONCE === ATTEMPTS_AT_ONCE - 1) await yieldToEventLoop()
    const undone = await attempt([item])
    if (undone) failing.push({ item, undone })
    else passing.push(item)
  }
  if (failing.length === 0) return inConflict(plan, items, batch, call)
  const guilty: FailedItem[] = []
  for (const { item, undone } of failing) {
    // Rows that refer to each other may have to be written together: one that passes beside the others is not to blame.
    const isRelated
      = (undone.expectation === 'restrict' || undone.violation?.kind === 'reference') && failing.length > 1 && passing.length > 0
    if (isRelated && Date.now() < deadline && !(await attempt(items.filter(other => other === item || passing.includes(other))))) continue
    guilty.push({ item, reason: undone.reason })
  }
  return guilty.length > 0 ? guilty : failing.map(({ item, undone }) => ({ item, reason: undone.reason }))
}

/** The time of the trial does not matter: nothing of it stays. */
function createAttempt(plan: Scoped<WritePlan>, { expectation }: CommitFailed, call: Call): Attempt {
  return async (items) => {
    const undone = await tryOperations(plan, upTo(expectation, OPERATIONS[plan.kind](plan, items, new Map(), call, new Date())), call)
    if (undone && isBusy(undone.reason)) throw undone.reason
    return undone
  }
}

/** What a check found is found again without the statements behind the last check of its kind: a cascade need not be run for it. */
function upTo(guard: WriteOperation['expectation'], steps: readonly WriteOperation[]): readonly WriteOperation[] {
  const last = guard ? steps.findLastIndex(step => step.expectation === guard) : -1
  return last === -1 ? steps : steps.slice(0, last + 1)
}

/** The item whose statement found what others of the batch had changed, or all items that would have the same unique value. */
function inConflict(plan: Scoped<WritePlan>, items: readonly Item[], batch: CommitFailed, call: Call): readonly FailedItem[] {
  const { item: index, reason, violation } = batch
  const own = items.filter(item => item.index === index)
  if (own.length > 0 || violation?.kind !== 'unique') return own.map(item => ({ item, reason }))
  const names = violatedFields(violation, call).filter(name => name !== plan.resource.tenant?.name)
  // A collation may take different spellings for one value.
  const same = sharing(plan, items, names, String) ?? sharing(plan, items, names, value => String(value).toLowerCase().trim())
  return (same ?? []).map(item => ({ item, reason }))
}

type ToText = (value: unknown) => string

/** Items whose values of these fields another item has too. A field that an item does not write, and whose value is not known, is left out. */
function sharing(plan: Scoped<WritePlan>, items: readonly Item[], names: readonly string[], toText: ToText): readonly Item[] | undefined {
  const decode = decoder(targetColumns(plan))
  const byValue = new Map<string, Item[]>()
  for (const item of items) {
    const row = { ...item.row && decode(item.row), ...item.values }
    // NULLs are never the same value.
    if (!names.some(name => Object.hasOwn(item.values, name)) || names.some(name => row[name] === null)) continue
    const texts = names
      .map(name => row[name])
      .map(value => (value === undefined ? '' : toText(value instanceof Date ? value.getTime() : value)))
    const value = JSON.stringify(texts)
    byValue.set(value, [...byValue.get(value) ?? [], item])
  }
  const found = new Set([...byValue.values()].filter(group => group.length > 1).flat())
  return found.size > 0 ? items.filter(item => found.has(item)) : undefined
}
