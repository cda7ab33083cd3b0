/** Sends the requests of all composables. On the server, each request has the headers of the page's request. */
import { stringify, toQuery, toRequest, UnaddressableError, type RouteParams } from '../shared/query'
import type { RouteName } from '../shared/routes'
import { AutoApiError, toAutoApiError } from './error'
import { isComposite } from './keys'
import { prefix, useRequestFetch } from './nuxt'
import { addResponse } from './responses'
import { setTag } from './tags'

export { toQuery }

/** A request to a generated route. */
export interface ApiCall {
  readonly route: RouteName
  readonly resource?: string
  readonly id?: string | number
  readonly relation?: string
  readonly query?: object
  readonly body?: unknown
  /** A plugin's route below the path: its method and its last segment. */
  readonly below?: readonly [method: string, segment: string]
  /** The tag that the record must have. */
  readonly ifMatch?: string
  /** The key with which the server recognizes a retry. */
  readonly idempotencyKey?: string
}

export interface Client {
  /** @throws AutoApiError */
  readonly call: (call: ApiCall, signal?: AbortSignal) => Promise<unknown>
  /** Returns the path of a record, with the prefix. @throws AutoApiError With status 404 if the id cannot be part of a path. */
  readonly pathOf: (call: Omit<ApiCall, 'query' | 'body'>) => string
  /** Returns a path below the prefix. */
  readonly pathBelow: (path: string) => string
  /** Requests any path of the app. @throws AutoApiError */
  readonly send: (
    method: string, path: string, query?: object, body?: unknown, signal?: AbortSignal, options?: RequestOptions,
  ) => Promise<unknown>
  /**
   * Requests a file of a resource, or a stream, whose body is read as it arrives. `path` follows the resource.
   * @throws AutoApiError Its cause has the `response`, if there was one.
   */
  readonly open: (
    resource: string, path: string, query: object, signal: AbortSignal, headers?: Readonly<Record<string, string>>,
  ) => Promise<Response>
}

interface RequestOptions {
  readonly ifMatch?: string
  readonly idempotencyKey?: string
  /** Whether the body of the response is one record, which keeps its tag. */
  readonly isRecord?: boolean
}

interface Fetch {
  (path: string, options: object): Promise<unknown>
  readonly raw: (path: string, options: object) => Promise<Response>
}

/** The routes whose responses have the tag of a record. */
const RECORD_ROUTES: ReadonlySet<RouteName> = new Set(['get', 'create', 'update', 'restore'])

/** Creates the client. Call it in `setup`, because the headers of the page's request are available only there. */
export function useClient(): Client {
  const fetch = useRequestFetch() as unknown as Fetch
  const send: Client['send'] = async (method, path, query = {}, body, signal, { ifMatch, idempotencyKey, isRecord } = {}) => {
    try {
      let tag: string | null = null
      const response = await fetch(path, {
        method,
        query: toQuery(query),
        headers: {
          ...body !== undefined && { 'content-type': 'application/json' },
          ...ifMatch !== undefined && { 'if-match': ifMatch },
          ...idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey },
        },
        ...body !== undefined && { body: stringify(body) },
        ...isRecord && { onResponse: ({ response: { headers } }: { response: Response }) => void (tag = headers.get('etag')) },
        signal,
        // TanStack Query retries queries. A write is never retried, because the server could run it twice.
        retry: 0,
      })
      setTag(response, tag)
      if (import.meta.server) addResponse(response)
      return response
    }
    catch (error) {
      throw toAutoApiError(error)
    }
  }
  const request = ({ route, ...params }: Omit<ApiCall, 'query' | 'body'>) =>
    toPath(route, { ...params, composite: isComposite(params.resource ?? '') })
  return {
    send,
    pathOf: call => prefix + request(call).path,
    pathBelow: path => prefix + path,
    async call({ query, body, below, ifMatch, idempotencyKey, ...params }, signal) {
      const { method, path } = request(params)
      if (below) return send(below[0], `${prefix}${path}/${below[1]}`, query, body, signal)
      return send(method, prefix + path, query, body, signal, { ifMatch, idempotencyKey, isRecord: RECORD_ROUTES.has(params.route) })
    },
    async open(resource, path, query, signal, headers = {}) {
      try {
        const options = { query: toQuery(query), headers, signal, retry: 0, responseType: 'stream', ignoreResponseError: true }
        const response = await fetch.raw(`${prefix}/${resource}${path}`, options)
        if (response.ok) return response
        const data: unknown = await response.json().catch(() => undefined)
        throw Object.assign(new Error(response.statusText), { status: response.status, data, response })
      }
      catch (error) {
        throw toAutoApiError(error)
      }
    },
  }
}

/** @throws AutoApiError With status 404, as from the server, if the id cannot be part of a path. */
function toPath(route: RouteName, params: RouteParams): ReturnType<typeof toRequest> {
  try {
    return toRequest(route, params)
  }
  catch (error) {
    if (!(error instanceof UnaddressableError)) throw error
    throw new AutoApiError({ status: 404, code: 'NOT_FOUND', message: error.message, issues: [], fields: [], errors: [] }, { cause: error })
  }
}
