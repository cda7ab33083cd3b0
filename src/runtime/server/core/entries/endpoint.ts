/** Runs an endpoint: authorizes the caller by a resource or a named gate, validates query and body, then calls the app's handler. */
import type { Awaitable } from '../awaitable'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Operation } from '../../../shared/operations'
import type { RouteDescription } from '../../../shared/types/openapi'
import type { AutoApiContext } from '../../registration'
import type { Resource } from '../../schema/model'
import { findKeys } from '../../schema/validation'
import type { Api } from '../api'
import type { EndpointTarget } from '../extensions/extensions'
import { findRevision, type ApiResponse } from '../extensions/response'
import type { ApiRequest } from '../request/api-request'
import type { Call, Session } from '../request/session'
import { assertDryRun, assertNoDryRun, dryRunHeaders } from '../parse/dry-run'
import { authorizeAny, authorizeGate } from '../access/authorize'
import { assertMediaType, mediaTypeOf } from '../request/media-type'
import { createRouteRequest, type RouteRequest } from '../request/route-request'
import { assertDepth } from '../parse/body'
import { validate } from '../parse/standard-schema'
import { allowEveryone, handleRequest } from '../pipeline'
import { createAttached } from '../process/request-scoped'

type Output<S, Otherwise> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : Otherwise

export type EndpointContext<Body, Query> = Omit<AutoApiContext, 'body' | 'query'> & {
  readonly body: Output<Body, undefined>
  readonly query: Output<Query, AutoApiContext['query']>
}

export interface EndpointOptions<Body extends StandardSchemaV1 | undefined, Query extends StandardSchemaV1 | undefined, Result> {
  /** The resource whose permissions authorize the caller. If it is absent, the handler has to authorize the caller. */
  readonly resource?: string
  /** The operation of the handler on the resource. */
  readonly operation?: Operation
  /** A named gate of `authorization.custom`. It decides the operations it declares. The resource's permissions decide the others. */
  readonly endpointName?: string
  /** Validates the body: JSON, or a form if `accepts` lists it. If it is absent, only `request.stream()` reads the body. */
  readonly body?: Body
  /**
   * The media types of the body, such as `text/csv` or `image/*`. Other types are a 415.
   * @default ['application/json']
   */
  readonly accepts?: readonly string[]
  /** Validates the query string. */
  readonly query?: Query
  /**
   * Whether the handler supports dry runs. In one, `ctx.dryRun` is true, `atomicWrites(ctx, …)` rolls back, and the handler must not change
   * anything else. Without this option, a dry run is a 400 `DRY_RUN_UNSUPPORTED`, and the handler does not run.
   * @default false
   */
  readonly dryRun?: boolean
  /**
   * Whether a request with `Idempotency-Key` takes effect once. Requires `resource`, and the plugin `idempotency`. The key is stored in the
   * same commit as the first changes that the handler writes through the API: with `atomicWrites` and `reportChanges`, or with another
   * function of the API. If it writes nothing this way, the key is stored after the handler.
   * @default false
   */
  readonly idempotent?: boolean
  /**
   * Describes the endpoint for the OpenAPI document. An endpoint with `resource` is in the document of each caller who passes its
   * authorization. An endpoint without `resource` is in every document, but only with a description.
   */
  readonly describe?: RouteDescription
  /** Returns the response body. `undefined` gives a 204 response without a body. An async iterable of strings and bytes is streamed. */
  readonly handler: (ctx: EndpointContext<Body, Query>, request: RouteRequest) => Awaitable<Result>
}

/** The options of each endpoint, by its event handler. */
const optionsOf = createAttached<EndpointDetails>('endpoint')

/** What an endpoint declares about itself. */
export type EndpointDetails = Omit<EndpointOptions<StandardSchemaV1 | undefined, StandardSchemaV1 | undefined, unknown>, 'handler'>

export function rememberEndpoint(handler: object, options: EndpointDetails): void {
  optionsOf.set(handler, options)
}

/** Returns what an event handler declares about itself. `undefined` if it is no endpoint of the API. */
export const findEndpoint = (handler: unknown): EndpointDetails | undefined => optionsOf.get(handler)

/** Runs when the server starts. @throws When an endpoint names a resource or a named gate that does not exist. */
export function assertEndpoints(api: Api): void {
  for (const endpoint of api.endpoints) findEndpointResource(endpoint, api)
}

/**
 * Without a plugin that stores keys, a client of the endpoint would take a repeated effect for a safe retry. This is checked when the
 * endpoint runs: at startup, plugins can still be loading.
 */
function assertStoresKeys({ resource, idempotent }: EndpointTarget, { listeners }: Api): void {
  if (idempotent && listeners.around.length === 0)
    throw new Error(`[auto-api] createEndpoint({ resource: '${resource}' }): \`idempotent\` requires the plugin \`idempotency\`.`)
}

function findEndpointResource({ resource: name, endpointName }: EndpointTarget, { resources }: Api): Resource | undefined {
  if (name === undefined) return undefined
  const resource = resources.get(name)
  if (!resource) throw new Error(`[auto-api] createEndpoint(): there is no resource \`${name}\`.`)
  if (endpointName !== undefined && !resource.auth?.custom?.[endpointName])
    throw new Error(`[auto-api] createEndpoint(): \`${name}.authorization.custom\` has no gate \`${endpointName}\`.`)
  return resource
}

/** What a route of a plugin has besides the options of an endpoint. It applies only to routes of a resource. */
export interface PluginRouteFacts {
  /** The name of the route, for `around` of plugins. */
  readonly name?: string
  /** A named gate, which not every resource of the route has. */
  readonly gate?: string
  /** The operations of a request. The first one is that of the route. @default only that of the route */
  readonly operationsOf?: (request: ApiRequest) => readonly [Operation, ...Operation[]]
  /** Whether the permission for one of the operations is enough. @default false */
  readonly anyOf?: boolean
  /** Further operations that the request counts as, for limits by operation. @default none */
  readonly countsAs?: readonly Operation[]
  /** The parameters of the query string. @default those of the `query` schema; without one, the handler knows every parameter */
  readonly parameters?: readonly string[] | undefined
}

/** Runs an endpoint of the app, or a route of a plugin. */
export function runEndpoint<Result, Body extends StandardSchemaV1 | undefined, Query extends StandardSchemaV1 | undefined>(
  options: EndpointOptions<Body, Query, Result>,
  request: ApiRequest,
  api: Api,
  { name, gate = options.endpointName ?? '', operationsOf = () => [options.operation ?? 'read'], ...facts }: PluginRouteFacts = {},
): Promise<ApiResponse> {
  const required = operationsOf(request)
  const [, ...further] = required
  const authorize = (call: Call) => facts.anyOf ? authorizeAny(call, required) : authorizeGate(call, gate, further)
  const operations = [...required, ...facts.countsAs ?? []] as const
  const run = (session: Session) => handle(options, request, session)
  const resource = findEndpointResource(options, api)
  // Routes of plugins have a name. They also work without the plugin.
  if (name === undefined) assertStoresKeys(options, api)
  const { idempotent = false } = options
  const routeName = name ?? (idempotent ? `endpoint: ${request.method} ${request.path}` : undefined)
  const body = async () => options.body && request.body(options.accepts)
  const parameters = () => facts.parameters ?? keysOf(options.query)
  return resource
    ? handleRequest(api, request, resource, { name: routeName, idempotent, body, operations, parameters, authorize, run })
    : handleRequest(api, request, undefined, { operations, parameters, authorize: allowEveryone, run })
}

async function handle<Result, Body extends StandardSchemaV1 | undefined, Query extends StandardSchemaV1 | undefined>(
  options: EndpointOptions<Body, Query, Result>, request: ApiRequest, session: Session,
): Promise<ApiResponse> {
  const { ctx } = session
  const { accepts } = options
  if (options.dryRun) assertDryRun(request)
  else assertNoDryRun(request)
  const own = ctx as { -readonly [K in keyof AutoApiContext]: unknown }
  if (accepts && hasBody(request)) assertMediaType(mediaTypeOf(request.header('content-type')), accepts)
  if (options.query) own.query = await validate(options.query, { ...request.query })
  if (options.body) {
    const sent = await request.body(accepts)
    assertDepth(sent)
    own.body = await validate(options.body, sent)
  }
  const headers: Record<string, string> = Object.assign(Object.create(null), ctx.dryRun ? dryRunHeaders(request) : {})
  // A streamed body can set headers until its first chunk. Then `around` of plugins may have copied the headers of the handler already.
  const streamHeaders: Record<string, string> = Object.create(null)
  let target = headers
  const setHeader = (name: string, value: string) => void (target[name] = value)
  let status: number | undefined
  const routeRequest = createRouteRequest(request, session, accepts, { setHeader, setStatus: value => void (status = value) })
  const body = await options.handler(ctx as unknown as EndpointContext<Body, Query>, routeRequest)
  target = streamHeaders
  const revision = findRevision(body)
  return {
    status: status ?? (body === undefined ? 204 : 200), body: body === undefined ? null : body, headers, streamHeaders,
    ...revision !== undefined && { revision },
  }
}

/** Returns `undefined` without a schema, and for a schema that accepts every key. */
function keysOf(schema: StandardSchemaV1 | undefined): readonly string[] | undefined {
  const keys = schema && findKeys(schema, true)
  return keys && [...keys]
}

const hasBody = ({ header }: ApiRequest) =>
  header('content-type') !== undefined || header('transfer-encoding') !== undefined || Number(header('content-length')) > 0
