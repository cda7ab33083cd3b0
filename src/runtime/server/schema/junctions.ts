/** Finds the junction tables of many-to-many relations. The options name them, or their keys identify them. */
import type { Table } from 'drizzle-orm'
import type { AutoApiConfig } from '../../shared/config'
import { describeTable } from './drizzle/table'
import type { ForeignKeyFacts } from './drizzle/foreign-keys'
import type { Junction, Resource } from './model'
import { resourceOf } from './relation-columns'

/** A table that joins two others. A relation uses it in one of two directions. */
export interface JunctionTable extends Omit<Junction, 'sourceKey' | 'targetKey'> {
  readonly sides: Sides
}

type Sides = readonly [ForeignKeyFacts, ForeignKeyFacts]
type ManyToManyOptions = AutoApiConfig['m2m']

/**
 * Creates the resource of a junction table that is not registered.
 * @param key the columns that identify a row if the table declares no primary key
 */
export type CreateJunction = (name: string, table: Table, key: readonly string[]) => Resource

/** @throws When the options name a junction table that does not exist, or that lacks a foreign key to one of its sides. */
export function findJunctions(
  tables: ReadonlyMap<Table, string>,
  keys: readonly ForeignKeyFacts[],
  resources: ReadonlyMap<string, Resource>,
  options: ManyToManyOptions,
  createJunction: CreateJunction,
): JunctionTable[] {
  assertTablesExist(options, [...tables.values()])
  return [...tables].flatMap(([table, name]) => {
    const ownKeys = keys.filter(key => key.table === table)
    const sides = configuredSides(name, ownKeys, resources, options)
      ?? (options.autoDetect ? detectSides(table, ownKeys, resources) : undefined)
    if (!sides) return []
    const registered = resourceOf(table, resources)
    const columns = columnsOf(sides)
    return [{
      name,
      resource: registered ?? createJunction(name, table, columns),
      registered: registered !== undefined,
      unique: isUnique(table, columns),
      sides,
    }]
  })
}

/** Without this check, a misspelled name would have no effect. */
function assertTablesExist({ relations }: ManyToManyOptions, names: readonly string[]): void {
  const unknown = Object.keys(relations).find(name => !names.includes(name))
  if (unknown === undefined) return
  throw new Error(
    `[auto-api] \`m2m.relations.${unknown}\` is not a known table. `
    + 'Use the name of a registered resource, or the export name of a table in a file with registered tables.',
  )
}

/**
 * Reads the sides from the options: `m2m.relations: { enrolments: ['students', 'courses'] }`.
 * @throws When the junction table does not reference both resources.
 */
function configuredSides(
  name: string,
  ownKeys: readonly ForeignKeyFacts[],
  resources: ReadonlyMap<string, Resource>,
  { relations }: ManyToManyOptions,
): Sides | undefined {
  const named = relations[name]
  if (!named) return undefined
  const [first, second] = named
  const a = ownKeys.find(key => key.foreignTable === resources.get(first)?.table)
  const b = ownKeys.find(key => key !== a && key.foreignTable === resources.get(second)?.table)
  if (a && b) return [a, b]
  throw new Error(
    `[auto-api] \`m2m.relations.${name}\` joins \`${first}\` and \`${second}\`, but the table does not have a foreign key to each of them. `
    + 'Name two registered resources that the table references.',
  )
}

/**
 * Detects a junction table: it has exactly two foreign keys, and their columns are its key. A table that is not registered is
 * also a junction table if it has a unique constraint over these columns and no other required column.
 */
function detectSides(table: Table, ownKeys: readonly ForeignKeyFacts[], resources: ReadonlyMap<string, Resource>): Sides | undefined {
  const [a, b] = ownKeys
  if (!a || !b || ownKeys.length !== 2) return undefined
  const registered = resourceOf(table, resources)
  const facts = registered?.facts ?? describeTable(table)
  const columns = columnsOf([a, b])
  const others = facts.columns.filter(column => !columns.includes(column.name))
  const byKey = sameSet(facts.primaryKey, columns)
  const byUnique = !registered && facts.uniques.some(unique => sameSet(unique, columns)) && others.every(column => column.optional)
  return byKey || byUnique ? [a, b] : undefined
}

/** Two composite foreign keys can share a column, such as the tenant column. */
const columnsOf = ([a, b]: Sides): readonly string[] => [...new Set([...a.columns, ...b.columns])]

/** Whether a primary key or a unique constraint covers exactly these columns. */
function isUnique(table: Table, columns: readonly string[]): boolean {
  const { primaryKey, uniques } = describeTable(table)
  return [primaryKey, ...uniques].some(constraint => sameSet(constraint, columns))
}

const sameSet = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every(item => b.includes(item))

/** The directions in which a resource uses the junction: one, or both if the junction joins a table with itself. */
export function directionsOf({ sides: [a, b] }: JunctionTable, resource: Resource): [ForeignKeyFacts, ForeignKeyFacts][] {
  const both: [ForeignKeyFacts, ForeignKeyFacts][] = [[a, b], [b, a]]
  return both.filter(([sourceKey]) => sourceKey.foreignTable === resource.table)
}

export function toJunction(
  { name, resource, registered, unique }: JunctionTable,
  sourceKey: ForeignKeyFacts,
  targetKey: ForeignKeyFacts,
): Junction {
  return { name, resource, registered, unique, sourceKey, targetKey }
}
