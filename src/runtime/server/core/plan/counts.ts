/** Plans relation counts: each relation gets a plan that applies the permission and the row scope of the related resource. */
import type { Resource } from '../../schema/model'
import type { RelationCount } from '../access/plan'
import type { Call } from '../request/session'
import { invalidQuery, limitExceeded, quote, unknownRelation } from '../error'
import type { RelatedReads } from './filter'
import { findReadableRelation, isCheckedInCode, isCountable, usableRelations } from '../access/readable-relation'

/** The number of relations that a request can still name, and the resources that it reads. */
export interface CountBudget {
  remaining: number
  readonly filters: Pick<RelatedReads, 'targets'>
}

/**
 * The caller authorizes `budget.filters.targets` when the whole request is planned.
 * @throws `UNKNOWN_RELATION`, `INVALID_QUERY` for a relation that cannot be counted, `LIMIT_EXCEEDED`
 */
export async function planCounts(
  names: readonly string[], resource: Resource, call: Call, budget: CountBudget, parameter = 'counts',
): Promise<{ readonly counts?: readonly RelationCount[] }> {
  const counts: RelationCount[] = []
  for (const name of names) {
    if (--budget.remaining < 0)
      throw limitExceeded(
        `\`include\` and \`counts\` name more than ${call.api.config.relations.maxIncludes} relations.`, parameter,
      )
    const count = await planCount(name, resource, call, parameter)
    budget.filters.targets.add(count.relation.target)
    counts.push(count)
  }
  return counts.length === 0 ? NONE : { counts }
}

const NONE = Object.freeze({})

async function planCount(name: string, resource: Resource, call: Call, parameter: string): Promise<RelationCount> {
  const relation = await findReadableRelation(call, resource, name)
  if (!relation) throw unknownRelation(parameter, name, await usableRelations(call, resource, isCountable))
  if (!isCountable(relation)) throw invalidQuery(`\`${parameter}\`: ${quote(name)} is one record; counts are for lists.`, parameter)
  if (isCheckedInCode(relation, call.api))
    throw invalidQuery(`\`${parameter}\`: ${quote(name)} cannot be counted, because code checks its records.`, parameter)
  return {
    relation,
    plan: { resource: relation.target, trash: 'active', where: [] },
    ...relation.kind === 'manyToMany' && { through: { resource: relation.junction.resource, trash: 'active' as const } },
  }
}
