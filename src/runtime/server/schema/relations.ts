/** Finds the relations between resources at startup. It reads foreign keys, junction tables and Drizzle's `relations()`. */
import { getTableName, type Table } from 'drizzle-orm'
import type { AutoApiConfig } from '../../shared/config'
import { groupBy } from '../../shared/group-by'
import type { ResourceRegistration } from '../registration'
import { describeForeignKeys, type ForeignKeyFacts } from './drizzle/foreign-keys'
import { isTable } from './drizzle/config'
import type { Resource } from './model'
import { findJunctions, directionsOf, toJunction, type CreateJunction, type JunctionTable } from './junctions'
import { resolveDeclaredRelations } from './declared-relations'
import { runChecks } from './mistakes'
import { byKey, nameRelations, stem, type Candidate } from './relation-names'
import { fieldsOf, resourceOf } from './relation-columns'
import { referencesOfViews } from './views'

/** Fills each resource's `relations`. @throws When two relations, or a relation and a field, would share a name. */
export function linkRelations(
  resources: ReadonlyMap<string, Resource>,
  registrations: readonly ResourceRegistration[],
  modules: readonly Record<string, unknown>[],
  { m2m }: AutoApiConfig,
  createJunction: CreateJunction,
): void {
  const tables = collectTables(resources, modules)
  const foreignKeys = [...tables.keys()].flatMap(table => describeForeignKeys(table))
  const junctions = findJunctions(tables, foreignKeys, resources, m2m, createJunction)
  const keys = [...foreignKeys, ...referencesOfViews(resources, registrations)]
  runChecks([...resources.values()].map(resource => () => {
    const registration = registrations.find(({ name }) => name === resource.name)!
    const declared = resolveDeclaredRelations(resource, registration, resources, registrations)
    const candidates = [
      ...toOneRelations(resource, keys, resources),
      ...otherSides(resource, keys, resources),
      ...manyToManyRelations(resource, junctions, resources),
    ]
    nameRelations(resource, candidates, declared)
  }))
}

function collectTables(resources: ReadonlyMap<string, Resource>, modules: readonly Record<string, unknown>[]): Map<Table, string> {
  const tables = new Map<Table, string>()
  for (const module of modules) {
    for (const [name, value] of Object.entries(module)) if (isTable(value) && !tables.has(value)) tables.set(value, name)
  }
  for (const resource of resources.values()) tables.set(resource.table, resource.name)
  return withDistinctNames(tables, resources)
}

/**
 * Gives each table a unique name, because permissions are stored by name. If two files export tables with the same name, the registered
 * table keeps the name.
 */
function withDistinctNames(tables: ReadonlyMap<Table, string>, resources: ReadonlyMap<string, Resource>): Map<Table, string> {
  const taken = new Set(resources.keys())
  return new Map([...tables].map(([table, name]) => {
    if (resourceOf(table, resources)) return [table, name]
    let distinct = taken.has(name) ? getTableName(table) : name
    while (taken.has(distinct)) distinct += '_'
    taken.add(distinct)
    return [table, distinct]
  }))
}

function toOneRelations(resource: Resource, keys: readonly ForeignKeyFacts[], resources: ReadonlyMap<string, Resource>): Candidate[] {
  return keys.filter(key => key.table === resource.table).flatMap((key) => {
    const target = resourceOf(key.foreignTable, resources)
    if (!target) return []
    const name = stem(key)
    return [{
      kind: 'one' as const, key, target,
      columns: fieldsOf(resource, key.columns), foreignColumns: fieldsOf(target, key.foreignColumns),
      names: [resource.fields.has(name) ? `${name}Record` : name],
    }]
  })
}

/** A key of a view that is a reference identifies one row at most, so that its other side is to-one. */
function otherSides(resource: Resource, keys: readonly ForeignKeyFacts[], resources: ReadonlyMap<string, Resource>): Candidate[] {
  const incoming = groupBy(keys.filter(key => key.foreignTable === resource.table), key => key.table)
  if (incoming.size === 0) return []
  return [...resources.values()].flatMap((child) => {
    const own = incoming.get(child.table) ?? []
    return own.map(key => ({
      kind: child.readOnly && isKeyOf(child, key) ? 'one' as const : 'many' as const, key, target: child,
      columns: fieldsOf(resource, key.foreignColumns), foreignColumns: fieldsOf(child, key.columns),
      names: [own.length > 1 ? byKey(child.name, stem(key)) : child.name],
    }))
  })
}

const isKeyOf = ({ primaryKey }: Resource, { columns }: ForeignKeyFacts) =>
  primaryKey.length === columns.length && primaryKey.every(({ name }) => columns.includes(name))

function manyToManyRelations(
  resource: Resource,
  junctions: readonly JunctionTable[],
  resources: ReadonlyMap<string, Resource>,
): Candidate[] {
  const sides = junctions.flatMap(junction => directionsOf(junction, resource).flatMap(([sourceKey, targetKey]) => {
    const target = resourceOf(targetKey.foreignTable, resources)
    return target ? [{ junction, sourceKey, targetKey, target }] : []
  }))
  return sides.map(({ junction, sourceKey, targetKey, target }) => {
    const sameTarget = sides.filter(side => side.target === target)
    const joinsItself = sameTarget.some(side => side.junction === junction && side.sourceKey !== sourceKey)
    return {
      kind: 'manyToMany' as const,
      key: sourceKey,
      target,
      columns: fieldsOf(resource, sourceKey.foreignColumns),
      foreignColumns: fieldsOf(target, targetKey.foreignColumns),
      junction: Object.freeze(toJunction(junction, sourceKey, targetKey)),
      names: joinsItself
        ? [byKey(target.name, stem(sourceKey))]
        : sameTarget.length > 1
          ? [junction.name, byKey(target.name, junction.name)]
          : [target.name, byKey(target.name, junction.name)],
    }
  })
}
