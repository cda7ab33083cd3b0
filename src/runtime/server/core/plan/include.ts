/** The include tree: relation names become plans of their own, each with its resource's permissions, fields and rows. */
import type { ManyToMany, Relation, Resource } from '../../schema/model'
import type { Call } from '../context'
import { invalidQuery, limitExceeded, quote, unknownRelation } from '../error'
import { readableFields, requireField, select, type Selection } from '../fields'
import { assertMay } from '../gate'
import type { IncludeAsk, IncludeTree } from '../parse/include'
import { assertTenant } from '../tenant'
import { planFilter } from './filter'
import { planOrder } from './order'
import type { IncludePlan } from './tree'

/** @throws 400 for what is unknown or too much, before any 403 of an included resource. */
export async function planIncludes(tree: IncludeTree, call: Call): Promise<readonly IncludePlan[]> {
  if (tree.size === 0) return []
  const targets = new Set<Resource>()
  const counter = { left: call.api.config.relations.maxIncludes }
  const plans = await planLevel(tree, call.resource, call, 1, counter, targets)
  for (const target of targets) {
    await assertMay(call, target, 'read')
    assertTenant(call, target)
  }
  return plans
}

async function planLevel(tree: IncludeTree, resource: Resource, call: Call, depth: number, counter: { left: number }, targets: Set<Resource>): Promise<readonly IncludePlan[]> {
  const { maxDepth, maxIncludes } = call.api.config.relations
  if (tree.size > 0 && depth > maxDepth) throw limitExceeded(`\`include\` goes deeper than ${maxDepth} relations.`, 'include')
  const plans: IncludePlan[] = []
  for (const [name, ask] of tree) {
    if (--counter.left < 0) throw limitExceeded(`\`include\` names more than ${maxIncludes} relations.`, 'include')
    const relation = await requireRelation(call, resource, name)
    targets.add(relation.target)
    const include = await planLevel(ask.include, relation.target, call, depth + 1, counter, targets)
    plans.push(await planInclude(relation, ask, include, call))
  }
  return plans
}

/**
 * A relation is as secret as the foreign key it follows.
 * @throws `UNKNOWN_RELATION`
 */
export async function requireRelation(call: Call, resource: Resource, name: string, parameter = 'include'): Promise<Relation> {
  const relation = resource.relations.get(name)
  if (!relation) throw unknownRelation(parameter, name)
  const [holder, key] = relation.kind === 'one' ? [resource, relation.columns] : relation.kind === 'many' ? [relation.target, relation.foreignColumns] : junctionKey(relation)
  const readable = holder && await readableFields(call, holder)
  if (readable && key.some(field => !readable.byName.has(field.name))) throw unknownRelation(parameter, name)
  return relation
}

function junctionKey({ junction: { resource, registered, here, there } }: ManyToMany): [Resource | undefined, readonly { name: string }[]] {
  return registered ? [resource, [...here.columns, ...there.columns].map(name => resource.fields.get(name)!)] : [undefined, []]
}

async function planInclude(relation: Relation, ask: IncludeAsk, include: readonly IncludePlan[], call: Call): Promise<IncludePlan> {
  const { target } = relation
  const { maxLimit } = call.api.config.pagination
  const many = relation.kind !== 'one'
  if (!many && (ask.limit !== undefined || ask.filter || ask.sort)) throw invalidQuery(`\`include\`: ${quote(relation.name)} is one record; limit, sort and filter are for lists.`, 'include')
  const readable = await readableFields(call, target)
  const order = many ? planOrder(target, readable, ask.sort ?? [], [], 'include.sort') : []
  return {
    relation,
    plan: {
      resource: target,
      trash: 'active',
      selection: chooseFields(target, readable, ask.fields, 'include.fields'),
      where: ask.filter ? planFilter(ask.filter, readable, call.engine, 'include.filter') : [],
      order,
      count: false,
      include,
    },
    ...relation.kind === 'manyToMany' && { through: { resource: relation.junction.resource, trash: 'active' as const } },
    ...many && { perParent: Math.min(ask.limit ?? maxLimit, maxLimit) },
  }
}

/** The fields asked for, in the table's order; all that are readable when none are named. @throws `UNKNOWN_FIELD` */
export function chooseFields(resource: Resource, readable: Selection, names: readonly string[] | undefined, parameter = 'fields'): Selection {
  if (!names || names.length === 0) return readable
  const chosen = new Set(names.map(name => requireField(readable, name, parameter)))
  return select(resource, field => chosen.has(field))
}
