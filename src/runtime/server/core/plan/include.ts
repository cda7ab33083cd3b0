/**
 * Plans includes and relation counts: each relation gets a plan that applies the permissions, readable fields and row scope of the related
 * resource.
 */
import type { Awaitable } from '../awaitable'
import type { Relation, Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { invalidQuery, limitExceeded, quote } from '../error'
import { defaultFields, readableFields, requireField, select, type Selection } from '../access/fields'
import { authorize } from '../access/authorize'
import type { IncludeQuery, IncludeTree } from '../parse/include'
import type { ReadQuery } from '../parse/list'
import { planCounts, type CountBudget } from './counts'
import { planFilter, relatedReads, type RelatedReads } from './filter'
import { planOrder } from './order'
import { planRelatedSorts, sortsRelated } from './related-order'
import { requireRelation } from '../access/readable-relation'
import type { IncludePlan, ReadPlan } from './read-plan'

/** What a read needs of related rows. */
export type PlannedRelations = Pick<ReadPlan, 'include' | 'counts'>

/**
 * Plans the includes and the relation counts of a request. This is its last step: it throws 400 for unknown relations and exceeded limits,
 * and only then 401 or 403 for a resource that an include, a count or a filter reads. A promise only if the request reads such a resource.
 * @param query what the request asks for
 * @param filters the relations that the filter of the request names
 */
export function planRelations(
  query: Pick<ReadQuery, 'include' | 'counts'>, call: Call, filters?: RelatedReads,
): Awaitable<PlannedRelations> {
  const { include, counts } = query
  const needsNothing = include.size === 0 && counts.length === 0 && !filters?.targets.size
  return needsNothing ? NO_RELATIONS : planTree(include, counts, call, filters ?? relatedReads(call))
}

const NO_INCLUDES: readonly IncludePlan[] = Object.freeze([])
const NO_RELATIONS: PlannedRelations = Object.freeze({ include: NO_INCLUDES })

async function planTree(tree: IncludeTree, counts: readonly string[], call: Call, filters: RelatedReads): Promise<PlannedRelations> {
  const budget: Budget = { remaining: call.api.config.relations.maxIncludes, filters }
  const include = tree.size === 0 ? NO_INCLUDES : await planLevel(tree, call.resource, call, 1, budget)
  const counted = await planCounts(counts, call.resource, call, budget)
  for (const target of filters.targets) await authorize(call, target, ['read'])
  return { include, ...counted }
}

/** The number of relations that includes and counts can still name, and what the filters of the request share. */
interface Budget extends CountBudget {
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
    const related = {
      include: await planLevel(options.include, relation.target, call, depth + 1, budget),
      ...await planCounts(options.counts ?? [], relation.target, call, budget, 'include.counts'),
    }
    plans.push(await planInclude(relation, options, related, call, budget.filters))
  }
  return plans
}

async function planInclude(
  relation: Relation, options: IncludeQuery, related: PlannedRelations, call: Call, filters: RelatedReads,
): Promise<IncludePlan> {
  const { target } = relation
  const { maxLimit } = call.api.config.pagination
  const isToMany = relation.kind !== 'one'
  if (!isToMany && (options.limit !== undefined || options.filter || options.sort))
    throw invalidQuery(`\`include\`: ${quote(relation.name)} is one record; limit, sort and filter are for lists.`, 'include')
  const readable = await readableFields(call, target)
  const { sort = [] } = options
  const relatedSorts = sortsRelated(sort) ? await planRelatedSorts(sort, target, readable, call, filters, 'include.sort') : undefined
  const order = isToMany ? planOrder(target, readable, sort, [], 'include.sort', relatedSorts) : []
  return {
    relation,
    plan: {
      resource: target,
      trash: 'active',
      selection: chooseFields(target, readable, options.fields, 'include.fields'),
      ...options.filter ? await planFilter(options.filter, target, call, filters, 'include.filter') : { where: [] },
      order,
      count: false,
      ...related,
    },
    ...relation.kind === 'manyToMany' && { through: { resource: relation.junction.resource, trash: 'active' as const } },
    ...isToMany && { perParent: Math.min(options.limit ?? maxLimit, maxLimit) },
  }
}

/**
 * Selects the named fields in the order of the table. Without names, it selects all readable fields that are not lazy.
 * @throws `UNKNOWN_FIELD`
 */
export function chooseFields(
  resource: Resource,
  readable: Selection,
  names: readonly string[] | undefined,
  parameter = 'fields',
): Selection {
  if (!names || names.length === 0) return defaultFields(readable)
  const chosen = new Set(names.map(name => requireField(readable, name, parameter)))
  return select(resource, field => chosen.has(field))
}
