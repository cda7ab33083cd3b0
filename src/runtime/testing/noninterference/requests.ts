/** Random requests of a caller, one after another. Some continue what an earlier response has begun: a cursor, or an entity tag. */
import type { TestRoute } from '../api/create'
import { toPath } from '../access/probes'
import { aggregateQuery, filter, idQuery, listQuery, recordQuery } from './queries'
import type { Exchange, Query, SentRequest } from './sent'
import { pickId, pickResource, pickWritable, type Pool, type PooledResource } from './values'
import { writeRequest } from './writes'

type Make = (pool: Pool, on: PooledResource) => SentRequest | undefined

const get = (path: string, query: Query = {}): SentRequest => ({ method: 'GET', path, query })

const READS: readonly (readonly [number, Make])[] = [
  [30, (pool, on) => get(`/${on.resource.name}`, listQuery(pool, on))],
  [14, (pool, on) => get(`/${on.resource.name}/${toPath(pickId(pool, on))}`, idQuery(pool, on))],
  [12, (pool, on) => get(`/${on.resource.name}/aggregate`, aggregateQuery(pool, on))],
  [6, (pool, on) => {
    const many = on.relations.filter(({ kind }) => kind !== 'one')
    if (many.length === 0) return undefined
    const relation = pool.random.pick(many)
    const target = pool.resources.get(relation.target.name)
    return get(`/${on.resource.name}/${toPath(pickId(pool, on))}/relations/${relation.name}`, target ? listQuery(pool, target) : {})
  }],
  [4, (pool, on) => get(`/${on.resource.name}/permissions`, { ids: toPath(pickId(pool, on)) })],
  [1, () => get('/permissions')],
  [1, () => get('/_schema')],
  [1, (pool, on) => get(pool.random.pick(['/_m2m/junctions', `/_m2m/detect/${on.resource.name}`]))],
]

/** @param isSkipped whether a route is left out, such as one whose response has no end */
export function createRequests(pool: Pool, routes: readonly TestRoute[], isSkipped: (route: TestRoute) => boolean) {
  const { random } = pool
  const hasRoute = (method: string, path: string) => routes.some(route => route.method === method && route.path === path)
  const readable = () => routes.filter(route => route.method === 'GET' && !isSkipped(route))
  const kinds: readonly (readonly [number, Make])[] = [
    ...READS,
    [25, (pool, on) => writeRequest(pool, pickWritable(pool) ?? on, hasRoute)],
    [readable().length > 0 ? 12 : 0, () => routeRequest(pool, random.pick(readable()))],
    [hasRoute('POST', '/mcp') ? 6 : 0, mcpRequest],
  ]
  return {
    next(last: Exchange | undefined): SentRequest {
      const following = last && random.chance(0.5) ? follow(pool, last) : undefined
      if (following) return following
      for (;;) {
        const sent = random.weighted(kinds)(pool, pickResource(pool))
        if (sent) return sent
      }
    },
  }
}

/** The next page of a list, or the same request with its entity tag. */
function follow({ random }: Pool, { sent, response }: Exchange): SentRequest | undefined {
  if (sent.method !== 'GET' || response.status !== 200) return undefined
  const cursor = (response.body as { readonly meta?: { readonly nextCursor?: string | null } } | undefined)?.meta?.nextCursor
  if (typeof cursor === 'string' && sent.query) return { ...sent, query: { ...sent.query, cursor } }
  const tag = response.headers.get('etag')
  return tag && random.chance(0.4) ? { ...sent, headers: { 'if-none-match': tag } } : undefined
}

function routeRequest(pool: Pool, { path, resource }: TestRoute): SentRequest {
  const on = resource === undefined ? pickResource(pool) : pool.resources.get(resource)!
  const target = path.replace(/\/:\w+/g, () => `/${toPath(pickId(pool, on))}`)
  if (!path.endsWith('/export')) return get(target, pool.random.chance(0.3) ? { filter: filter(pool, on) } : {})
  const { filter: some, sort } = listQuery(pool, on)
  return get(target, {
    format: pool.random.pick(['csv', 'json', 'ndjson']), ...some !== undefined && { filter: some }, ...sort !== undefined && { sort },
    ...recordQuery(pool, on),
  })
}

function mcpRequest(pool: Pool, on: PooledResource): SentRequest {
  const { random } = pool
  const { name } = on.resource
  const call = (tool: string, args: object) => ({ method: 'tools/call', params: { name: tool, arguments: { resource: name, ...args } } })
  const message = random.weighted<() => object>([
    [1, () => ({ method: 'tools/list' })],
    [2, () => call('describe', {})],
    [4, () => call('list', { filter: filter(pool, on), limit: 3 })],
    [3, () => call('get', { id: toPath(pickId(pool, on)) })],
    [2, () => call('aggregate', { filter: filter(pool, on) })],
    [1, () => call('delete', { id: toPath(pickId(pool, on)) })],
    [1, () => call('update', { id: toPath(pickId(pool, on)), data: {} })],
  ])()
  return {
    method: 'POST', path: '/mcp', query: { dryRun: true }, body: { jsonrpc: '2.0', id: 1, ...message },
    headers: { accept: 'application/json, text/event-stream' },
  }
}
