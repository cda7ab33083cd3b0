/** Runs a scoped write: check every item, run the hooks, then one commit. A single record is a batch of one. */
import type { Call } from '../../context'
import { bulkFailed, describeFailures, type DescribedFailure } from '../../bulk-error'
import { changedMeanwhile, fieldForbidden, isBusy, isInvalidReference } from '../../error'
import { unwritableFields } from '../../access/fields'
import { hookId, itemContext, runAfterHooks, runHooks, type AnyHook, type HookName } from '../../hooks'
import { toId } from '../../../schema/record-id'
import type { WriteKind, WritePlan } from '../../plan/write'
import type { Scoped } from '../../access/row-scope'
import { commitOperations, CommitFailed } from '../commit/commit'
import { findFailedItems } from './failing'
import { commitGroup, findGroup } from './group'
import { withoutError, forEachItem, stopOnFailure, toItems, type Item } from './items'
import { loadTargets } from './targets'
import { checkReferences } from './references'
import { idOf, OPERATIONS, type WrittenItem } from './operations'
import { findAlreadyDeleted } from './already-deleted'

export interface WriteResult {
  readonly plan: WritePlan
  /** One per item that was written, in order. */
  readonly written: readonly (WrittenItem & { readonly index: number, readonly id: string })[]
  /** Items of a batch that may be done in part, and were not. */
  readonly failures: readonly DescribedFailure[]
  /** Rows of a cascade group in all resources. */
  readonly total?: number
}

export async function executeWrite(plan: Scoped<WritePlan>, call: Call): Promise<WriteResult> {
  if (plan.deletionId !== undefined) return executeWholeGroup(plan, call)
  const items = toItems(plan, () => itemContext(call))
  await loadTargets(plan, items, call)
  stopOnFailure(plan, items)
  await forEachItem(items, item => before(plan, item, call))
  await forEachItem(items, item => assertWritable(plan, item, call))
  await assertReferences(plan, items, call, 'commit')
  const written = new Map<number, WrittenItem>()
  const time = new Date()
  if (plan.atomic) await commitTogether(plan, items, written, call, time)
  else for (const item of withoutError(items)) await commitAlone(plan, item, written, call, time)
  const result = toResult(plan, items, written)
  const errors: unknown[] = []
  await after(plan, items, result, call, errors)
  if (errors.length > 0) throw errors[0]
  return result
}

/** The hooks of each resource run for its rows: going by the group is no way around them. */
async function executeWholeGroup(plan: Scoped<WritePlan>, call: Call): Promise<WriteResult> {
  const parts = await findGroup(plan, call)
  for (const { plan, items, call } of parts) await forEachItem(items, item => before(plan, item, call))
  stopOnFailure(plan, parts.flatMap(({ items }) => items).map((item, index) => ({ ...item, index })))
  await commitGroup(plan, parts, call)
  const errors: unknown[] = []
  let own = toResult(plan, [], new Map())
  for (const part of parts) {
    const result = toResult(part.plan, part.items, part.written)
    await after(part.plan, part.items, result, part.call, errors)
    if (part.plan.resource === plan.resource) own = result
  }
  if (errors.length > 0) throw errors[0]
  return { ...own, total: parts.reduce((sum, { items }) => sum + items.length, 0) }
}

const BEFORE: Readonly<Record<WriteKind, HookName>> = {
  create: 'beforeCreate',
  update: 'beforeUpdate',
  delete: 'beforeDelete',
  restore: 'beforeRestore',
  purge: 'beforePurge',
}
const AFTER: Readonly<Record<WriteKind, HookName>> = {
  create: 'afterCreate',
  update: 'afterUpdate',
  delete: 'afterDelete',
  restore: 'afterRestore',
  purge: 'afterPurge',
}

async function before({ kind, resource }: WritePlan, item: Item, call: Call): Promise<void> {
  const id = item.key && hookId(resource, item.key)
  item.values = await runHooks(call, BEFORE[kind], item.values, (run, data) => {
    const hook = run as AnyHook
    return kind === 'create' ? hook(data, item.ctx) : kind === 'update' ? hook(id, data, item.ctx) : hook(id, item.ctx)
  })
}

/** Only what counts as sent and the hooks left in place. */
async function assertWritable({ resource, selection }: WritePlan, { sent, sentKeys, values }: Item, call: Call): Promise<void> {
  const unwritable = await unwritableFields(call, resource, sent.filter(name => Object.hasOwn(values, name)))
  // A schema may make a hidden column of what was sent under another name.
  if (unwritable.length > 0)
    throw fieldForbidden(
      call.ctx,
      unwritable.filter(name => sentKeys?.includes(name) || selection.byName.has(name)),
    )
}

/** @throws The failure of a single write, or `BULK_FAILED` with what was undone. */
async function commitTogether(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  written: Map<number, WrittenItem>,
  call: Call,
  time: Date,
): Promise<void> {
  try {
    await commitWithRecheck(plan, items, written, call, time)
  }
  catch (error) {
    if (!(error instanceof CommitFailed)) throw error
    if (error.expectation === 'reference') await assertReferences(plan, items, call, 'now')
    // Nothing is wrong with any item of a batch that came at a bad time.
    if (isBusy(error.reason)) throw error.reason
    if (!plan.bulk) throw await recheckTarget(plan, items[0]!, error.reason, call)
    const failed = await findFailedItems(plan, items, error, call)
    const failures = await Promise.all(
      failed.map(async ({ item, reason }) => ({ index: item.index, id: item.id, error: await recheckTarget(plan, item, reason, call) })),
    )
    throw bulkFailed(error.expectation ? 'nothing was written' : 'rolled back', failures, error.reason)
  }
}

/** What an item points at, and code judged, may have changed since: it is judged once more. @throws {CommitFailed} */
async function commitWithRecheck(
  plan: Scoped<WritePlan>,
  items: readonly Item[],
  written: Map<number, WrittenItem>,
  call: Call,
  time: Date,
): Promise<void> {
  const commit = () => commitOperations(plan, OPERATIONS[plan.kind](plan, items, written, call, time), call)
  const judged = items.some(({ references = [] }) => references.some(({ target }) => target.judged))
  const isJudged = (error: unknown): error is CommitFailed => judged && error instanceof CommitFailed && error.expectation === 'reference'
  try {
    await commit()
  }
  catch (error) {
    if (!isJudged(error)) throw error
    await assertReferences(plan, items, call, 'now')
    const failed = items.find(item => item.error !== undefined)
    if (failed) throw new CommitFailed(failed.error, failed.index)
    try {
      await commit()
    }
    catch (again) {
      throw isJudged(again) ? new CommitFailed(changedMeanwhile(), again.item) : again
    }
  }
}

/** @throws The failure of a single write, or `BULK_FAILED`. */
async function assertReferences(plan: Scoped<WritePlan>, items: readonly Item[], call: Call, when: 'now' | 'commit'): Promise<void> {
  await checkReferences(plan, items, call, when)
  for (const item of items) if (item.error !== undefined) item.error = await recheckTarget(plan, item, item.error, call)
  stopOnFailure(plan, items)
}

/** What a row was to point at may have gone together with the row itself: whoever comes after that is told of the row. */
async function recheckTarget(plan: Scoped<WritePlan>, item: Item, reason: unknown, call: Call): Promise<unknown> {
  if (plan.kind !== 'update' || !isInvalidReference(reason)) return reason
  const now = { ...item, error: undefined }
  await loadTargets(plan, [now], call)
  return now.error ?? reason
}

async function commitAlone(plan: Scoped<WritePlan>, item: Item, written: Map<number, WrittenItem>, call: Call, time: Date): Promise<void> {
  try {
    await commitWithRecheck(plan, [item], written, call, time)
  }
  catch (error) {
    written.delete(item.index)
    const along = error instanceof CommitFailed && await findAlreadyDeleted(plan, item, written, call)
    if (along) written.set(item.index, along)
    else item.error = await recheckTarget(plan, item, error instanceof CommitFailed ? error.reason : error, call)
  }
}

/** @throws The first item's failure when none succeeded. */
function toResult(plan: WritePlan, items: readonly Item[], written: ReadonlyMap<number, WrittenItem>): WriteResult {
  const failed = items.filter(item => item.error !== undefined)
  if (failed.length === items.length && failed.length > 0) throw bulkFailed('nothing was written', failed)
  return {
    plan,
    failures: describeFailures(failed),
    written: items.flatMap((item) => {
      const done = written.get(item.index)
      return done ? [{ ...done, index: item.index, id: done.record ? idOf(plan, done.record) : toId(plan.resource, item.key!) }] : []
    }),
  }
}

/** The commit stands, whatever they throw: all of them run, then the first error is answered. */
async function after(
  { kind, resource }: WritePlan,
  items: readonly Item[],
  { written }: WriteResult,
  call: Call,
  errors: unknown[],
): Promise<void> {
  for (const done of written) {
    const item = items[done.index]!
    const record = await runAfterHooks(
      call,
      AFTER[kind],
      done.record,
      (run, record) => {
        const hook = run as AnyHook
        return record ? hook(record, item.ctx) : hook(hookId(resource, item.key!), item.ctx)
      },
      errors,
    )
    if (record) (done as WrittenItem).record = record
  }
}
