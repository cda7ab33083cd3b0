/** Sends a request of a tool to a route of the API, in this process, as the caller of the client's request. */
import { type ApiRequest, canWrite, isDryRun } from '../../kit/request'
import { assertEnabled, type Route, type RoutesByMethod } from '../../kit/routes'
import type { ApiResponse } from '../../kit/respond'
import type { Method } from '../../../shared/routes'
import { idToPath } from '../../kit/rows'
import { requireToolResource, type ToolCall } from './tool'

export interface ToolRequest {
  readonly resource: string
  readonly id?: string | number
  /** The path after the record or the resource. */
  readonly end?: string
  readonly method: Method
  /** Parameters without a value are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** Headers that are about the body, the response or the effect of the client's own request. The tool decides about them. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept', 'content-length', 'content-type', 'idempotency-key', 'if-match', 'if-none-match', 'range', 'transfer-encoding',
])

/**
 * Runs the whole pipeline: rate limits, credentials, permissions, row scope, plugins.
 * @throws 404 for an unknown resource, 405 for an operation that the resource has disabled, and every error of the route.
 */
export async function send(toolRequest: ToolRequest, routes: RoutesByMethod, call: ToolCall): Promise<ApiResponse> {
  const { api } = call
  const request = toApiRequest(toolRequest, call)
  const route = routes[toolRequest.method] as Route
  assertEnabled(routes, route, request, api)
  return await route(request, api)
}

function toApiRequest({ resource: name, id, end = '', method, query = {}, body, headers = {} }: ToolRequest, call: ToolCall): ApiRequest {
  const { request, api: { config } } = call
  const isDry = canWrite({ method }) && isDryRun(request)
  const resource = requireToolResource(call, name)
  const own: Readonly<Record<string, string | undefined>> = { 'accept': 'application/json', 'content-type': 'application/json', ...headers }
  const parameters = { ...query, ...isDry && { dryRun: 'true' } }
  const sent = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    ...request,
    method,
    path: `${config.prefix}/${name}${id === undefined ? '' : `/${idToPath(resource, String(id))}`}${end}`,
    resource: name,
    params: id === undefined ? {} : { id: String(id) },
    query: Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(sent)),
    header: (name) => {
      const key = name.toLowerCase()
      return OWN_HEADERS.has(key) ? own[key] : request.header(name)
    },
    body: async () => body,
    async* stream() {},
  }
}
