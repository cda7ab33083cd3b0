/** Plans includes: each relation gets a plan that applies the permissions, readable fields and row scope of the related resource. */
import type { Awaitable } from '../awaitable'
import type { Relation, Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { invalidQuery, limitExceeded, quote } from '../error'
import { readableFields, requireField, select, type Selection } from '../access/fields'
import { authorize } from '../access/authorize'
import type { IncludeQuery, IncludeTree } from '../parse/include'
import { planFilter, relatedReads, type RelatedReads } from './filter'
import { planOrder } from './order'
import { planRelatedSorts, sortsRelated } from './related-order'
import { requireRelation } from './readable-relation'
import type { IncludePlan } from './read-plan'

/**
 * Plans the includes of a request. This is its last step: it throws 400 for unknown relations and exceeded limits, and only then 401 or 403
 * for a resource that an include or a filter reads. A promise only if the request reads such a resource.
 * @param filters the relations that the filter of the request names
 */
export function planIncludes(
  tree: IncludeTree, call: Call, filters?: RelatedReads,
): Awaitable<readonly IncludePlan[]> {
  return tree.size === 0 && !filters?.targets.size ? NO_INCLUDES : planTree(tree, call, filters ?? relatedReads(call))
}

const NO_INCLUDES: readonly IncludePlan[] = Object.freeze([])

async function planTree(tree: IncludeTree, call: Call, filters: RelatedReads): Promise<readonly IncludePlan[]> {
  const budget: Budget = { remaining: call.api.config.relations.maxIncludes, filters }
  const plans = tree.size === 0 ? NO_INCLUDES : await planLevel(tree, call.resource, call, 1, budget)
  for (const target of filters.targets) await authorize(call, target, ['read'])
  return plans
}

/** The number of relations that includes can still name, and what the filters of the request share. */
interface Budget {
  remaining: number
  readonly filters: RelatedReads
}

async function planLevel(
  tree: IncludeTree,
  resource: Resource,
  call: Call,
  depth: number,
  budget: Budget,
): Promise<readonly IncludePlan[]> {
  const { maxDepth, maxIncludes } = call.api.config.relations
  if (tree.size > 0 && depth > maxDepth) throw limitExceeded(`\`include\` goes deeper than ${maxDepth} relations.`, 'include')
  const plans: IncludePlan[] = []
  for (const [name, options] of tree) {
    if (--budget.remaining < 0) throw limitExceeded(`\`include\` names more than ${maxIncludes} relations.`, 'include')
    const relation = await requireRelation(call, resource, name)
    budget.filters.targets.add(relation.target)
    const include = await planLevel(options.include, relation.target, call, depth + 1, budget)
    plans.push(await planInclude(relation, options, include, call, budget.filters))
  }
  return plans
}

async function planInclude(
  relation: Relation, options: IncludeQuery, include: readonly IncludePlan[], call: Call, filters: RelatedReads,
): Promise<IncludePlan> {
  const { target } = relation
  const { maxLimit } = call.api.config.pagination
  const isToMany = relation.kind !== 'one'
  if (!isToMany && (options.limit !== undefined || options.filter || options.sort))
    throw invalidQuery(`\`include\`: ${quote(relation.name)} is one record; limit, sort and filter are for lists.`, 'include')
  const readable = await readableFields(call, target)
  const { sort = [] } = options
  const related = sortsRelated(sort) ? await planRelatedSorts(sort, target, readable, call, filters, 'include.sort') : undefined
  const order = isToMany ? planOrder(target, readable, sort, [], 'include.sort', related) : []
  return {
    relation,
    plan: {
      resource: target,
      trash: 'active',
      selection: chooseFields(target, readable, options.fields, 'include.fields'),
      ...options.filter ? await planFilter(options.filter, target, call, filters, 'include.filter') : { where: [] },
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
