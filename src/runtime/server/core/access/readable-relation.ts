/** Finds the relations that a caller can use. */
import type { Relation, Resource } from '../../schema/model'
import { relationColumns } from '../../schema/relation-columns'
import type { Api } from '../api'
import { unreachableFrom, type Call } from '../request/session'
import { unknownRelation } from '../error'
import { isAuthorized } from './authorize'
import { readableFields } from './fields'

/** @throws `UNKNOWN_RELATION` if the relation does not exist or the caller cannot read it. */
export async function requireRelation(call: Call, resource: Resource, name: string, parameter = 'include'): Promise<Relation> {
  const relation = await findReadableRelation(call, resource, name)
  if (!relation) throw unknownRelation(parameter, name, await usableRelations(call, resource))
  return relation
}

/** The names of the relations that the caller can use: those to resources that the caller can read. */
export async function usableRelations(
  call: Call, resource: Resource, passes: (relation: Relation) => boolean = () => true,
): Promise<readonly string[]> {
  const names: string[] = []
  for (const relation of resource.relations.values())
    if (passes(relation) && await isAuthorized(call, relation.target, 'read') && await isRelationReadable(call, resource, relation))
      names.push(relation.name)
  return names
}

export async function findReadableRelation(call: Call, resource: Resource, name: string): Promise<Relation | undefined> {
  const relation = resource.relations.get(name)
  return relation && await isRelationReadable(call, resource, relation) ? relation : undefined
}

/** Whether a record can have several related records, which a response or a filter can count. */
export const isCountable = ({ kind }: Relation): boolean => kind !== 'one'

/**
 * Whether code checks the related rows, or the rows of a registered junction: `objectLevel`, or a row check of a plugin. A filter in SQL
 * cannot ask such a rule.
 */
export function isCheckedInCode(relation: Relation, { rowChecks }: Pick<Api, 'rowChecks'>): boolean {
  const resources = [relation.target, ...relation.kind === 'manyToMany' ? [relation.junction.resource] : []]
  return resources.some(resource => resource.auth?.objectLevel !== undefined || rowChecks.has(resource))
}

/**
 * Whether the caller can read the key columns of both sides and of a registered junction. If the caller could not
 * read a key column, an include or a filter would still disclose which rows have equal values in it.
 */
export async function isRelationReadable(call: Call, resource: Resource, relation: Relation): Promise<boolean> {
  if (unreachableFrom(call.ctx)?.has(relation.target.name)) return false
  for (const [owner, fields] of relationColumns(resource, relation)) {
    const { byName } = await readableFields(call, owner)
    if (fields.some(({ name }) => !byName.has(name))) return false
  }
  return true
}
