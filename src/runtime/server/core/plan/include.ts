/** Plans includes: each relation gets a plan that applies the permissions, readable fields and row scope of the related resource. */
import type { Relation, Resource } from '../../schema/model'
import { relationColumns } from '../../schema/relation-columns'
import type { Call } from '../context'
import { invalidQuery, limitExceeded, quote, unknownRelation } from '../error'
import { readableFields, requireField, select, type Selection } from '../access/fields'
import { authorize } from '../access/authorize'
import type { IncludeQuery, IncludeTree } from '../parse/include'
import { planFilter } from './filter'
import { planOrder } from './order'
import { planSearch } from './search'
import type { IncludePlan } from './read-plan'

/** Throws 400 for unknown relations and exceeded limits first, and only then 401 or 403 for an included resource. */
export async function planIncludes(tree: IncludeTree, call: Call): Promise<readonly IncludePlan[]> {
  if (tree.size === 0) return []
  const targets = new Set<Resource>()
  const budget = { remaining: call.api.config.relations.maxIncludes }
  const plans = await planLevel(tree, call.resource, call, 1, budget, targets)
  for (const target of targets) await authorize(call, target, ['read'])
  return plans
}

async function planLevel(
  tree: IncludeTree,
  resource: Resource,
  call: Call,
  depth: number,
  budget: { remaining: number },
  targets: Set<Resource>,
): Promise<readonly IncludePlan[]> {
  const { maxDepth, maxIncludes } = call.api.config.relations
  if (tree.size > 0 && depth > maxDepth) throw limitExceeded(`\`include\` goes deeper than ${maxDepth} relations.`, 'include')
  const plans: IncludePlan[] = []
  for (const [name, options] of tree) {
    if (--budget.remaining < 0) throw limitExceeded(`\`include\` names more than ${maxIncludes} relations.`, 'include')
    const relation = await requireRelation(call, resource, name)
    targets.add(relation.target)
    const include = await planLevel(options.include, relation.target, call, depth + 1, budget, targets)
    plans.push(await planInclude(relation, options, include, call))
  }
  return plans
}

/** @throws `UNKNOWN_RELATION` if the relation does not exist or the caller cannot read it. */
export async function requireRelation(call: Call, resource: Resource, name: string, parameter = 'include'): Promise<Relation> {
  const relation = resource.relations.get(name)
  if (!relation || !await isRelationReadable(call, resource, relation)) throw unknownRelation(parameter, name)
  return relation
}

/**
 * Whether the caller can read the key columns of both sides and of a registered junction. If the caller could not
 * read a key column, an include would still disclose which rows have equal values in it.
 */
export async function isRelationReadable(call: Call, resource: Resource, relation: Relation): Promise<boolean> {
  for (const [owner, fields] of relationColumns(resource, relation)) {
    const { byName } = await readableFields(call, owner)
    if (fields.some(({ name }) => !byName.has(name))) return false
  }
  return true
}

async function planInclude(relation: Relation, options: IncludeQuery, include: readonly IncludePlan[], call: Call): Promise<IncludePlan> {
  const { target } = relation
  const { maxLimit } = call.api.config.pagination
  const isToMany = relation.kind !== 'one'
  if (!isToMany && (options.limit !== undefined || options.filter || options.sort))
    throw invalidQuery(`\`include\`: ${quote(relation.name)} is one record; limit, sort and filter are for lists.`, 'include')
  const readable = await readableFields(call, target)
  const order = isToMany ? planOrder(target, readable, options.sort ?? [], [], 'include.sort') : []
  return {
    relation,
    plan: {
      resource: target,
      trash: 'active',
      selection: chooseFields(target, readable, options.fields, 'include.fields'),
      where: options.filter ? planFilter(options.filter, readable, call.engine, 'include.filter') : [],
      ...options.filter && planSearch(options.filter, readable),
      order,
      count: false,
      include,
    },
    ...relation.kind === 'manyToMany' && { through: { resource: relation.junction.resource, trash: 'active' as const } },
    ...isToMany && { perParent: Math.min(options.limit ?? maxLimit, maxLimit) },
  }
}

/** Selects the named fields in the order of the table. Without names, it selects all readable fields. @throws `UNKNOWN_FIELD` */
export function chooseFields(
  resource: Resource,
  readable: Selection,
  names: readonly string[] | undefined,
  parameter = 'fields',
): Selection {
  if (!names || names.length === 0) return readable
  const chosen = new Set(names.map(name => requireField(readable, name, parameter)))
  return select(resource, field => chosen.has(field))
}
