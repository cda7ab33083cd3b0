/** The one client: every request of every composable is made here, on the server with the headers of the page's request. */
import { stringify, toQuery, toRequest } from '../shared/query'
import type { RouteName } from '../shared/routes'
import { toAutoApiError } from './error'
import { prefix, resources, useRequestFetch } from './nuxt'

/** A request to a generated route. */
export interface ApiCall {
  readonly route: RouteName
  readonly resource?: string
  readonly id?: string | number
  readonly relation?: string
  readonly query?: object
  readonly body?: unknown
}

export interface Client {
  /** @throws AutoApiError */
  readonly call: (call: ApiCall, signal?: AbortSignal) => Promise<unknown>
  /** Any path of the app. @throws AutoApiError */
  readonly send: (method: string, path: string, query?: object, body?: unknown, signal?: AbortSignal) => Promise<unknown>
}

type Fetch = (path: string, options: object) => Promise<unknown>

/** To be called in `setup`: the request's headers are known there. */
export function useClient(): Client {
  const fetch = useRequestFetch() as unknown as Fetch
  const send: Client['send'] = async (method, path, query = {}, body, signal) => {
    try {
      return await fetch(path, {
        method,
        query: toQuery(query),
        ...body !== undefined && { body: stringify(body), headers: { 'content-type': 'application/json' } },
        signal,
        // Whether to try again is the query's to decide; a write is never sent twice.
        retry: 0,
      })
    }
    catch (error) {
      throw toAutoApiError(error)
    }
  }
  return {
    send,
    call({ route, query, body, ...params }, signal) {
      const composite = (resources[params.resource ?? '']?.key?.length ?? 1) > 1
      const { method, path } = toRequest(route, { ...params, composite })
      return send(method, prefix + path, query, body, signal)
    },
  }
}
