/** Runs a write or a dry run of one: load the rows, run the before-hooks, check fields and references, commit, run the after-hooks. */
import { andThen, inTurn, type Awaitable } from '../awaitable'
import type { Call } from '../request/session'
import type { WritePlan } from '../plan/write'
import type { Scoped } from '../access/row-scope'
import { changedMeanwhile, isNotFound } from '../error'
import { commitAll, commitOne, findReasons, ITEMS, type CommitRules, type PartsCommit } from './commit-parts'
import { checkConditions } from './conditions'
import { assertConfirmed, countAffected, type AffectedPart } from './count-affected'
import { dryRunItems } from './dry-run-items'
import { findGroup, GROUP } from './group'
import { bindLateValues } from './late'
import { itemContexts, runAfter, runBeforeEach } from './hooks'
import { toItems, withoutError, type Item } from './items'
import { itemsOf, stopOnFailure, toPart, type WritePart } from './parts'
import { checkReferences } from './references'
import { childParts, countFrom, hasChildren } from './nested'
import { STEPS } from './steps'
import { assertJudgedOnce, assertLinkedOnce, deferMissing, markRepeated } from './missing'
import { toResult, type WriteResult } from './result'
import { checkTags } from './tags'
import { loadTargets } from './targets'
import { checkWritable } from './writable-values'

/** Runs around the commit of a write. */
export interface CommitListeners {
  /** Runs before the commit. After it, an error can leave open whether the items were written. */
  readonly onCommitting?: () => void
  /** Runs after the commit. The after-hooks follow; their errors do not undo the commit. */
  readonly onCommitted?: (items: readonly Item[]) => unknown
  /** Runs further after-hooks, after those of the items. It adds their errors to `errors`. */
  readonly afterHooks?: (errors: unknown[]) => Awaitable<void>
}

type Step = (parts: readonly WritePart[], request: PartsCommit['request']) => Awaitable<void>

const forEachPart = (step: (plan: Scoped<WritePlan>, items: readonly Item[], call: Call) => Awaitable<void>): Step =>
  parts => inTurn(parts, ({ plan, items, call }) => step(plan, items, call))

/** What a write does before its commit, in this order. A step returns a promise only if it waits for something. */
const PREPARATIONS: readonly Step[] = [
  parts => inTurn(parts, load),
  assertLinkedOnce,
  parts => parts.some(({ isStep }) => isStep) ? deferMissing(parts) : undefined,
  assertJudgedOnce,
  // Rows that were found a moment ago met the conditions then. The commit checks them again.
  parts => inTurn(parts, ({ plan, items, call, isFound }) => isFound ? undefined : checkConditions(plan, items, call)),
  forEachPart(checkTags),
  stopOnFailure,
  parts => inTurn(parts, ({ plan, items, call, links }) => andThen(links?.runBefore(), () => runBeforeEach(plan, items, call))),
  bindLateValues,
  forEachPart(checkWritable),
  parts => parts.length > 1 ? markRepeated(parts) : undefined,
  parts => inTurn(parts, ({ plan, items, call, isChecked }) =>
    checkReferences(plan, items, call, isChecked ? 'now' : 'commit', isChecked)),
  findReasons,
  (parts, request) => request.plan.confirm === undefined ? undefined : assertConfirmed(parts, request),
]

function load({ plan, items, call, isLoaded, isFound, links }: WritePart): Awaitable<void> {
  if (links) return links.load()
  if (isLoaded) return
  return andThen(loadTargets(plan, items, call), () => {
    if (isFound) for (const item of items) if (isNotFound(item.error)) item.error = changedMeanwhile()
  })
}

/**
 * Writes the items of all parts, in one commit if the write is atomic. In a dry run, the commit is rolled back, and no after-hook runs.
 * @param request the plan and the call of the request, if they are not those of the first part
 * @throws The error of a single write, or `BULK_FAILED` with the failed items of all parts.
 */
export async function runWrite(
  parts: readonly WritePart[],
  { onCommitting, onCommitted, afterHooks }: CommitListeners = {},
  rules: CommitRules = ITEMS,
  request: PartsCommit['request'] = parts[0]!,
): Promise<readonly WriteResult[]> {
  await inTurn(PREPARATIONS, prepare => prepare(parts, request))
  onCommitting?.()
  await commit(parts, { rules, request, time: new Date() })
  const results = parts.map(({ plan, items, written }) => toResult(plan, items, written))
  if (request.call.ctx.dryRun) return results
  if (onCommitted) await onCommitted(itemsOf(parts))
  const errors: unknown[] = []
  for (const [index, { plan, items, call, links }] of parts.entries()) {
    await runAfter(plan, items, results[index]!, call, errors)
    await links?.runAfter(errors)
  }
  await afterHooks?.(errors)
  if (errors.length > 0) throw errors[0]
  return results
}

async function commit(parts: readonly WritePart[], commit: PartsCommit): Promise<void> {
  const [part] = parts as [WritePart, ...WritePart[]]
  if (part.plan.atomic) await commitAll(parts, commit)
  else if (part.call.ctx.dryRun) await dryRunItems(part, commit)
  else for (const item of withoutError(part.items)) await commitOne(part, item, commit)
}

/** Writes the items of a request. A write of a single record has one item. */
export async function executeWrite(plan: Scoped<WritePlan>, call: Call, listeners?: CommitListeners): Promise<WriteResult> {
  if (plan.deletionId !== undefined) return executeGroupWrite(plan, call)
  const part = toPart(plan, call, toItems(plan, itemContexts(plan, call)))
  const [result] = hasChildren(plan)
    ? await runWrite([part, ...await childParts(part, countFrom(part.items.length))], listeners, STEPS)
    : await runWrite([part], listeners)
  if (!call.ctx.dryRun) return result!
  return withAffected(result!, [{ ...part, items: part.items.filter(({ index }) => part.written.has(index)) }], call)
}

/**
 * Restores or purges all rows that one cascading delete moved to the trash. For each row, the hooks of its resource run, as if the request
 * had addressed the row by its id.
 */
async function executeGroupWrite(plan: Scoped<WritePlan>, call: Call): Promise<WriteResult> {
  const parts = await findGroup(plan, call)
  const results = await runWrite(parts, {}, GROUP, { plan, call })
  const own = results[parts.findIndex(part => part.plan.resource === plan.resource)] ?? toResult(plan, [], new Map())
  const result = { ...own, total: itemsOf(parts).length }
  return call.ctx.dryRun ? withAffected(result, parts, call) : result
}

/** A dry run of a write that reaches other rows counts them. */
async function withAffected(result: WriteResult, parts: readonly AffectedPart[], call: Call): Promise<WriteResult> {
  const { kind } = result.plan
  return kind === 'create' || kind === 'update' ? result : { ...result, affected: await countAffected(parts, call) }
}
