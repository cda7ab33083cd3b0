/**
 * Compares pairs of requests that must have the same response: one about a hidden row and one about a missing row, or one with a hidden
 * field and one with an unknown name. A difference discloses that the row or the field exists.
 */
import type { TestResponse } from '../api/client'
import type { FoundResource } from '../access/discover'
import { toParts, toPath, write, type RowId } from '../access/probes'
import { batchWithField } from './several'
import { describeRequest, type Sent, type VisibleRows, type Walk } from './walk'

/** The requests that name a row. */
function requestsOf({ name, primaryKey, relations, hasTrash }: FoundResource, id: RowId, { found, routes }: Walk): Sent[] {
  const path = `/${name}/${toPath(id)}`
  const inBody = typeof id === 'object' ? toPath(id) : id
  const key = Object.fromEntries(toParts(id).map((part, index) => [primaryKey[index], part]))
  const referring = [...found.resources.values()].flatMap(other =>
    other.relations.filter(({ target }) => target === name).map(relation => ({ other: other.name, relation: relation.name })))
  return [
    { method: 'GET', path },
    ...hasTrash ? [{ method: 'GET', path, query: { includeDeleted: true } }] : [],
    ...relations.map(relation => ({ method: 'GET', path, query: { include: relation.name } })),
    ...relations.filter(({ kind }) => kind !== 'one').map(relation => ({ method: 'GET', path, query: { counts: relation.name } })),
    { method: 'GET', path: `/${name}`, query: { filter: key } },
    { method: 'GET', path: `/${name}/aggregate`, query: { aggregate: 'count', filter: key } },
    { method: 'GET', path: `/${name}/permissions`, query: { ids: inBody } },
    // The rows that refer to it.
    ...referring.map(({ other, relation }) => ({ method: 'GET', path: `/${other}`, query: { filter: { [relation]: key } } })),
    { method: 'PATCH', path, body: {} },
    { method: 'DELETE', path },
    { method: 'DELETE', path, query: { force: true } },
    { method: 'POST', path: `${path}/restore` },
    { method: 'PATCH', path: `/${name}/bulk`, body: { items: [{ id: inBody, data: {} }] } },
    { method: 'DELETE', path: `/${name}/bulk`, body: { ids: [inBody] } },
    { method: 'POST', path: `/${name}/bulk/restore`, body: { ids: [inBody] } },
    ...relations.filter(({ kind }) => kind === 'manyToMany').flatMap(relation => [
      { method: 'GET', path: `${path}/relations/${relation.name}` },
      { method: 'PUT', path: `${path}/relations/${relation.name}`, body: { ids: [] } },
    ]),
    ...routes.filter(route => route.resource === name && route.path.includes('/:id') && (route.method === 'GET' || route.plugin))
      .map(({ method, path }) => ({ method, path: path.replace('/:id', `/${toPath(id)}`), ...method !== 'GET' && { body: {} } })),
  ]
}

/** Compares every request about a hidden row with the same request about a missing row. */
export async function compareRows(context: Walk, resource: FoundResource, id: RowId): Promise<void> {
  const missing = toMissing(id)
  const pairs = requestsOf(resource, missing, context)
  for (const [index, sent] of requestsOf(resource, id, context).entries())
    await compare(context, sent, pairs[index]!, toReplacements(missing, id), `the row ${toParts(id).join(', ')} of ${resource.name} exists`)
}

/** The names of the fields that a caller cannot know. */
const UNKNOWN = 'unknownFieldOfTheTest'

/** Compares every query with a hidden field with the same query with an unknown name. */
export async function compareFields(context: Walk, visible: VisibleRows, resource: FoundResource, field: string): Promise<void> {
  const { name } = resource
  const referring = [...context.found.resources.values()].flatMap(other =>
    other.relations.filter(({ target }) => target === name).map(relation => ({ other: other.name, relation: relation.name })))
  const queries = (field: string): Sent[] => [
    ...[
      { filter: { [field]: { $null: false } } }, { sort: field }, { sort: `-${field}` }, { fields: field },
      { cursor: '', cursorFields: field },
    ].map(query => ({ method: 'GET', path: `/${name}`, query })),
    { method: 'GET', path: `/${name}/aggregate`, query: { aggregate: `max(${field})` } },
    { method: 'GET', path: `/${name}/aggregate`, query: { aggregate: 'count', groupBy: field } },
    ...referring.flatMap(({ other, relation }) => [
      { method: 'GET', path: `/${other}`, query: { filter: { [relation]: { [field]: { $null: false } } } } },
      { method: 'GET', path: `/${other}`, query: { include: { [relation]: { fields: [field] } } } },
    ]),
    ...batchWithField(context, visible, resource, field),
  ]
  const unknown = queries(UNKNOWN)
  for (const [index, sent] of queries(field).entries())
    await compare(context, sent, unknown[index]!, [[UNKNOWN, field]], `the field ${name}.${field} exists`)
}

export type Replacements = readonly (readonly [from: string, to: string])[]

export const toReplacements = (missing: RowId, id: RowId): Replacements => [
  [toPath(missing), toPath(id)],
  ...toParts(missing).map((part, index): [string, string] => [String(part), String(toParts(id)[index])]),
]

/** Compares the responses after the replacements, because a response can repeat what its request names. */
export async function compare(
  { client, caller, inspector, reset }: Walk, sent: Sent, twin: Sent, replacements: Replacements, fact: string,
): Promise<void> {
  const send = async ({ method, path, query, body, real }: Sent) => {
    const request = { ...query && { query }, ...body !== undefined && { body } }
    if (method === 'GET') return await client.get(path, query)
    if (!real) return await write(client, method, path, request)
    const response = await client.request(method, path, request)
    await reset?.()
    return response
  }
  const [response, other] = [await send(sent), await send(twin)]
  const request = describeRequest(caller, sent.method, sent.path, sent.query)
  inspector.readText(request, response)
  const replaced = (text: string) => replacements.reduce((text, [from, to]) => text.replaceAll(from, to), text)
  const isSame = response.status === other.status && response.text === replaced(other.text)
  const header = differentHeader(response, other, replaced)
  if (isSame && header === undefined) return
  const outcomeOf = ({ status, code }: TestResponse) => code === undefined ? String(status) : `${status} ${code}`
  const [was, is] = [outcomeOf(response), outcomeOf(other)]
  const difference = was !== is ? `${was}, but ${is}` : isSame ? `the header \`${header}\` differs` : 'the response differs'
  inspector.report(request, `discloses that ${fact}: ${difference} without it`)
}

/** Equal responses have equal values of these headers. Others, such as an id of the request, differ in each response. */
const COMPARED: ReadonlySet<string> = new Set([
  'allow', 'cache-control', 'content-type', 'location', 'preference-applied', 'vary', 'www-authenticate',
])

/** @returns the name of a header that only one of the responses has, or that has another value in each */
function differentHeader({ headers }: TestResponse, other: TestResponse, replaced: (text: string) => string): string | undefined {
  const names = new Set([...headers.keys(), ...other.headers.keys()])
  // The first response of a session can set a cookie.
  names.delete('set-cookie')
  return [...names].find(name => headers.has(name) !== other.headers.has(name)
    || (COMPARED.has(name) && headers.get(name) !== replaced(other.headers.get(name)!)))
}

/** Returns an id of the same form that no row has, and that stands nowhere else in a response. */
export function toMissing(id: RowId): RowId {
  return typeof id === 'object' ? id.map(missingPart) : missingPart(id, 0)
}

function missingPart(part: string | number, index: number): string | number {
  const number = 1_987_654_321 + index
  if (typeof part === 'number') return number
  if (/^\d+$/.test(part)) return String(number)
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(part) ? `01936f00-dead-7000-8000-0000dead000${index}` : `missing-row-${index}`
}
