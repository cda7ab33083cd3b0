/** The children and links in the JSON Schema of a body. */
import type { NestedAction } from '../../../shared/nested'
import type { JsonSchema } from '../../../shared/types/description'

const ID: JsonSchema = { type: ['string', 'integer'] }
const DATA: JsonSchema = { type: 'object', description: 'A body of the related resource, without its foreign key.' }

const ENTRIES: Readonly<Record<NestedAction, JsonSchema>> = {
  create: DATA, update: { type: 'object', properties: { id: ID, data: DATA }, required: ['id', 'data'] }, delete: ID,
  link: ID, unlink: ID,
}

/** @param nested what the caller can do with the children of each relation */
export function withChildren(body: JsonSchema, nested: readonly (readonly [string, readonly NestedAction[]])[]): JsonSchema {
  const lists = (actions: readonly NestedAction[]) =>
    Object.fromEntries(actions.map(action => [action, { type: 'array', items: ENTRIES[action] }]))
  const children = nested.filter(([, actions]) => actions.length > 0)
    .map(([name, actions]) => [name, { type: 'object', properties: lists(actions), additionalProperties: false }] as const)
  return children.length === 0 ? body : { ...body, properties: { ...body.properties, ...Object.fromEntries(children) } }
}
