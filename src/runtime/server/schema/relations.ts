/** How resources are joined: relations from foreign keys and Drizzle `relations()`, named by one rule, found once at start. */
import { getTableName, type Table } from 'drizzle-orm'
import type { AutoApiConfig } from '../../shared/config'
import type { ResourceRegistration } from '../registration'
import { describeForeignKeys, describeRelations, describeTable, isTable, type DeclaredRelation, type ForeignKeyFacts } from './drizzle'
import type { Field } from './field'
import type { Junction, Relation, Resource } from './model'

/** A relation before it has its final name. */
type Candidate = { [R in Relation as R['kind']]: Omit<R, 'name'> & { key: ForeignKeyFacts, names: readonly string[] } }[Relation['kind']]

/** Fills each resource's `relations`. @throws When two relations, or a relation and a field, would share a name. */
export function linkRelations(
  resources: ReadonlyMap<string, Resource>,
  registrations: readonly ResourceRegistration[],
  modules: readonly Record<string, unknown>[],
  { m2m }: AutoApiConfig,
  describe: (name: string, table: Table, key: readonly string[]) => Resource,
): void {
  const tables = collectTables(resources, modules)
  assertNamed(m2m, [...tables.values()])
  const keys = [...tables.keys()].flatMap(table => describeForeignKeys(table))
  const junctions = [...tables].flatMap(([table, name]) => {
    const own = keys.filter(key => key.table === table)
    const sides = namedSides(table, name, own, resources, m2m) ?? (m2m.autoDetect ? detectSides(table, own, resources) : undefined)
    if (!sides) return []
    const registered = ownerOf(table, resources)
    const columns = columnsOf(sides)
    return [
      {
        name,
        resource: registered ?? describe(name, table, columns),
        registered: registered !== undefined,
        unique: isUnique(table, columns),
        sides,
      },
    ]
  })
  for (const resource of resources.values()) {
    const registration = registrations.find(({ name }) => name === resource.name)!
    const declared = declaredRelations(resource, registration, resources, registrations)
    const candidates = [
      ...toOnes(resource, keys, resources),
      ...toManys(resource, keys, resources),
      ...manyToManys(resource, junctions, resources),
    ]
    nameAll(resource, candidates, declared)
  }
}

/** A table that joins two others, before one of them looks through it. */
interface JunctionTable extends Omit<Junction, 'here' | 'there'> {
  readonly sides: readonly [ForeignKeyFacts, ForeignKeyFacts]
}

function collectTables(resources: ReadonlyMap<string, Resource>, modules: readonly Record<string, unknown>[]): Map<Table, string> {
  const tables = new Map<Table, string>()
  for (const module of modules) {
    for (const [name, value] of Object.entries(module)) if (isTable(value) && !tables.has(value)) tables.set(value, name)
  }
  for (const resource of resources.values()) tables.set(resource.table, resource.name)
  return withDistinctNames(tables, resources)
}

/** Two files may export tables of one name, and permissions are remembered by it: what is not registered gives way. */
function withDistinctNames(tables: ReadonlyMap<Table, string>, resources: ReadonlyMap<string, Resource>): Map<Table, string> {
  const taken = new Set(resources.keys())
  return new Map([...tables].map(([table, name]) => {
    if (ownerOf(table, resources)) return [table, name]
    let distinct = taken.has(name) ? getTableName(table) : name
    while (taken.has(distinct)) distinct += '_'
    taken.add(distinct)
    return [table, distinct]
  }))
}

function ownerOf(table: Table, resources: ReadonlyMap<string, Resource>): Resource | undefined {
  return [...resources.values()].find(resource => resource.table === table)
}

const fieldsOf = (resource: Resource, names: readonly string[]) => names.map(name => resource.fields.get(name)!)

function toOnes(resource: Resource, keys: readonly ForeignKeyFacts[], resources: ReadonlyMap<string, Resource>): Candidate[] {
  return keys.filter(key => key.table === resource.table).flatMap((key) => {
    const target = ownerOf(key.foreignTable, resources)
    if (!target) return []
    const name = stem(key)
    return [{
      kind: 'one' as const, key, target,
      columns: fieldsOf(resource, key.columns), foreignColumns: fieldsOf(target, key.foreignColumns),
      names: [resource.fields.has(name) ? `${name}Record` : name],
    }]
  })
}

function toManys(resource: Resource, keys: readonly ForeignKeyFacts[], resources: ReadonlyMap<string, Resource>): Candidate[] {
  return [...resources.values()].flatMap((child) => {
    const own = keys.filter(key => key.table === child.table && key.foreignTable === resource.table)
    return own.map(key => ({
      kind: 'many' as const, key, target: child,
      columns: fieldsOf(resource, key.foreignColumns), foreignColumns: fieldsOf(child, key.columns),
      names: [own.length > 1 ? by(child.name, stem(key)) : child.name],
    }))
  })
}

function manyToManys(resource: Resource, junctions: readonly JunctionTable[], resources: ReadonlyMap<string, Resource>): Candidate[] {
  const sides = junctions.flatMap(junction => sidesOf(junction, resource).flatMap(([here, there]) => {
    const target = ownerOf(there.foreignTable, resources)
    return target ? [{ junction, here, there, target }] : []
  }))
  return sides.map(({ junction, here, there, target }) => {
    const rivals = sides.filter(side => side.target === target)
    const self = rivals.some(side => side.junction === junction && side.here !== here)
    return {
      kind: 'manyToMany' as const,
      key: here,
      target,
      columns: fieldsOf(resource, here.foreignColumns),
      foreignColumns: fieldsOf(target, there.foreignColumns),
      junction: Object.freeze(toJunction(junction, here, there)),
      names: self
        ? [by(target.name, stem(here))]
        : rivals.length > 1
          ? [junction.name, by(target.name, junction.name)]
          : [target.name, by(target.name, junction.name)],
    }
  })
}

const toJunction = ({ name, resource, registered, unique }: JunctionTable, here: ForeignKeyFacts, there: ForeignKeyFacts): Junction =>
  ({ name, resource, registered, unique, here, there })

function sidesOf({ sides: [a, b] }: JunctionTable, resource: Resource): [ForeignKeyFacts, ForeignKeyFacts][] {
  const both: [ForeignKeyFacts, ForeignKeyFacts][] = [[a, b], [b, a]]
  return both.filter(([here]) => here.foreignTable === resource.table)
}

type Sides = readonly [ForeignKeyFacts, ForeignKeyFacts]

/** Two keys of several columns may share one, often the tenant's. */
const columnsOf = ([a, b]: Sides): readonly string[] => [...new Set([...a.columns, ...b.columns])]

/** By the primary key that the table declares, or a unique constraint, over exactly these columns. */
function isUnique(table: Table, columns: readonly string[]): boolean {
  const { primaryKey, uniques } = describeTable(table)
  return [primaryKey, ...uniques].some(constraint => sameSet(constraint, columns))
}

/** A table of two foreign keys that are its primary key, or, unregistered, two foreign keys, unique together, and nothing else required. */
function detectSides(table: Table, own: readonly ForeignKeyFacts[], resources: ReadonlyMap<string, Resource>): Sides | undefined {
  const [a, b] = own
  if (!a || !b || own.length !== 2) return undefined
  const facts = describeTable(table)
  const columns = columnsOf([a, b])
  const others = facts.columns.filter(column => !columns.includes(column.name))
  const byKey = sameSet(facts.primaryKey, columns)
  const byUnique
    = !ownerOf(table, resources) && facts.uniques.some(unique => sameSet(unique, columns)) && others.every(column => column.optional)
  return byKey || byUnique ? [a, b] : undefined
}

/** `m2m.relations: { enrolments: ['students', 'courses'] }` @throws When the junction has no key to one of the two. */
function namedSides(
  table: Table,
  name: string,
  own: readonly ForeignKeyFacts[],
  resources: ReadonlyMap<string, Resource>,
  { relations }: AutoApiConfig['m2m'],
): Sides | undefined {
  const named = relations[name]
  if (!named) return undefined
  const [first, second] = named
  const a = own.find(key => key.foreignTable === resources.get(first)?.table)
  const b = own.find(key => key !== a && key.foreignTable === resources.get(second)?.table)
  if (!a || !b)
    throw new Error(
      `[auto-api] \`m2m.relations.${name}\` joins \`${first}\` and \`${second}\`, but its table has no foreign key to both. Name two registered resources it refers to.`,
    )
  return [a, b]
}

/** A name that is misspelled would join nothing, and nobody would know why. */
function assertNamed({ relations }: AutoApiConfig['m2m'], names: readonly string[]): void {
  const unknown = Object.keys(relations).find(name => !names.includes(name))
  if (unknown !== undefined)
    throw new Error(
      `[auto-api] \`m2m.relations.${unknown}\` is neither a registered resource nor a table that the files of registered tables export. Write the name the junction is registered or exported under.`,
    )
}

interface Match {
  readonly name: string
  readonly kind: 'one' | 'many'
  readonly target: Resource
  readonly columns: readonly string[]
  readonly foreignColumns: readonly string[]
}

/** Drizzle's own names with the columns they join, so that they can take the place of the derived ones. */
function declaredRelations(
  resource: Resource,
  registration: ResourceRegistration,
  resources: ReadonlyMap<string, Resource>,
  registrations: readonly ResourceRegistration[],
): Match[] {
  return readDeclared(registration).flatMap((relation): Match[] => {
    const target = ownerOf(relation.target, resources)
    if (!target) return []
    const { name, columns, foreignColumns } = relation
    if (columns && foreignColumns) return [{ name, kind: 'one', target, columns, foreignColumns }]
    const back = findBack(
      resource,
      relation,
      registrations.find(({ name }) => name === target.name)!,
    )
    return back ? [{ name, kind: 'many', target, columns: back.foreignColumns, foreignColumns: back.columns }] : []
  })
}

function readDeclared(registration: ResourceRegistration): DeclaredRelation[] {
  if (registration.relations === undefined) return []
  try {
    return describeRelations(registration.relations).relations
  }
  catch (error) {
    throw new Error(`[auto-api] \`${registration.name}.relations\` is ${(error as Error).message}.`, { cause: error })
  }
}

/** The side that holds the key of a declared to-many: the same relation name, or the only way back. */
function findBack(
  resource: Resource,
  relation: DeclaredRelation,
  child: ResourceRegistration,
): { columns: readonly string[], foreignColumns: readonly string[] } | undefined {
  const ones = readDeclared(child).flatMap(({ columns, foreignColumns, target, relationName }) =>
    columns && foreignColumns && target === resource.table ? [{ columns, foreignColumns, relationName }] : [],
  )
  const keys = describeForeignKeys(child.schema).filter(key => key.foreignTable === resource.table)
  return relation.relationName
    ? ones.find(one => one.relationName === relation.relationName)
    : ones.length === 1
      ? ones[0]
      : keys.length === 1
        ? keys[0]
        : undefined
}

function nameAll(resource: Resource, candidates: readonly Candidate[], declared: readonly Match[]): void {
  const relations = resource.relations as Map<string, Relation>
  const names = candidates.map(candidate => declaredName(candidate, declared))
  const reserved = new Set(names.filter(name => name !== undefined))
  // To-one and to-many names are given before those of many-to-many, which know a second name.
  candidates.forEach(({ key: _key, names: derived, ...relation }, index) => {
    const name = names[index] ?? derived.find(name => !relations.has(name) && !reserved.has(name) && !resource.fields.has(name))
    if (name === undefined || relations.has(name) || resource.fields.has(name)) throw taken(resource, name ?? derived[0]!)
    relations.set(name, Object.freeze({ ...relation, name }) as Relation)
  })
  // A relation that only Drizzle knows, without a foreign key in the database, is joined by the columns it names.
  for (const { name, kind, target, columns, foreignColumns } of declared) {
    if (relations.has(name)) continue
    if (resource.fields.has(name)) throw taken(resource, name)
    relations.set(
      name,
      Object.freeze({ kind, name, target, columns: fieldsOf(resource, columns), foreignColumns: fieldsOf(target, foreignColumns) }),
    )
  }
}

function taken(resource: Resource, name: string): Error {
  return new Error(
    `[auto-api] \`${resource.name}\`: two relations, or a relation and a column, would be called \`${name}\`. Name them with Drizzle's relations() and register it as \`${resource.name}.relations\`.`,
  )
}

function declaredName(candidate: Candidate, declared: readonly Match[]): string | undefined {
  const same = (fields: readonly Field[], names: readonly string[]) =>
    fields.length === names.length && fields.every(({ name }, index) => name === names[index])
  return declared.find(
    match =>
      match.kind === candidate.kind
      && match.target === candidate.target
      && same(candidate.columns, match.columns)
      && same(candidate.foreignColumns, match.foreignColumns),
  )?.name
}

/** `authorId` → `author`; of a composite key the last column speaks, the others usually name the tenant. */
function stem(key: ForeignKeyFacts): string {
  const column = key.columns.at(-1)!
  return column.replace(/_id$|Id$/, '') || column
}

const by = (name: string, key: string) => `${name}By${key.charAt(0).toUpperCase()}${key.slice(1)}`
const sameSet = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every(item => b.includes(item))

/** The columns a relation compares, by the resource that has them: of both sides, and of the junction where it is registered. */
export function relationKeys(resource: Resource, relation: Relation): readonly (readonly [Resource, readonly Field[]])[] {
  const sides = [[resource, relation.columns], [relation.target, relation.foreignColumns]] as const
  if (relation.kind !== 'manyToMany' || !relation.junction.registered) return sides
  const { resource: junction, here, there } = relation.junction
  return [...sides, [junction, fieldsOf(junction, [...here.columns, ...there.columns])]]
}
