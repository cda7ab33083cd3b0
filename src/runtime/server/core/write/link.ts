/**
 * Changes the links of a record in one commit for all relations of the request. The caller must be able to see the record and the records
 * to link. Links that the caller cannot see stay.
 */
import { repeat } from '../../engines/retry'
import type { Call } from '../request/session'
import { changedMeanwhile } from '../error'
import { keyFields } from '../access/fields'
import { itemContext } from '../request/hooks'
import type { LinkMode } from '../access/links'
import type { LinkPlan } from '../plan/relation'
import { inTuples } from '../sql/list/index'
import { tupleKey } from '../sql/tuple-key'
import { within, type Plan, type Scoped } from '../access/row-scope'
import { certified } from '../commit/certify'
import { CommitFailed } from '../commit/failure'
import type { Expectation, WriteOperation } from '../commit/operation'
import type { Item, Target } from './items'
import type { CommitRules } from './commit-parts'
import { stopOnFailure, type WritePart } from './parts'
import { runWrite } from './run'
import { countVisible, hasObjectLevel, linkOperations, planLinkChange, predictCounts, type LinkChange } from './relations/link-change'
import { loadLinkTargets, targetOperations } from './relations/targets'
import { resultsOf, runAfterLink, runBeforeLink, type RelationCounts } from './relations/link-hooks'
import { readParentValues, type LinkTask, type ScopedLink } from './relations/links'
import { junctionFields } from '../read/rows/junction'
import { rowClauses } from './row-clauses'
import { loadTargets } from './targets'
import { selectStatement } from '../commit/select'

export interface LinkResult {
  readonly plan: LinkPlan
  readonly results: readonly RelationCounts[]
}

export async function executeLink(plan: Scoped<LinkPlan>, call: Call): Promise<LinkResult> {
  const ctx = itemContext(call)
  const hooked: HookedLinks = new Map()
  const changes = await repeat(async (attempt) => {
    const decision = await decide(plan, call)
    const { changes } = decision
    if (attempt === 1) await runBeforeLink(tasksOf(changes), ctx, call)
    const parts = [...partsOf(changes, 'deletes'), ...partsOf(changes, 'creates')]
    reuseHooks(changes, hooked)
    await runWrite(parts, {
      onCommitting: () => rememberHooks(changes, hooked),
      onCommitted: () => countTotals(changes, call),
      afterHooks: errors => runAfterLink(tasksOf(changes), ctx, errors, call),
    }, linkRules(plan, decision), { plan: parts[0]!.plan, call })
    return changes
  }, error => error instanceof CommitFailed, changedMeanwhile)
  if (call.ctx.dryRun) for (const change of changes) await predictCounts(change, call)
  return { plan, results: resultsOf(tasksOf(changes)) }
}

const partsOf = (changes: readonly LinkChange[], kind: 'creates' | 'deletes'): readonly WritePart[] =>
  changes.flatMap(change => change[kind]?.part ?? [])

const tasksOf = (changes: readonly LinkChange[]) => changes.map(({ task }) => task)

/** SQL cannot count links under an object-level rule. */
async function countTotals(changes: readonly LinkChange[], call: Call): Promise<void> {
  for (const { task } of changes) if (hasObjectLevel(task.link)) task.counts.total = await countVisible(task, call)
}

/** What the before-hooks of an earlier try left of each link. A new try takes it from here, so that no hook runs twice for one link. */
type HookedLinks = Map<string, Item>

const linksOf = (changes: readonly LinkChange[]) => changes.flatMap(({ task: { link: { relation } }, deletes, creates }) => [
  ...(deletes?.part.items ?? []).map(item => ({ item, id: `${relation.name} - ${tupleKey(item.key!)}` })),
  ...(creates?.links ?? []).map(item => ({ item, id: `${relation.name} + ${tupleKey(item.target)}` })),
])

function rememberHooks(changes: readonly LinkChange[], hooked: HookedLinks): void {
  for (const { item, id } of linksOf(changes)) hooked.set(id, item)
}

function reuseHooks(changes: readonly LinkChange[], hooked: HookedLinks): void {
  for (const { item, id } of linksOf(changes)) {
    const known = hooked.get(id)
    if (known) Object.assign(item, { values: known.values, ctx: known.ctx, conditions: known.conditions, isHooked: true })
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
async function decide(plan: Scoped<LinkPlan>, call: Call): Promise<Decision> {
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

/** After these errors, a new try would fail for the same reason. */
const FINAL: ReadonlySet<Expectation | undefined> = new Set([undefined, 'restrict', 'condition'])

/** The commit fails with {@link CommitFailed} if rows have changed since they were read. The change of the links is then planned again. */
const linkRules = ({ mode }: LinkPlan, decision: Decision): CommitRules => ({
  operations: (_, { time, request: { call } }) => toOperations(mode, decision, call, time),
  // The kind selects the error of a foreign key violation: a removal fails if another row still references the link.
  planOf: () => ({ ...decision.row, kind: mode === 'remove' ? 'delete' : 'update' }),
  stop: stopOnFailure,
  toError: async (_, failure) => FINAL.has(failure.expectation) ? failure.reason : failure,
})

function toOperations(mode: LinkMode, { row, target, changes }: Decision, call: Call, time: Date): WriteOperation[] {
  const parentLock = { table: row.resource.facts.name, operation: lockParent(row, target, call) }
  const targetLocks = changes.flatMap(({ task: { link, targets } }) =>
    targetOperations(mode, link, targets, call).map(operation => ({ table: link.relation.target.facts.name, operation })))
  // Locks the tables in the order of their names. Otherwise, two requests that link the same records from opposite sides can deadlock.
  const locks = [parentLock, ...targetLocks].toSorted((a, b) => (a.table < b.table ? -1 : Number(a.table > b.table)))
  return [...locks.map(({ operation }) => operation), ...changes.flatMap(change => linkOperations(change, call, time))]
}

function lockParent(plan: Scoped<Plan>, target: Target, call: Call): WriteOperation {
  const where = rowClauses(plan, target)
  const lock = selectStatement(call, plan.resource, where, keyFields(plan.resource), 'update')
  return { statement: certified(call, plan.resource, lock), expectation: 'row' }
}
