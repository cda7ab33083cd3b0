/** The requests of an access matrix. Each one reads, or is a dry run, so the rows stay as they are. */
import type { RouteName } from '../../shared/routes'
import type { TestClient, TestRequest, TestResponse } from '../api/client'
import { both, NO, toCell, YES } from './cell'
import type { FoundRelation, FoundResource } from './discover'
import type { Values } from './values'

/** The id of a row. A composite key is a list of its parts, in key order. */
export type RowId = string | number | readonly (string | number)[]

/** The rows of a matrix by a name that says why a caller can or cannot see them. */
export type NamedRows = Readonly<Record<string, RowId>>

export interface Situation {
  readonly client: TestClient
  readonly resource: FoundResource
  /** Whether the API has bulk routes. */
  readonly hasBulk: boolean
  /** The body of a create. */
  readonly body: Values
  /** The named rows of other resources. */
  readonly rowsOf: (resource: string) => NamedRows | undefined
}

export interface Probe {
  readonly routes: readonly RouteName[]
  readonly appliesTo?: (resource: FoundResource) => boolean
  /** @returns the cell */
  readonly send: (situation: Situation, id: RowId) => Promise<string>
}

export const toParts = (id: RowId): readonly (string | number)[] => typeof id === 'object' ? id : [id]
export const toPath = (id: RowId) => toParts(id).map(part => encodeURIComponent(part)).join(',')
const inBody = (id: RowId): unknown => typeof id === 'object' ? toPath(id) : id

const DRY = { dryRun: true }
const hasTrash = ({ hasTrash }: FoundResource) => hasTrash

/** Sends a write as a dry run. If the resource requires a tag, it accepts every revision of the row. */
export async function write(
  client: TestClient, method: string, path: string, { query, ...request }: TestRequest = {},
): Promise<TestResponse> {
  const options = { ...request, query: { ...query, ...DRY } }
  const response = await client.request(method, path, options)
  return response.status === 428 ? await client.request(method, path, { ...options, headers: { 'if-match': '*' } }) : response
}

const filterOf = ({ primaryKey }: FoundResource, id: RowId) =>
  Object.fromEntries(toParts(id).map((part, index) => [primaryKey[index], part]))
const shows = (response: TestResponse, isShown: (body: { data: readonly Values[] }) => boolean) =>
  response.status === 200 ? isShown(response.body as { data: Values[] }) ? YES : NO : toCell(response)

const list = (query: Values = {}): Probe['send'] => async ({ client, resource }, id) =>
  shows(await client.get(`/${resource.name}`, { filter: filterOf(resource, id), limit: 1, ...query }), ({ data }) => data.length > 0)

const get = (query: Values = {}): Probe['send'] => async ({ client, resource }, id) =>
  toCell(await client.get(`/${resource.name}/${toPath(id)}`, query))

interface OnRow {
  readonly method: string
  readonly path?: string
  readonly query?: Values
  readonly body?: unknown
  readonly bulk: readonly [method: string, path: string, body: (id: unknown) => object]
}

/** A write of one row, alone and in a bulk request. */
const onRow = ({ method, path = '', query, body, bulk: [bulkMethod, bulkPath, bulkBody] }: OnRow): Probe['send'] =>
  async ({ client, resource: { name }, hasBulk }, id) => {
    const request = { ...query && { query }, ...body !== undefined && { body } }
    const single = toCell(await write(client, method, `/${name}/${toPath(id)}${path}`, request))
    if (!hasBulk) return single
    const response = await write(client, bulkMethod, `/${name}/bulk${bulkPath}`, { ...query && { query }, body: bulkBody(inBody(id)) })
    // A bulk request names the tag in its items.
    return response.status === 428 ? single : both(single, 'bulk', toCell(response))
  }

const ofIds = (id: unknown) => ({ ids: [id] })

async function create({ client, resource: { name }, hasBulk, body }: Situation): Promise<string> {
  const single = toCell(await write(client, 'POST', `/${name}`, { body }))
  return hasBulk ? both(single, 'bulk', toCell(await write(client, 'POST', `/${name}/bulk`, { body: { items: [body] } }))) : single
}

/** The requests of every resource. The first ones do not concern a row. */
export const PROBES = {
  'create': { routes: ['create', 'bulk-create'], send: create },
  'list': { routes: ['list'], send: list() },
  'list with trash': { routes: ['list'], appliesTo: hasTrash, send: list({ includeDeleted: true }) },
  'get': { routes: ['get'], send: get() },
  'get with trash': { routes: ['get'], appliesTo: hasTrash, send: get({ includeDeleted: true }) },
  'aggregate': {
    routes: ['aggregate'],
    send: async ({ client, resource }, id) => {
      const response = await client.get(`/${resource.name}/aggregate`, { aggregate: 'count', filter: filterOf(resource, id) })
      return shows(response, ({ data }) => data[0]?.count === 1)
    },
  },
  'update': {
    routes: ['update', 'bulk-update'],
    send: onRow({ method: 'PATCH', body: {}, bulk: ['PATCH', '', id => ({ items: [{ id, data: {} }] })] }),
  },
  'delete': { routes: ['delete', 'bulk-delete'], send: onRow({ method: 'DELETE', bulk: ['DELETE', '', ofIds] }) },
  'purge': {
    routes: ['delete', 'bulk-delete'],
    appliesTo: hasTrash,
    send: onRow({ method: 'DELETE', query: { force: true }, bulk: ['DELETE', '', ofIds] }),
  },
  'restore': {
    routes: ['restore', 'bulk-restore'],
    appliesTo: hasTrash,
    send: onRow({ method: 'POST', path: '/restore', bulk: ['POST', '/restore', ofIds] }),
  },
} as const satisfies Readonly<Record<string, Probe>>

/** The requests that concern no row. */
export const WITHOUT_ROW: ReadonlySet<string> = new Set<keyof typeof PROBES>(['create'])

interface RelationProbe {
  readonly routes: readonly RouteName[]
  readonly kinds: readonly FoundRelation['kind'][]
  readonly send: (situation: Situation, relation: FoundRelation, id: RowId) => Promise<string>
}

const MANY = ['manyToMany'] as const

const link = (method: string): RelationProbe['send'] => async ({ client, resource, rowsOf }, { name, target }, id) => {
  const ids = Object.values(rowsOf(target) ?? {}).slice(0, 1).map(inBody)
  return toCell(await write(client, method, `/${resource.name}/${toPath(id)}/relations/${name}`, { body: { ids } }))
}

/** The requests of every relation. */
export const RELATION_PROBES = {
  'include': {
    routes: ['get'],
    kinds: ['one', 'many', 'manyToMany'],
    send: async ({ client, resource, rowsOf }, { name, target }, id) => {
      const response = await client.get<Values>(`/${resource.name}/${toPath(id)}`, { include: name })
      return response.status === 200 ? listIncluded([response.body[name]].flat(), target, rowsOf) : toCell(response)
    },
  },
  'related': {
    routes: ['related'],
    kinds: MANY,
    send: async ({ client, resource, rowsOf }, { name, target }, id) => {
      const response = await client.get<{ data: Values[] }>(`/${resource.name}/${toPath(id)}/relations/${name}`, { limit: 100 })
      return response.status === 200 ? listIncluded(response.body.data, target, rowsOf) : toCell(response)
    },
  },
  'link': { routes: ['relation-add'], kinds: MANY, send: link('POST') },
  'unlink': { routes: ['relation-remove'], kinds: MANY, send: link('DELETE') },
  'replace links': {
    routes: ['relation-replace', 'relations-replace'],
    kinds: MANY,
    send: async ({ client, resource }, { name }, id) => {
      const path = `/${resource.name}/${toPath(id)}/relations`
      const one = toCell(await write(client, 'PUT', `${path}/${name}`, { body: { ids: [] } }))
      return both(one, 'several', toCell(await write(client, 'PUT', path, { body: { relations: { [name]: { ids: [] } } } })))
    },
  },
} as const satisfies Readonly<Record<string, RelationProbe>>

/** Names the related rows. Without names of the rows, it counts them. */
function listIncluded(records: readonly unknown[], target: string, rowsOf: Situation['rowsOf']): string {
  const shown = records.filter(record => record !== null && record !== undefined) as Values[]
  const names = Object.entries(rowsOf(target) ?? {}).filter(([, id]) => shown.some(record => hasId(record, id))).map(([name]) => name)
  const others = shown.length - names.length
  const parts = [...names, ...others > 0 ? [`${others} other`] : []]
  return parts.join(', ') || 'none'
}

const hasId = (record: Values, id: RowId) => {
  const values = Object.values(record).map(String)
  return typeof id === 'object' ? id.every(part => values.includes(String(part))) : String(record.id ?? values[0]) === String(id)
}

/** The probes of each generated route. A route without one concerns no row: `expectNoLeaks` reads it. */
export const PROBES_OF_ROUTES: Readonly<Record<RouteName, readonly (keyof typeof PROBES | keyof typeof RELATION_PROBES)[]>> = {
  'list': ['list', 'list with trash'],
  'create': ['create'],
  'aggregate': ['aggregate'],
  'get': ['get', 'get with trash', 'include'],
  'update': ['update'],
  'delete': ['delete', 'purge'],
  'restore': ['restore'],
  'bulk-create': ['create'],
  'bulk-update': ['update'],
  'bulk-delete': ['delete', 'purge'],
  'bulk-restore': ['restore'],
  'related': ['related'],
  'relation-add': ['link'],
  'relation-remove': ['unlink'],
  'relation-replace': ['replace links'],
  'relations-replace': ['replace links'],
  'resource-permissions': [],
  'permissions': [],
  'schema': [],
  'm2m-junctions': [],
  'm2m-is-junction': [],
  'm2m-detect': [],
}
