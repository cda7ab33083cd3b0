/** Finds the children and links that the body of a write can contain: the option `nested` of a registration. */
import { CHILD_ACTIONS, isChildAction, isLinkAction, isNestedAction, LINK_ACTIONS } from '../../shared/nested'
import { didYouMean } from '../../shared/suggest'
import type { ResourceRegistration } from '../registration'
import { runChecks } from './mistakes'
import type { Nested, Resource } from './model'

/** Fills `nested` of each resource. @throws For a relation or an action that does not exist, or whose rows cannot be written so. */
export function linkNested(resources: ReadonlyMap<string, Resource>, registrations: readonly ResourceRegistration[]): void {
  runChecks(registrations.flatMap(({ name, nested = {} }) => Object.entries(nested).map(([relation, actions]) => () => {
    const resource = resources.get(name)!;
    (resource.nested as Map<string, Nested>).set(relation, toNested(resource, relation, actions))
  })))
}

function toNested(resource: Resource, name: string, actions: readonly string[]): Nested {
  const where = `[auto-api] \`${resource.name}.nested.${name}\``
  const relation = resource.relations.get(name)
  if (!relation) throw new Error(`${where} is not a relation of \`${resource.name}\`.${didYouMean(name, [...resource.relations.keys()])}`)
  if (relation.kind === 'one')
    throw new Error(`${where} is not a relation to children: the foreign key of the other table refers to the parent.`)
  const isLinked = relation.kind === 'manyToMany'
  const written = isLinked ? relation.junction.resource : relation.target
  if (written.readOnly || resource.readOnly) throw new Error(`${where}: the rows of a view cannot be written.`)
  if (relation.columns.some((field, index) => field !== resource.primaryKey[index]))
    throw new Error(`${where}: the foreign key of \`${written.name}\` does not refer to the primary key of \`${resource.name}\`.`)
  const known: readonly string[] = isLinked ? LINK_ACTIONS : CHILD_ACTIONS
  const unknown = actions.find(action => !known.includes(action))
  if (unknown !== undefined) throw new Error(`${where} names \`${unknown}\`, which ${reasonOf(unknown, isLinked, known)}`)
  return isLinked
    ? { relation, actions: new Set(actions.filter(isLinkAction)) }
    : { relation, actions: new Set(actions.filter(isChildAction)) }
}

function reasonOf(action: string, isLinked: boolean, known: readonly string[]): string {
  if (!isNestedAction(action)) return `is none of ${known.join(', ')}.${didYouMean(action, known)}`
  return isLinked
    ? `is for children. A many-to-many relation has ${known.join(' and ')}.`
    : `is for many-to-many relations. Children have ${known.join(', ')}.`
}
