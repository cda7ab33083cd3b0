/**
 * Compares pairs of writes that refer to a hidden row, or to a missing one: by a foreign key, as a link or a child, in a batch or an
 * endpoint, and with a unique value of it.
 */
import type { FoundResource } from '../access/discover'
import { toParts, toPath, write, type RowId } from '../access/probes'
import type { Values } from '../access/values'
import { bodyOf, createsOf, idOf, severalOf } from './several'
import { compare, toMissing, toReplacements } from './twins'
import { describeRequest, type Sent, type VisibleRows, type Walk } from './walk'

/** Compares every write that refers to a hidden row. */
export async function compareWrites(context: Walk, visible: VisibleRows, resource: FoundResource, id: RowId): Promise<void> {
  const missing = toMissing(id)
  const pairs = writesOf(context, visible, resource, missing)
  for (const [index, sent] of writesOf(context, visible, resource, id).entries())
    await compare(context, sent, pairs[index]!, toReplacements(missing, id), `the row ${toParts(id).join(', ')} of ${resource.name} exists`)
}

function writesOf(context: Walk, visible: VisibleRows, resource: FoundResource, id: RowId): Sent[] {
  return [
    ...[...context.found.resources.values()].flatMap(other => writesOfOther(other, visible, resource, id)),
    ...severalOf(context, visible, resource, id),
    ...ofEndpoints(context, resource, id),
  ]
}

/** Writes of another resource that refer to the row. */
function writesOfOther(other: FoundResource, visible: VisibleRows, { name }: FoundResource, id: RowId): Sent[] {
  const row = visible.get(other.name)
  const path = row && toPath(idOf(other, row))
  const inBody = typeof id === 'object' ? toPath(id) : id
  const isReference = (field: string) => other.fields.get(field)!.references?.resource === name && typeof id !== 'object'
  const fields = [...other.fields.keys()].filter(isReference)
  const links = other.relations.filter(({ kind, target }) => kind === 'manyToMany' && target === name)
  return [
    ...fields.map(field => ({ method: 'POST', path: `/${other.name}`, body: bodyOf(other, row, { [field]: id }) })),
    ...path === undefined
      ? []
      : [
          ...fields.map(field => ({ method: 'PATCH', path: `/${other.name}/${path}`, body: { [field]: id } })),
          ...links.flatMap(relation => ['POST', 'PUT', 'DELETE'].map(method =>
            ({ method, path: `/${other.name}/${path}/relations/${relation.name}`, body: { ids: [inBody] } }))),
          ...other.relations.filter(({ target }) => target === name).flatMap(relation => relation.nested.flatMap((action) => {
            const entry = action === 'update' ? { id: inBody, data: {} } : inBody
            const body = { [relation.name]: { [action]: [entry] } }
            return action === 'create' ? [] : [{ method: 'PATCH', path: `/${other.name}/${path}`, body }]
          })),
        ],
  ]
}

/** Endpoints of the app take effect, so they are sent only if the rows can be restored. */
function ofEndpoints({ routes, requests, reset }: Walk, { name }: FoundResource, id: RowId): Sent[] {
  if (!reset) return []
  return routes.flatMap(({ method, path, resource, plugin }): Sent[] => {
    const request = requests[`${method} ${path}`] ?? true
    if (plugin || method === 'GET' || resource !== name || !path.includes('/:id') || request === false) return []
    const { body = {}, query = {} } = typeof request === 'object' ? request : {}
    return [{ method, path: path.replace('/:id', `/${toPath(id)}`), query, body, real: true }]
  })
}

/** A create or an update with a unique value of a hidden row must work, or fail like one with a new value. */
export async function compareUnique(
  context: Walk, visible: VisibleRows, resource: FoundResource, values: Values,
): Promise<void> {
  const { client, caller, inspector } = context
  const row = visible.get(resource.name)
  const writes = [
    { method: 'POST', path: `/${resource.name}`, body: bodyOf(resource, row, values) },
    ...row ? [{ method: 'PATCH', path: `/${resource.name}/${toPath(idOf(resource, row))}`, body: values }] : [],
    ...createsOf(context, visible, resource, bodyOf(resource, row, values)),
  ]
  for (const { method, path, body } of writes) {
    const response = await write(client, method, path, { body })
    const request = describeRequest(caller, method, path)
    inspector.readText(request, response)
    if (response.status === 409)
      inspector.report(request, `discloses that a row with ${JSON.stringify(values)} exists: 409 ${response.code}`)
  }
}
