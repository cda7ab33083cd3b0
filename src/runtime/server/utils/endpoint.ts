/**
 * Custom endpoints: handlers of the app with the caller, the authorization and the errors of the generated routes. The server checks the
 * resource and the named gate of an endpoint at startup. If the endpoint is loaded later, its first request checks them.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { useRuntime } from '../api/runtime'
import { assertAccepts } from '../core/request/media-type'
import { rememberEndpoint, runEndpoint, type EndpointOptions } from '../core/entries/endpoint'
import { defineCustomRoute, type TypedHandler } from '../http/handlers'

export type { EndpointContext, EndpointOptions } from '../core/entries/endpoint'
export type { BodyStreamOptions, RouteRequest } from '../core/request/route-request'

/**
 * Creates an endpoint of the app with the caller, the authorization and the errors of the API.
 * @throws When `resource` is set without `operation`, `endpointName` or `idempotent` without `resource`, or `accepts` lists what `body`
 * cannot validate.
 * @example
 * export default createEndpoint({
 *   resource: 'posts', operation: 'update', endpointName: 'publish',
 *   async handler(ctx) {
 *     const post = await findAuthorizedRow<typeof posts>(ctx, 'posts', ctx.params.id!)
 *     return { published: post.id }
 *   },
 * })
 */
export function createEndpoint<
  Result,
  Body extends StandardSchemaV1 | undefined = undefined,
  Query extends StandardSchemaV1 | undefined = undefined,
>(options: EndpointOptions<Body, Query, Result>): TypedHandler<Result> {
  const { resource, operation, endpointName, idempotent } = options
  if (resource !== undefined && operation === undefined)
    throw new Error(`[auto-api] createEndpoint({ resource: '${resource}' }): \`resource\` requires \`operation\`.`)
  if (endpointName !== undefined && resource === undefined)
    throw new Error(`[auto-api] createEndpoint({ endpointName: '${endpointName}' }): \`endpointName\` requires \`resource\`.`)
  // A retry gets the stored response without the handler, so the API itself has to authorize it.
  if (idempotent && resource === undefined)
    throw new Error('[auto-api] createEndpoint({ idempotent: true }): `idempotent` requires `resource`.')
  assertAccepts(`[auto-api] createEndpoint(${resource === undefined ? '' : `{ resource: '${resource}' }`})`, options)
  useRuntime().extend(api => api.addEndpoint(options))
  const handler = defineCustomRoute((request, api) => runEndpoint(options, request, api)) as TypedHandler<Result>
  rememberEndpoint(handler, options)
  return handler
}
