/** Finds the columns that relations compare. */
import type { Table } from 'drizzle-orm'
import type { Field } from './field'
import type { Relation, Resource } from './model'

export const fieldsOf = (resource: Resource, names: readonly string[]) => names.map(name => resource.fields.get(name)!)

export function resourceOf(table: Table, resources: ReadonlyMap<string, Resource>): Resource | undefined {
  return [...resources.values()].find(resource => resource.table === table)
}

/** Lists the columns that a relation compares, by resource: the two sides, and the junction table if it is registered. */
export function relationColumns(resource: Resource, relation: Relation): readonly (readonly [Resource, readonly Field[]])[] {
  const sides = [[resource, relation.columns], [relation.target, relation.foreignColumns]] as const
  if (relation.kind !== 'manyToMany' || !relation.junction.registered) return sides
  const { resource: junction, sourceKey, targetKey } = relation.junction
  return [...sides, [junction, fieldsOf(junction, [...sourceKey.columns, ...targetKey.columns])]]
}
