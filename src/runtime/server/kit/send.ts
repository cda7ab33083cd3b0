/** Sends requests to the routes of the API, in this process, as the caller of another request. */
import type { Method, PATHS } from '../../shared/routes'
import type { ServerApi } from '../api/create'
import type { Api } from '../core/api'
import { assertEnabled, type Route, type RoutesByMethod } from '../core/entries/route'
import { notFound } from '../core/error'
import type { ApiResponse } from '../core/extensions/response'
import { allowEveryone, handleRequest } from '../core/pipeline'
import type { ApiRequest } from '../core/request/api-request'
import { canWrite, isDryRun } from '../core/request/prefer'
import type { Session } from '../core/request/session'
import { platformOf, type HttpEvent } from '../http/platform'
import { idToPath } from '../schema/record-id'
import { methods as aggregate } from '../routes/aggregate'
import { methods as collection } from '../routes/collection'
import { methods as record } from '../routes/record'
import { methods as restore } from '../routes/restore'

export interface SentRequest {
  readonly method: Method
  readonly resource: string
  readonly id?: string | number
  /**
   * The path after the resource or the record, such as `/aggregate` or `/restore`. It can belong to a route of a plugin.
   * @default ''
   */
  readonly end?: string
  /** Parameters without a value are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  /** JSON */
  readonly body?: unknown
  /** Names in lower case. Headers about the body, the response and the effect are only these. Others are those of the request. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

const GENERATED: Readonly<Partial<Record<keyof typeof PATHS, RoutesByMethod>>> = {
  '/:resource': collection,
  '/:resource/aggregate': aggregate,
  '/:resource/:id': record,
  '/:resource/:id/restore': restore,
}

/** Headers that are about the body, the response or the effect of the client's own request. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept', 'content-length', 'content-type', 'idempotency-key', 'if-match', 'if-none-match', 'range', 'transfer-encoding',
])

/**
 * Runs the whole pipeline: rate limits, credentials, permissions, row scope, plugins. If `request` is a dry run, the sent one is one too.
 * @param request the request whose caller and headers the sent one has
 * @throws 404 for an unknown resource or path, 405 for a disabled operation, and every error of the route.
 */
export async function send(sent: SentRequest, request: ApiRequest, api: Api): Promise<ApiResponse> {
  const resource = api.resources.get(sent.resource)
  if (!resource) throw notFound()
  const { method, id, end = '' } = sent
  const below = `/${sent.resource}${id === undefined ? '' : `/${idToPath(resource, String(id))}`}${end}`
  const path = `/:resource${id === undefined ? '' : '/:id'}${end}`
  const routes = GENERATED[path as keyof typeof GENERATED] ?? (api as ServerApi).findPluginRoute(method, below, () => undefined)?.methods
  const route = routes?.[method] as Route | undefined
  if (!routes || !route) throw notFound()
  const own = toRequest(sent, `${api.config.prefix}${below}`, request)
  assertEnabled(routes, route, own, api)
  return await route(own, api)
}

function toRequest({ method, resource, id, query = {}, body, headers = {} }: SentRequest, path: string, request: ApiRequest): ApiRequest {
  const own: Readonly<Record<string, string | undefined>> = { 'accept': 'application/json', 'content-type': 'application/json', ...headers }
  const parameters = { ...query, ...canWrite({ method }) && isDryRun(request) && { dryRun: 'true' } }
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    ...request,
    method,
    path,
    resource,
    params: id === undefined ? {} : { id: String(id) },
    query: Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(given)),
    header: (name) => {
      const key = name.toLowerCase()
      return OWN_HEADERS.has(key) ? own[key] : request.header(name)
    },
    body: async () => body,
    async* stream() {},
  }
}

/**
 * Runs code for the caller of a request, without a route: with the rate limits and the cross-site rule of the API. The code must return
 * only data that the caller can access.
 */
export function runInSession(
  request: ApiRequest, api: Api, run: (session: Session) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  return handleRequest(api, request, undefined, { operations: ['read'], authorize: allowEveryone, run })
}

/**
 * Sends a request to this server again, so that middleware of the app finds its caller again. Returns `undefined` if the server cannot send
 * requests to itself.
 * @param request a request of a client
 * @param headers further headers
 */
export function sendAgain(request: ApiRequest, headers: Readonly<Record<string, string>>): Promise<Response> | undefined {
  const event = request.event as HttpEvent
  return platformOf(event).sendAgain?.(event, headers)
}
