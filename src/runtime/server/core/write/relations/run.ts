/**
 * Changes the links of a record in one commit for all relations of the request. The caller must be able to see the record and the records
 * to link. Links that the caller cannot see stay.
 */
import { backOff } from '../../../engines/retry'
import type { AutoApiContext } from '../../../registration'
import type { Call } from '../../request/session'
import { changedMeanwhile } from '../../error'
import { keyFields } from '../../access/fields'
import { itemContext, runAfterHooks, runHooks, type AnyHook } from '../../request/hooks'
import type { LinkPlan } from '../../plan/relation'
import { inTuples } from '../../sql/list/index'
import { within, type Plan, type Scoped } from '../../access/row-scope'
import { certified } from '../../commit/certify'
import { commitOperations } from '../../commit/commit'
import { CommitFailed } from '../../commit/failure'
import type { Expectation, WriteOperation } from '../../commit/operation'
import type { Target } from '../items'
import { runAfterCreateHooks, runBeforeCreateHooks } from './create-hooks'
import { runAfterDeleteHooks, runBeforeDeleteHooks } from './delete-links'
import { countVisible, hasObjectLevel, linkOperations, planLinkChange, predictCounts, type LinkChange } from './link-change'
import { loadLinkTargets, targetOperations } from './targets'
import { readParentValues, type Counts, type HookResults, type LinkTask, type ScopedLink } from './links'
import { junctionFields } from '../../read/rows/junction'
import { rowClauses } from '../row-clauses'
import { loadTargets } from '../targets'
import { selectStatement } from '../../commit/select'

export interface LinkResult {
  readonly plan: LinkPlan
  readonly results: readonly ({ readonly relation: string } & Readonly<Counts>)[]
}

/** The maximum number of tries. A try fails if rows that the plan relies on change before the commit. */
const MAX_TRIES = 8

export async function executeLink(plan: Scoped<LinkPlan>, call: Call): Promise<LinkResult> {
  const ctx = itemContext(call)
  const hookResults: HookResults = new Map()
  const changes = await commitWithRetries(async () => {
    const decision = await decide(plan, ctx, call)
    await runBeforeHooks(decision.changes, ctx, hookResults, call)
    // The kind selects the error of a foreign key violation: a removal fails if another row still references the link.
    await commitOperations(
      { ...decision.row, kind: plan.mode === 'remove' ? 'delete' : 'update' },
      await toOperations(plan, decision, call),
      call,
    )
    return decision.changes
  })
  const tasks = changes.map(({ task }) => task)
  if (call.ctx.dryRun) for (const change of changes) await predictCounts(change, call)
  else for (const task of tasks) if (hasObjectLevel(task.link)) task.counts.total = await countVisible(task, call)
  const results = tasks.map(({ link, counts }) => ({ relation: link.relation.name, ...counts }))
  const errors: unknown[] = []
  for (const { creates, deletes } of changes) {
    if (deletes) await runAfterDeleteHooks(deletes, errors)
    if (creates) await runAfterCreateHooks(creates, errors)
  }
  for (const result of results) {
    await runAfterHooks(call, 'afterLink', result, (run, result) => (run as AnyHook)(result.relation, result, ctx), errors)
  }
  if (errors.length > 0) throw errors[0]
  return { plan, results }
}

/** A new try would fail for the same reason. */
const FINAL: ReadonlySet<Expectation> = new Set(['restrict', 'condition'])

/** Tries again if rows have changed since they were read or checked. @throws 409 if rows change during every try. */
async function commitWithRetries(commit: () => Promise<readonly LinkChange[]>): Promise<readonly LinkChange[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await commit()
    }
    catch (error) {
      if (!(error instanceof CommitFailed)) throw error
      if (error.expectation === undefined || FINAL.has(error.expectation)) throw error.reason
      if (tries === MAX_TRIES) throw changedMeanwhile()
      await backOff(tries)
    }
  }
}

interface Decision {
  /** The rows of the record's resource that the caller can update. */
  readonly row: Scoped<Plan>
  readonly target: Target
  readonly changes: readonly LinkChange[]
}

/**
 * Plans the change. Applies the rules of the record, of the records to link and of the junction.
 * @throws The error of the first rule that refuses, before any hook runs.
 */
async function decide(plan: Scoped<LinkPlan>, ctx: AutoApiContext, call: Call): Promise<Decision> {
  const row = within<LinkPlan, Plan>(plan, {})
  const target: Target = { key: plan.key }
  await loadTargets(row, [target], call)
  if (target.error) throw target.error
  const tasks: LinkTask[] = []
  for (const link of plan.include) tasks.push(await toLinkTask(plan, link, call))
  const changes: LinkChange[] = []
  for (const task of tasks) changes.push(await planLinkChange(task, call))
  return { row, target, changes }
}

async function toLinkTask(plan: Scoped<LinkPlan>, link: ScopedLink, call: Call): Promise<LinkTask> {
  const { relation } = link
  const parent = await readParentValues(plan, plan.key, relation.columns, call)
  return {
    link, mode: plan.mode, parent,
    ofParent: inTuples(call.engine, junctionFields(relation, relation.junction.sourceKey.columns), [parent]),
    targets: await loadLinkTargets(link, parent, call),
    counts: { added: 0, removed: 0, total: 0 },
  }
}

/** Runs the hooks of the record's resource, then the hooks of the junctions for each link. A retry does not run a hook again. */
async function runBeforeHooks(changes: readonly LinkChange[], ctx: AutoApiContext, hookResults: HookResults, call: Call): Promise<void> {
  if (!hookResults.has(LINK)) {
    for (const { task: { link: { relation: { name }, ids } } } of changes) {
      await runHooks(call, 'beforeLink', ids, run => (run as AnyHook)(name, ids, ctx))
    }
    hookResults.set(LINK, { values: {}, ctx })
  }
  for (const { task, deletes } of changes) if (deletes) await runBeforeDeleteHooks(task, deletes, hookResults)
  for (const { task, creates } of changes) if (creates) await runBeforeCreateHooks(task, creates, hookResults)
}

const LINK = 'link'

async function toOperations({ mode }: Scoped<LinkPlan>, { row, target, changes }: Decision, call: Call): Promise<WriteOperation[]> {
  const parentLock = { table: row.resource.facts.name, operation: lockParent(row, target, call) }
  const targetLocks = changes.flatMap(({ task: { link, targets } }) =>
    targetOperations(mode, link, targets, call).map(operation => ({ table: link.relation.target.facts.name, operation })))
  // Locks the tables in the order of their names. Otherwise, two requests that link the same records from opposite sides can deadlock.
  const operations = [parentLock, ...targetLocks]
    .toSorted((a, b) => (a.table < b.table ? -1 : Number(a.table > b.table)))
    .map(({ operation }) => operation)
  for (const change of changes) operations.push(...await linkOperations(change, call))
  return operations
}

function lockParent(plan: Scoped<Plan>, target: Target, call: Call): WriteOperation {
  const where = rowClauses(plan, target)
  const lock = selectStatement(call, plan.resource, where, keyFields(plan.resource), 'update')
  return { statement: certified(call, plan.resource, lock), expectation: 'row' }
}
