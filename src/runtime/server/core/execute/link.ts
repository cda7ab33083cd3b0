/** Changes what a record is linked to: both sides visible, hidden links untouched, every relation of the request in one commit. */
import type { ManyToMany } from '../../schema/model'
import type { Call } from '../context'
import { unknownIds } from '../error'
import { keyFields } from '../fields'
import { itemContext, runAfterHooks, runHooks } from '../hooks'
import { keyClauses } from '../plan/read'
import { assertMetadata, type LinkPlan } from '../plan/relation'
import type { WritePlan } from '../plan/write'
import { among } from '../query'
import { narrow, within, type Scoped } from '../scope'
import { commitSteps, Undone, type Step } from './commit'
import { toItems, type Item } from './items'
import { judges, linkSteps, targetSteps, visibleLinks, type Counts, type ScopedLink } from './link-steps'
import { parentValues } from './links'
import { locate, pins } from './locate'
import { readRows, valuesAt } from './rows'
import { selectStatement } from './statements'

export interface LinkResult {
  readonly plan: LinkPlan
  readonly results: readonly ({ readonly relation: string } & Readonly<Counts>)[]
}

export async function executeLink(plan: Scoped<LinkPlan>, call: Call): Promise<LinkResult> {
  const row = within<LinkPlan, WritePlan>(plan, { kind: 'update', items: [{ key: plan.key }], bulk: false, atomic: true, selection: keyFields(plan.resource) })
  const items = toItems(row, () => itemContext(call))
  await locate(row, items, call)
  if (items[0]!.error) throw items[0]!.error
  const links = plan.include as unknown as ScopedLink[]
  const found: (readonly (readonly unknown[])[])[] = []
  for (const link of links) found.push(await findTargets(plan, link, call))
  for (const { relation, ids } of links) await runHooks(call, 'beforeLink', ids, run => (run as AnyHook)(relation.name, ids, items[0]!.ctx))
  for (const link of links) await assertMetadata(link, call)
  const results = links.map(({ relation }) => ({ relation: relation.name, added: 0, removed: 0, total: 0 }))
  const looked = [[plan.resource, guardParent(row, items[0]!, call)] as const, ...links.flatMap((link, index) => targetSteps(plan.mode, link, found[index]!, call).map(step => [link.relation.target, step] as const))]
  // Both sides are locked, in one order for all: whoever links them from the other side would wait for this one, and this one for it.
  const steps = looked.toSorted(([a], [b]) => a.facts.name < b.facts.name ? -1 : Number(a.facts.name > b.facts.name)).map(([, step]) => step)
  for (const [index, link] of links.entries()) steps.push(...await linkSteps(plan, link, found[index]!, results[index]!, call))
  await commit(row, steps, call)
  for (const [index, link] of links.entries()) if (judges(link)) results[index]!.total = (await visibleLinks(plan, link, call)).length
  const errors: unknown[] = []
  for (const result of results) await runAfterHooks(call, 'afterLink', result, (run, result) => (run as AnyHook)(result.relation, result, items[0]!.ctx), errors)
  if (errors.length > 0) throw errors[0]
  return { plan: plan as unknown as LinkPlan, results }
}

type AnyHook = (...args: unknown[]) => unknown

async function commit(plan: Scoped<WritePlan>, steps: readonly Step[], call: Call): Promise<void> {
  try {
    await commitSteps(plan, steps, call)
  }
  catch (error) {
    throw error instanceof Undone ? error.reason : error
  }
}

function guardParent(plan: Scoped<WritePlan>, item: Item, call: Call): Step {
  return { statement: selectStatement(call, plan.resource, [...keyClauses(plan.resource, item.key!), ...plan.scope, ...pins(plan, item)], keyFields(plan.resource), 'update'), guard: 'row' }
}

/** The records to link, by the values the junction holds of them. @throws 404 naming the ids that are not visible. */
async function findTargets(of: Scoped<LinkPlan>, { relation, plan, keys, ids }: ScopedLink, call: Call): Promise<readonly (readonly unknown[])[]> {
  if (keys.length === 0) return []
  const { primaryKey } = relation.target
  const encoded = keys.map(key => key.map((value, index) => primaryKey[index]!.encode(value)))
  const { columns, rows } = await readRows(narrow(plan, [among(call.engine, primaryKey, encoded)]), { cursor: true }, call)
  const keyOf = valuesAt(columns, primaryKey)
  const found = new Map(rows.map(row => [keyOf(row).map(String).join('\0'), row]))
  const fits = await sharedColumns(of, relation, call)
  const linkedBy = valuesAt(columns, relation.foreignColumns)
  const missing = ids.filter((_, index) => {
    const row = found.get(encoded[index]!.map(String).join('\0'))
    return !row || !fits(linkedBy(row))
  })
  if (missing.length > 0) throw unknownIds(relation.name, missing)
  return [...found.values()].map(linkedBy)
}

/** Where the junction's two keys share a column, only records that agree on it can be linked. */
async function sharedColumns(plan: Scoped<LinkPlan>, { columns, junction: { here, there } }: ManyToMany, call: Call): Promise<(target: readonly unknown[]) => boolean> {
  const shared = here.columns.flatMap((name, index) => there.columns.includes(name) ? [[index, there.columns.indexOf(name)] as const] : [])
  if (shared.length === 0) return () => true
  const parent = await parentValues(plan, plan.key, columns, call)
  return target => shared.every(([mine, theirs]) => String(parent[mine]) === String(target[theirs]))
}
