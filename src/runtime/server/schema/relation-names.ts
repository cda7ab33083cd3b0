/** Names relations: the declared name, otherwise one derived from the foreign key. */
import type { ForeignKeyFacts } from './drizzle/foreign-keys'
import type { Field } from './field'
import type { Relation, Resource } from './model'
import type { ResolvedRelation } from './declared-relations'
import { fieldsOf } from './relation-columns'

/** A relation without its final name; `names` lists derived names, the preferred one first. */
export type Candidate = {
  [R in Relation as R['kind']]: Omit<R, 'name'> & { key: ForeignKeyFacts, names: readonly string[] }
}[Relation['kind']]

/** Adds the candidates and the declared relations to the resource. @throws When a name is taken. */
export function nameRelations(resource: Resource, candidates: readonly Candidate[], declared: readonly ResolvedRelation[]): void {
  const relations = resource.relations as Map<string, Relation>
  const names = candidates.map(candidate => declaredName(candidate, declared))
  const reserved = new Set(names.filter(name => name !== undefined))
  // To-one and to-many relations are named first: many-to-many relations have a second name to fall back to.
  candidates.forEach(({ key: _key, names: derived, ...relation }, index) => {
    const name = names[index] ?? derived.find(name => !relations.has(name) && !reserved.has(name) && !resource.fields.has(name))
    if (name === undefined || relations.has(name) || resource.fields.has(name)) throw nameTaken(resource, name ?? derived[0]!)
    relations.set(name, Object.freeze({ ...relation, name }) as Relation)
  })
  // A relation that only `relations()` declares, without a foreign key in the database, joins the columns it lists.
  for (const { name, kind, target, columns, foreignColumns } of declared) {
    if (relations.has(name)) continue
    if (resource.fields.has(name)) throw nameTaken(resource, name)
    relations.set(
      name,
      Object.freeze({ kind, name, target, columns: fieldsOf(resource, columns), foreignColumns: fieldsOf(target, foreignColumns) }),
    )
  }
}

function nameTaken(resource: Resource, name: string): Error {
  return new Error(
    `[auto-api] \`${resource.name}\`: two relations, or a relation and a column, would be called \`${name}\`. `
    + `Name them with Drizzle's relations() and register it as \`${resource.name}.relations\`.`,
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
      && same(candidate.foreignColumns, match.foreignColumns),
  )?.name
}

/** `authorId` → `author`. A composite key is named by its last column; the others usually hold the tenant. */
export function stem(key: ForeignKeyFacts): string {
  const column = key.columns.at(-1)!
  return column.replace(/_id$|Id$/, '') || column
}

export const byKey = (name: string, key: string) => `${name}By${key.charAt(0).toUpperCase()}${key.slice(1)}`
