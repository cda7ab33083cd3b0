/** Finds the children that the body of a write can contain: the option `nested` of a registration. */
import { isNestedAction, NESTED_ACTIONS } from '../../shared/nested'
import { didYouMean } from '../../shared/suggest'
import type { ResourceRegistration } from '../registration'
import { runChecks } from './mistakes'
import type { Nested, Resource } from './model'

/** Fills `nested` of each resource. @throws For a relation or an action that does not exist, or whose children cannot be written so. */
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
  if (relation.kind !== 'many')
    throw new Error(`${where} is not a relation to children: the foreign key of the other table refers to the parent.`)
  if (relation.target.readOnly || resource.readOnly) throw new Error(`${where}: the rows of a view cannot be written.`)
  if (relation.columns.some((field, index) => field !== resource.primaryKey[index]))
    throw new Error(`${where}: the foreign key of \`${relation.target.name}\` does not refer to the primary key of \`${resource.name}\`.`)
  const unknown = actions.find(action => !isNestedAction(action))
  if (unknown !== undefined)
    throw new Error(`${where} names \`${unknown}\`, which is none of ${NESTED_ACTIONS.join(', ')}.${didYouMean(unknown, NESTED_ACTIONS)}`)
  return { relation, actions: new Set(actions.filter(isNestedAction)) }
}
