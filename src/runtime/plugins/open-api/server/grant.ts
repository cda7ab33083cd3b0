/** Finds what a caller can use: the described resources, and the routes of plugins and of the app. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { toRouteKey, type Method } from '../../../shared/routes'
import type { DescribedResource } from '../../../shared/types/description'
import { type AutoApiContext, callFor, canUseRoute, requireSession, type Session } from '../../../server/kit/call'
import { customBody, describeFor } from '../../../server/kit/describe'
import { type EndpointDetails, findEndpoint } from '../../../server/kit/describe'
import type { PluginRoute } from '../../../server/plugin/contract'
import { operationId } from '../../../server/plugin/description'
import type { ServerRoutes } from '../../../server/plugin/routes-of'
import type { Operation } from '../../../shared/operations'
import type { Grant, GrantedRoute } from './document/model'
import { queryParameters } from './document/routes'
import { memoized } from '../../../server/kit/process'

/** A route that some callers can use. */
export interface Candidate {
  readonly route: GrantedRoute
  readonly operations: readonly Operation[]
  readonly gate?: string
  readonly documentedFor?: PluginRoute['documentedFor']
}

/** Creates the candidates, once. Routes without a resource need a description, because the API does not know who can use them. */
export async function findCandidates(
  { ofPlugins, endpoints, isAppRoute }: ServerRoutes, prefix: string, resources: readonly string[],
): Promise<readonly Candidate[]> {
  const mounted = (await endpoints()).flatMap(({ method, path, handler }): Candidate[] => {
    const endpoint = findEndpoint(handler)
    return endpoint && (endpoint.resource !== undefined || endpoint.describe) ? [ofEndpoint(endpoint, method, path)] : []
  })
  const ofRoutes = ofPlugins.flatMap((route): Candidate[] => {
    const names = route.path.startsWith('/:resource') ? route.resources ?? resources : undefined
    if (!names) return route.describe && !isAppRoute(route.method, route.path) ? [ofPluginRoute(route, route.path, prefix)] : []
    return names.map(name => [name, route.path.replace(':resource', name)] as const)
      .filter(([, path]) => !isAppRoute(route.method, path))
      .map(([name, path]) => ofPluginRoute(route, path, prefix, name))
  })
  const own = new Set(mounted.map(({ route: { method, path } }) => toRouteKey(path, method)))
  return [...ofRoutes.filter(({ route: { method, path } }) => !own.has(toRouteKey(path, method))), ...mounted]
}

function ofPluginRoute(route: PluginRoute & { readonly plugin: string }, path: string, prefix: string, resource?: string): Candidate {
  const { method, plugin, name, operation, gate, documentedFor } = route
  const names = name === undefined ? [plugin, method.toLowerCase(), ...wordsOf(route.path.replace(/^\/:resource/, ''))] : [name]
  return {
    operations: operation === undefined ? [] : [operation].flat(),
    ...gate !== undefined && { gate },
    ...documentedFor && { documentedFor },
    route: {
      ...toGranted(route, method, prefix + path, operationId(resource ?? 'api', ...names)),
      ...resource !== undefined && { resource },
      ...route.produces && { produces: route.produces },
      hasListParameters: route.listParameters === true,
    },
  }
}

/** `/posts/:id/publish` → posts, by-id, publish */
const wordsOf = (path: string) => path.split('/').filter(segment => segment !== '').map(segment => segment.replace(/^:/, 'by-'))

/** An endpoint for every method is described by the method that its body needs. */
function ofEndpoint(endpoint: EndpointDetails, given: string | undefined, path: string): Candidate {
  const method = (given ?? (endpoint.body || endpoint.accepts ? 'POST' : 'GET')) as Method
  const { resource, operation, endpointName } = endpoint
  return {
    operations: operation === undefined ? [] : [operation],
    ...endpointName !== undefined && { gate: endpointName },
    route: {
      ...toGranted(endpoint, method, path, operationId(method.toLowerCase(), ...wordsOf(path))),
      ...resource !== undefined && { resource },
      hasListParameters: false,
    },
  }
}

type Schemas = Pick<PluginRoute, 'accepts' | 'describe' | 'idempotent' | 'dryRun'> & {
  readonly body?: StandardSchemaV1 | undefined
  readonly query?: StandardSchemaV1 | undefined
}

function toGranted({ accepts, describe, body, query, ...route }: Schemas, method: Method, path: string, id: string) {
  const convert = (schema: StandardSchemaV1 | undefined, part: string) => schema && customBody(schema, `${part} of ${method} ${path}`)
  const parameters = queryParameters(convert(query, 'query'))
  // A body without a JSON Schema is a body nevertheless.
  const ofBody = body && (convert(body, 'body') ?? {})
  return {
    method, path, operationId: id,
    ...accepts && { accepts },
    ...describe && { describe },
    schemas: { ...parameters && { query: parameters }, ...ofBody && { body: ofBody } },
    isIdempotent: route.idempotent === true,
    hasDryRun: route.dryRun === true,
  }
}

/** A grant, and the text that identifies it among all grants of the server. */
export interface FoundGrant {
  readonly grant: Grant
  readonly key: string
}

export type IdOf = (described: DescribedResource) => number

/** Numbers the descriptions of resources. Callers with the same decisions share one object. */
export function createIds(): IdOf {
  let last = 0
  return memoized(() => ++last)
}

export async function findGrant(ctx: AutoApiContext, candidates: readonly Candidate[], base: string, idOf: IdOf): Promise<FoundGrant> {
  const session = requireSession(ctx)
  const description = await describeFor(ctx)
  const routes: GrantedRoute[] = []
  let used = ''
  for (const candidate of candidates) {
    const isUsable = await canUse(candidate, session, description.resources)
    if (isUsable) routes.push(candidate.route)
    used += isUsable ? '1' : '0'
  }
  const isSignedIn = ctx.user !== null
  const described = Object.values(description.resources).map(idOf).join()
  return { grant: { description, isSignedIn, routes, base }, key: JSON.stringify([described, used, isSignedIn, base]) }
}

async function canUse(
  { route: { resource: name }, operations, gate, documentedFor }: Candidate, session: Session, resources: Grant['description']['resources'],
): Promise<boolean> {
  if (name === undefined) return documentedFor?.(session.ctx, undefined) ?? true
  const resource = session.api.resources.get(name)
  const [operation] = operations
  // A disabled operation is a 405, before any permission.
  if (!resource || !operation || resource.disabled.has(operation)) return false
  const call = callFor(session, resource, operation)
  return await canUseRoute(call, operations, gate) && (documentedFor?.(call.ctx, resources[name]) ?? true)
}
