/**
 * Custom endpoints: the gate, the caller and the errors of the generated routes, around a handler of the app's own.
 * Whose gate they name is asked when the server starts; one that is loaded later is asked by its first request.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Api } from '../core/context'
import { findEndpointResource, runEndpoint, type EndpointOptions, type EndpointTarget } from '../core/endpoint'
import { defineCustomRoute, type AnsweringHandler } from '../http'

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
>(options: EndpointOptions<Body, Query, Result>): AnsweringHandler<Result> {
  const { resource, operation, endpointName } = options
  if (resource !== undefined && operation === undefined)
    throw new Error(`[auto-api] createEndpoint({ resource: '${resource}' }) has no \`operation\`: what does it do with the resource?`)
  if (endpointName !== undefined && resource === undefined)
    throw new Error(`[auto-api] createEndpoint({ endpointName: '${endpointName}' }) has no \`resource\`: whose gate is it?`)
  declared.push(options)
  return defineCustomRoute((request, api) => runEndpoint(options, request, api)) as AnsweringHandler<Result>
}

const declared: EndpointTarget[] = []

/** Of all endpoints loaded so far. @throws When one names a resource or a gate that there is not. */
export function assertEndpoints(api: Api): void {
  for (const endpoint of declared) findEndpointResource(endpoint, api)
}
