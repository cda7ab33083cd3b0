/**
 * Custom endpoints: a handler of the app with the caller, the authorization and the errors of the generated routes. The server checks
 * their resource and named gate when it starts; for an endpoint that is loaded later the first request does.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { useRuntime } from '../api/runtime'
import { runEndpoint, type EndpointOptions } from '../core/endpoint'
import { defineCustomRoute, type TypedHandler } from '../http'

export type { EndpointContext, EndpointOptions } from '../core/endpoint'

/**
 * An endpoint of the app with the caller, the gate and the errors of the API.
 * @throws When a `resource` has no `operation`, or there is no gate of that name.
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
  const { resource, operation, endpointName } = options
  if (resource !== undefined && operation === undefined)
    throw new Error(`[auto-api] createEndpoint({ resource: '${resource}' }) has no \`operation\`: what does it do with the resource?`)
  if (endpointName !== undefined && resource === undefined)
    throw new Error(`[auto-api] createEndpoint({ endpointName: '${endpointName}' }) has no \`resource\`: whose gate is it?`)
  useRuntime().extend(api => api.addEndpoint(options))
  return defineCustomRoute((request, api) => runEndpoint(options, request, api)) as TypedHandler<Result>
}
