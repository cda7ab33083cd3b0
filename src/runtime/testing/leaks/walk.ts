/** Reads everything that a caller can read: lists in every order, pages, records, includes, relations, aggregates and descriptions. */
import type { TestClient, TestResponse } from '../api/client'
import type { TestApi } from '../api/create'
import type { Found, FoundResource } from '../access/discover'
import type { ExtraRequest } from '../access/observe'
import { toPath, type RowId } from '../access/probes'
import type { Inspector } from './inspect'

export type Row = Readonly<Record<string, unknown>>
type Query = Readonly<Record<string, unknown>>
interface List {
  readonly data: readonly Row[]
  readonly meta: { readonly total?: number, readonly nextCursor?: string, readonly hasMore?: boolean }
}

/** Pages of a list. A longer list is not read to its end. */
const MAX_PAGES = 50
/** Records of a resource that are read one by one. */
const MAX_RECORDS = 25

export interface Walk {
  readonly client: TestClient
  readonly caller: string
  readonly found: Found
  readonly inspector: Inspector
  readonly routes: TestApi['routes']
  /** The bodies of endpoints, by method and path. `false` leaves an endpoint out. */
  readonly requests: Readonly<Record<string, ExtraRequest>>
  readonly reset?: () => unknown
}

/** A request that is compared with another one. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  /** Whether a write takes effect. Then the rows are restored after it. */
  readonly real?: true
}

/** The first row of each resource that the caller sees. */
export type VisibleRows = ReadonlyMap<string, Row>

/** @returns the text of a request, for messages */
export const describeRequest = (caller: string, method: string, path: string, query: Query = {}) => {
  const parts = Object.entries(query).map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
  return `${method} ${path}${parts.length > 0 ? `?${parts.join('&')}` : ''} as ${caller}`
}

export async function walk(context: Walk): Promise<VisibleRows> {
  const { found, routes } = context
  for (const path of ['/_schema', '/permissions', '/_m2m/junctions']) await read(context, path)
  for (const { method, path, resource } of routes) {
    if (method === 'GET' && resource === undefined && !path.includes('/:')) await read(context, path)
  }
  const visible = new Map<string, Row>()
  for (const resource of found.resources.values()) {
    await read(context, `/_m2m/detect/${resource.name}`)
    const [first] = await walkResource(context, resource) ?? []
    if (first) visible.set(resource.name, first)
  }
  return visible
}

/** Sends a read, and inspects the text of the response. */
async function read({ client, caller, inspector }: Walk, path: string, query?: Query): Promise<TestResponse & { request: string }> {
  const request = describeRequest(caller, 'GET', path, query)
  const response = await client.get(path, query)
  inspector.readText(request, response)
  return { ...response, request }
}

async function readList(context: Walk, resource: FoundResource, query: Query): Promise<List | undefined> {
  const { status, body, request } = await read(context, `/${resource.name}`, query)
  if (status !== 200) return undefined
  context.inspector.readRecords(request, resource.name, (body as List).data)
  return body as List
}

async function walkResource(context: Walk, resource: FoundResource): Promise<readonly Row[] | undefined> {
  const { name, fields, relations, hasTrash } = resource
  const rows = await walkPages(context, resource, { count: 'exact' })
  await walkPages(context, resource, { cursor: '' })
  if (hasTrash) await walkPages(context, resource, { includeDeleted: true })
  for (const relation of relations) {
    await readList(context, resource, { include: relation.name, limit: 100 })
    await expectOrder(context, resource, relation)
    for (const { name: next } of context.found.resources.get(relation.target)?.relations ?? [])
      await readList(context, resource, { include: `${relation.name}.${next}`, limit: 100 })
  }
  for (const field of fields.keys()) {
    for (const sort of [field, `-${field}`]) await expectCount(context, resource, { sort, limit: 100 }, rows)
    await readList(context, resource, { fields: field, limit: 100 })
    await expectGroups(context, resource, field, rows)
    await read(context, `/${name}/aggregate`, { aggregate: `min(${field}),max(${field}),count(${field})` })
  }
  await expectAggregate(context, resource, rows)
  for (const route of context.routes) {
    if (route.method !== 'GET' || route.resource !== name || route.path.includes('/:')) continue
    const { status, body, request } = await read(context, route.path)
    const records = Array.isArray(body) ? body as unknown[] : (body as { readonly data?: unknown } | undefined)?.data
    if (status === 200) context.inspector.readRecords(request, name, records)
  }
  for (const row of rows?.slice(0, MAX_RECORDS) ?? []) await walkRecord(context, resource, row)
  return rows
}

/** Reads every page. The total must be the number of rows on all pages. */
async function walkPages(context: Walk, resource: FoundResource, query: Query): Promise<readonly Row[] | undefined> {
  const rows: Row[] = []
  let next: Query = 'cursor' in query ? query : { ...query, page: 1 }
  for (let page = 1; page <= MAX_PAGES; page++) {
    const list = await readList(context, resource, { ...next, limit: 100 })
    if (!list) return page === 1 ? undefined : rows
    rows.push(...list.data)
    const { total, nextCursor, hasMore } = list.meta
    if (total !== undefined ? rows.length >= total || list.data.length === 0 : !hasMore) {
      if (total !== undefined && total !== rows.length)
        reportCount(context, resource, query, `counts ${total} rows, but shows ${rows.length}`)
      return rows
    }
    next = nextCursor === undefined ? { ...query, page: page + 1 } : { ...query, cursor: nextCursor }
  }
  return undefined
}

const reportCount = ({ caller, inspector }: Walk, { name }: FoundResource, query: Query, leak: string) =>
  inspector.report(describeRequest(caller, 'GET', `/${name}`, query), leak)

async function expectCount(context: Walk, resource: FoundResource, query: Query, rows: readonly Row[] | undefined): Promise<void> {
  const list = await readList(context, resource, query)
  const { total } = list?.meta ?? {}
  if (rows && total !== undefined && total !== rows.length)
    reportCount(context, resource, query, `counts ${total} rows instead of ${rows.length}`)
}

interface Groups { readonly data: readonly { readonly count?: number }[] }

async function expectAggregate(context: Walk, resource: FoundResource, rows: readonly Row[] | undefined): Promise<void> {
  const { status, body, request } = await read(context, `/${resource.name}/aggregate`, { aggregate: 'count' })
  const count = status === 200 ? (body as Groups).data[0]?.count : undefined
  if (rows && count !== undefined && count > rows.length)
    context.inspector.report(request, `counts ${count} rows, but the list shows ${rows.length}`)
}

/** More groups than this are several pages. */
const MAX_GROUPS = 100

async function expectGroups(context: Walk, resource: FoundResource, field: string, rows: readonly Row[] | undefined): Promise<void> {
  const { status, body, request } = await read(context, `/${resource.name}/aggregate`, { aggregate: 'count', groupBy: field })
  if (status !== 200 || !rows || rows.length > MAX_GROUPS) return
  const total = (body as Groups).data.reduce((sum, { count = 0 }) => sum + count, 0)
  if (total > rows.length) context.inspector.report(request, `counts ${total} rows, but the list shows ${rows.length}`)
}

/** Fields of a relation by which a list is sorted. */
const MAX_SORTS = 3

/** A list sorted by related records must have the order of what it shows of them. */
async function expectOrder(context: Walk, resource: FoundResource, relation: FoundResource['relations'][number]): Promise<void> {
  const { name, kind, target } = relation
  const isOne = kind === 'one'
  const fields = isOne ? [...context.found.resources.get(target)?.fields.keys() ?? []].slice(0, MAX_SORTS) : ['$count']
  for (const field of fields) {
    const sort = `-${name}.${field}`
    const list = await readList(context, resource, { ...isOne ? { include: name } : { counts: name }, sort, limit: 100 })
    // Records without a related one come first, and so do those with most of them.
    const ranks = list?.data.map(row => isOne ? Number((row[name] as Row | null)?.[field] == null) : countOf(row, name))
    if (ranks?.some((rank, index) => index > 0 && rank > ranks[index - 1]!))
      reportCount(context, resource, { sort }, `has an order that the visible \`${name}\` do not explain`)
  }
}

const countOf = (row: Row, relation: string) => (row._count as Readonly<Record<string, number>> | undefined)?.[relation] ?? 0

/** A count of related records must be the total of their list. */
async function expectRelationCount(context: Walk, path: string, relation: string, total: number | undefined): Promise<void> {
  const { status, body, request } = await read(context, path, { counts: relation })
  const count = status === 200 ? (body as { readonly _count?: Readonly<Record<string, number>> })._count?.[relation] : undefined
  if (total !== undefined && count !== undefined && count !== total)
    context.inspector.report(request, `counts ${count} rows, but the list of the relation has ${total}`)
}

async function walkRecord(context: Walk, resource: FoundResource, row: Row): Promise<void> {
  const { name, primaryKey, relations } = resource
  if (!primaryKey.every(key => Object.hasOwn(row, key))) return
  const id = primaryKey.map(key => row[key]) as RowId
  const path = `/${name}/${toPath(id)}`
  const queries = [{}, ...relations.map(relation => ({ include: relation.name }))]
  for (const query of queries) {
    const { status, body, request } = await read(context, path, query)
    if (status === 200) context.inspector.readRecords(request, name, body)
  }
  for (const relation of relations) {
    if (relation.kind === 'one') continue
    const { status, body, request } = await read(context, `${path}/relations/${relation.name}`, { limit: 100 })
    if (status !== 200) continue
    context.inspector.readRecords(request, relation.target, (body as List).data)
    await expectRelationCount(context, path, relation.name, (body as List).meta.total)
  }
  for (const route of context.routes) {
    if (route.method === 'GET' && route.resource === name && route.path.includes('/:id'))
      await read(context, route.path.replace('/:id', `/${toPath(id)}`))
  }
}
