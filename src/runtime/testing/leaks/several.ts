/** Writes of several records that name a hidden row: as a child in the body of its parent, or in a step of a batch. */
import type { NestedAction } from '../../shared/nested'
import type { FoundRelation, FoundResource } from '../access/discover'
import { createBody, type Values } from '../access/values'
import { toParts, toPath, type RowId } from '../access/probes'
import type { Sent, VisibleRows, Walk } from './walk'

/** A relation whose children the body of a parent can contain. */
export interface ParentRelation {
  readonly parent: FoundResource
  readonly relation: FoundRelation
}

export const bodyOf = (resource: FoundResource, row: Values | undefined, values: Values) => createBody(resource, values, row ?? {})

export function idOf({ primaryKey }: FoundResource, row: Values): RowId {
  const parts = primaryKey.map(name => row[name] as string | number)
  return parts.length === 1 ? parts[0]! : parts
}

const inBody = (id: RowId) => typeof id === 'object' ? toPath(id) : id

/** The relations that write children of a resource. */
export const parentsOf = ({ found }: Walk, { name }: FoundResource, action: NestedAction): ParentRelation[] =>
  [...found.resources.values()].flatMap(parent => parent.relations
    .filter(({ target, nested }) => target === name && nested.includes(action))
    .map(relation => ({ parent, relation })))

/** A new parent with the children, and the same in a bulk and in an update of a visible parent. */
export function writesOfParent({ found }: Walk, visible: VisibleRows, { parent, relation }: ParentRelation, children: object): Sent[] {
  const row = visible.get(parent.name)
  const values = { [relation.name]: children }
  const path = `/${parent.name}`
  return [
    { method: 'POST', path, body: bodyOf(parent, row, values) },
    ...found.hasBulk ? [{ method: 'POST', path: `${path}/bulk`, body: { items: [bodyOf(parent, row, values)] } }] : [],
    ...row ? [{ method: 'PATCH', path: `${path}/${toPath(idOf(parent, row))}`, body: values }] : [],
    ...row && found.hasBulk
      ? [{ method: 'PATCH', path: `${path}/bulk`, body: { items: [{ id: inBody(idOf(parent, row)), data: values }] } }]
      : [],
  ]
}

/** Over HTTP, the routes of plugins are not known. */
const hasBatch = ({ routes }: Walk) => routes.length === 0 || routes.some(({ method, path }) => method === 'POST' && path === '/batch')

const batchOf = (...steps: readonly object[]): Sent => ({ method: 'POST', path: '/batch', body: { steps } })

/** Creates a record with its parents, and in a batch. */
export const createsOf = (context: Walk, visible: VisibleRows, resource: FoundResource, body: Values): Sent[] => [
  ...parentsOf(context, resource, 'create').flatMap(parent => writesOfParent(context, visible, parent, { create: [body] })),
  ...hasBatch(context) ? [batchOf({ resource: resource.name, operation: 'create', data: body })] : [],
]

/** Writes of several records that name a row, or refer to it. */
export const severalOf = (context: Walk, visible: VisibleRows, resource: FoundResource, id: RowId): Sent[] => [
  ...parentsOf(context, resource, 'update').flatMap(parent =>
    writesOfParent(context, visible, parent, { update: [{ id: inBody(id), data: {} }] })),
  ...parentsOf(context, resource, 'delete').flatMap(parent => writesOfParent(context, visible, parent, { delete: [inBody(id)] })),
  ...ofHiddenParent(context, visible, resource, id),
  ...references(context, resource, id).flatMap(([other, values]) => parentsOf(context, other, 'create')
    // The server sets the reference of a child to its parent.
    .filter(({ parent }) => parent !== resource)
    .flatMap(parent => writesOfParent(context, visible, parent, { create: [bodyOf(other, visible.get(other.name), values)] }))),
  ...hasBatch(context) ? batches(context, visible, resource, id) : [],
]

/** New children of the row itself. */
const ofHiddenParent = ({ found }: Walk, visible: VisibleRows, { name, relations }: FoundResource, id: RowId): Sent[] =>
  relations.filter(({ nested }) => nested.includes('create')).map(({ name: relation, target }) => {
    const child = bodyOf(found.resources.get(target)!, visible.get(target), {})
    return { method: 'PATCH', path: `/${name}/${toPath(id)}`, body: { [relation]: { create: [child] } } }
  })

/** The resources with a foreign key to the row, and the value of it. */
const references = ({ found }: Walk, { name }: FoundResource, id: RowId): (readonly [FoundResource, Values])[] =>
  typeof id === 'object'
    ? []
    : [...found.resources.values()].flatMap(other => [...other.fields]
        .filter(([, { references }]) => references?.resource === name)
        .map(([field]) => [other, { [field]: id }] as const))

function batches(context: Walk, visible: VisibleRows, resource: FoundResource, id: RowId): Sent[] {
  const { name, primaryKey, hasTrash } = resource
  const row = { resource: name, operation: 'update', id: inBody(id), data: {}, as: 'row' }
  const $ref = toParts(id).length === 1 ? `row.${primaryKey[0]}` : undefined
  return [
    batchOf(row),
    batchOf({ resource: name, operation: 'delete', id: inBody(id) }),
    ...hasTrash ? [batchOf({ resource: name, operation: 'restore', id: inBody(id) })] : [],
    ...$ref ? [batchOf(row, { resource: name, operation: 'update', id: { $ref }, data: {} })] : [],
    ...references(context, resource, id).flatMap(([other, values]) => {
      const data = bodyOf(other, visible.get(other.name), values)
      const create = { resource: other.name, operation: 'create', data }
      const referred = Object.fromEntries(Object.keys(values).map(field => [field, { $ref }]))
      return [batchOf(create), batchOf(row, { ...create, data: { ...data, ...referred } })]
    }),
  ]
}

/** A batch whose second step refers to a field of a visible row. */
export function batchWithField(context: Walk, visible: VisibleRows, { name, fields, ...resource }: FoundResource, field: string): Sent[] {
  const row = visible.get(name)
  const own = [...fields].find(([, { writable }]) => writable.update)?.[0]
  if (!row || own === undefined || !hasBatch(context)) return []
  const id = inBody(idOf({ ...resource, name, fields }, row))
  return [batchOf(
    { resource: name, operation: 'update', id, data: {}, as: 'row' },
    { resource: name, operation: 'update', id, data: { [own]: { $ref: `row.${field}` } } },
  )]
}
