/** Names relations. A relation has its declared name. Without one, the name is derived from the foreign key. */
import type { ForeignKeyFacts } from './drizzle/foreign-keys'
import type { Field } from './field'
import type { Relation, Resource } from './model'
import type { ResolvedRelation } from './declared-relations'
import { runChecks } from './mistakes'
import { fieldsOf } from './relation-columns'

/** A relation without its final name. `names` lists derived names, and the preferred name is first. */
export type Candidate = {
  [R in Relation as R['kind']]: Omit<R, 'name'> & { key: ForeignKeyFacts, names: readonly string[] }
}[Relation['kind']]

/**
 * Adds the candidates and the declared relations to the resource.
 * @throws When another relation or a field already has the name.
 */
export function nameRelations(resource: Resource, candidates: readonly Candidate[], declared: readonly ResolvedRelation[]): void {
  const relations = resource.relations as Map<string, Relation>
  const names = candidates.map(candidate => declaredName(candidate, declared))
  const reserved = new Set(names.filter(name => name !== undefined))
  // Names to-one and to-many relations first, because only many-to-many relations can have a second derived name.
  const named = candidates.map(({ key: _key, names: derived, ...relation }, index) => () => {
    const name = names[index] ?? derived.find(name => !relations.has(name) && !reserved.has(name) && !resource.fields.has(name))
    if (name === undefined || relations.has(name) || resource.fields.has(name)) throw nameTaken(resource, name ?? derived[0]!)
    relations.set(name, Object.freeze({ ...relation, name }) as Relation)
  })
  // Adds the relations without a foreign key in the database. They join the columns that the app lists.
  const added = declared.map(({ name, kind, target, columns, foreignColumns }) => () => {
    if (relations.has(name)) return
    if (resource.fields.has(name)) throw nameTaken(resource, name)
    if (kind === 'manyToMany') throw unknownJunction(resource, name)
    relations.set(
      name,
      Object.freeze({ kind, name, target, columns: fieldsOf(resource, columns), foreignColumns: fieldsOf(target, foreignColumns) }),
    )
  })
  runChecks([...named, ...added])
}

function nameTaken(resource: Resource, name: string): Error {
  return new Error(
    `[auto-api] \`${resource.name}\`: two relations, or a relation and a column, would be called \`${name}\`. `
    + `Name them with Drizzle's relations() and register it as \`${resource.name}.relations\`.`,
  )
}

function unknownJunction(resource: Resource, name: string): Error {
  return new Error(
    `[auto-api] \`${resource.name}.relations\`: the API does not know the junction table of \`${name}\`. `
    + 'Export the table from a file with registered tables. If it has more columns than two foreign keys, list it in `m2m.relations`.',
  )
}

function declaredName(candidate: Candidate, declared: readonly ResolvedRelation[]): string | undefined {
  const same = (fields: readonly Field[], names: readonly string[]) =>
    fields.length === names.length && fields.every(({ name }, index) => name === names[index])
  return declared.find(
    match =>
      match.kind === candidate.kind
      && match.target === candidate.target
      && same(candidate.columns, match.columns)
      && same(candidate.foreignColumns, match.foreignColumns)
      && (candidate.kind !== 'manyToMany' || isThrough(candidate, match)),
  )?.name
}

/** Compares the columns too: a junction that joins a table with itself makes one relation for each direction. */
function isThrough({ junction }: Extract<Candidate, { kind: 'manyToMany' }>, { through }: ResolvedRelation): boolean {
  return junction.resource.table === through?.table && junction.sourceKey.columns.every(name => through.columns.includes(name))
}

/** `authorId` → `author`. Uses the last column of a composite key, because the other columns usually contain the tenant. */
export function stem(key: ForeignKeyFacts): string {
  const column = key.columns.at(-1)!
  return column.replace(/_id$|Id$/, '') || column
}

/** `('posts', 'author')` → `postsByAuthor` */
export const byKey = (name: string, key: string) => `${name}By${key.charAt(0).toUpperCase()}${key.slice(1)}`
