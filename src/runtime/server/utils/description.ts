/** Server util that describes the API for one caller. */
import type { ApiDescription } from '../../shared/types/description'
import { describeFor } from '../core/describe/describe'
import type { CallerContext } from '../core/entries/call'

export interface DescribeOptions {
  /**
   * The resources to describe. Resources that the caller cannot use are left out.
   * @default every resource that the caller can use
   */
  readonly resources?: readonly string[]
}

/**
 * Describes the resources, fields, relations and request bodies that the caller of a context can use. `GET /_schema` returns the same
 * description. The result is frozen, and callers with the same access share parts of it.
 * @throws {TypeError} When the API did not create the context.
 * @example
 * export default createEndpoint({
 *   handler: async ctx => Object.keys((await describeApi(ctx)).resources),
 * })
 */
export function describeApi(ctx: CallerContext, options: DescribeOptions = {}): Promise<ApiDescription> {
  return describeFor(ctx, options.resources)
}
