/** What an endpoint is: the gate of its resource, the tenant, the schemas of body and query, then a handler that is not ours. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Operation } from '../../shared/operations'
import type { AutoApiContext } from '../registration'
import type { Resource } from '../schema/model'
import type { ApiResponse } from './response'
import { openContext, toCall, type Api, type ApiRequest } from './context'
import { authorizeGate } from './access/authorize'
import { validate } from './parse/standard-schema'

type Output<S, Otherwise> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : Otherwise

export type EndpointContext<Body, Query> = Omit<AutoApiContext, 'body' | 'query'> & {
  readonly body: Output<Body, undefined>
  readonly query: Output<Query, AutoApiContext['query']>
}

export interface EndpointOptions<Body extends StandardSchemaV1 | undefined, Query extends StandardSchemaV1 | undefined, Result> {
  /** Whose gate the caller has to pass. Without it nothing is authorized: that is the handler's to do. */
  readonly resource?: string
  /** What the handler does with the resource. */
  readonly operation?: Operation
  /** A gate of `authorization.custom`: it decides the operations it declares, the resource's permissions the others. */
  readonly endpointName?: string
  /** Checks the JSON body; without it the body is not read. */
  readonly body?: Body
  /** Checks the query string. */
  readonly query?: Query
  /** Answers the payload as it is; `undefined` is a 204. */
  readonly handler: (ctx: EndpointContext<Body, Query>) => Result | Promise<Result>
}

export interface EndpointTarget {
  readonly resource?: string
  readonly endpointName?: string
}

/** Whose gate it is. @throws When it names a resource or a gate that there is not. */
export function findEndpointResource({ resource: name, endpointName }: EndpointTarget, { resources }: Api): Resource | undefined {
  if (name === undefined) return undefined
  const resource = resources.get(name)
  if (!resource) throw new Error(`[auto-api] createEndpoint(): there is no resource \`${name}\`.`)
  if (endpointName !== undefined && !resource.auth?.custom?.[endpointName])
    throw new Error(`[auto-api] createEndpoint(): \`${name}.authorization.custom\` has no gate \`${endpointName}\`.`)
  return resource
}

/** The gate and the tenant, the schemas, the handler: what an endpoint is, for routes of plugins as well. */
export async function runEndpoint<Result, Body extends StandardSchemaV1 | undefined, Query extends StandardSchemaV1 | undefined>(
  options: EndpointOptions<Body, Query, Result>,
  request: ApiRequest,
  api: Api,
): Promise<ApiResponse> {
  const ctx = await openContext(api, request, options.resource ?? '', options.operation ?? 'read')
  await authorize(options, ctx, request, api)
  const own = ctx as { -readonly [K in keyof AutoApiContext]: unknown }
  if (options.query) own.query = await validate(options.query, { ...request.query })
  if (options.body) own.body = await validate(options.body, await request.body())
  const body = await options.handler(ctx as unknown as EndpointContext<Body, Query>)
  return { status: body === undefined ? 204 : 200, body: body === undefined ? null : body }
}

async function authorize(endpoint: EndpointTarget, ctx: AutoApiContext, request: ApiRequest, api: Api): Promise<void> {
  const resource = findEndpointResource(endpoint, api)
  if (!resource) {
    const [any] = api.resources.values()
    if (any) toCall(api, ctx, any, request.engine)
    return
  }
  const call = toCall(api, ctx, resource, request.engine)
  await authorizeGate(call, endpoint.endpointName ?? '')
}
