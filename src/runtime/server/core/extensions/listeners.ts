/**
 * The listeners of plugins. They run before the API resolves the caller, before authorization, around the rest of the request,
 * and after every commit.
 */
import { once } from '../../../shared/once'
import type { Operation } from '../../../shared/operations'
import type { AutoApiContext, AutoApiPlatform } from '../../registration'
import type { Change, CommitListener, CommitParticipant } from './changes'
import { logError } from '../process/log'
import type { ApiResponse } from './response'
import type { Watcher } from './watchers'
import { andThen, type Awaitable } from '../awaitable'

type PlatformEvent = AutoApiPlatform extends { event: infer Event } ? Event : unknown

/** A request below the prefix whose route is not known yet. The path or the method can be one that does not exist. */
export interface ArrivingRequest {
  readonly method: string
  readonly header: (name: string) => string | undefined
  /** Returns the client's address in its canonical form. The client itself cannot set this value. */
  readonly address: () => string | undefined
  /** Sets a header of the response, error responses included. */
  readonly setHeader: (name: string, value: string) => void
  /** Adds fields to every log line about the request: `[auto-api] requestId=… …`. */
  readonly addLogFields: (fields: Readonly<Record<string, string>>) => void
  readonly event: PlatformEvent
}

/** A request whose caller is not known yet. */
export interface IncomingRequest extends ArrivingRequest {
  /** The resource's name; empty for a request without a resource. */
  readonly resource: string
  /** The main operation: the first of `operations`. */
  readonly operation: Operation
  /** All operations of the request: a list with `groupBy` is a read and an aggregate, a delete with `force` a purge and a delete. */
  readonly operations: readonly Operation[]
  readonly query: Readonly<Record<string, string | string[]>>
}

/** Runs for every request below the prefix, before its route is known. */
export type ArrivalListener = (request: ArrivingRequest) => void
/** Runs before the API resolves the caller and parses the request. It can throw an error to refuse the request. */
export type RequestListener = (request: IncomingRequest) => unknown
/** Runs after the API has resolved the caller, before authorization. It can throw an error to refuse the request. */
export type CallerListener = (ctx: AutoApiContext, request: IncomingRequest) => unknown
/** The route that `around` wraps. */
export interface AroundInfo {
  /**
   * The name of a generated route, such as `list` or `bulk-update`. For a route of a plugin, its `name` or `plugin: METHOD /path`. For an
   * endpoint of the app, `endpoint: METHOD /path` with the path of the request.
   */
  readonly route: string
  /** Whether an endpoint, or a route of a plugin, declares that it supports `Idempotency-Key`. */
  readonly idempotent: boolean
  /** The parts of the request that a plugin can compare with those of another request. */
  readonly request: {
    readonly header: (name: string) => string | undefined
    /**
     * Reads and parses the body. The route then gets the same value. It is `undefined` for an endpoint, or a route of a plugin, without a
     * `body` schema, because its handler can read the body as bytes.
     * @throws 400, 413 and 415.
     */
    readonly body: () => Promise<unknown>
  }
}

/** Returns its own response, or the response of `next`. */
export type Around = (ctx: AutoApiContext, next: () => Promise<ApiResponse>, info: AroundInfo) => Awaitable<ApiResponse>

/** Returns the response to send: `response`, or a changed copy. */
export type ResponseListener = (ctx: AutoApiContext, response: ApiResponse, info: AroundInfo) => Awaitable<ApiResponse>

/** A plugin that takes part in commits. */
export interface Participant {
  /** The plugin's name, for error messages. */
  readonly name: string
  readonly run: CommitParticipant
  /** Whether it needs the changed rows as they are stored. */
  readonly images: boolean
}

/** What a plugin does when the server stops. */
export interface Stopping {
  /**
   * Runs when the process receives the signal to stop, while connections are open. The server waits for their requests, so this ends
   * those that would go on, such as streams. Without a signal, it runs when Nitro calls its hook `close`.
   */
  readonly begin?: () => void
  /** Runs when all requests and tasks have ended, before the hooks `close` of the app's server plugins. */
  readonly end?: () => Awaitable<void>
}

export interface Listeners {
  readonly onArrival: readonly ArrivalListener[]
  readonly onRequest: readonly RequestListener[]
  readonly onCaller: readonly CallerListener[]
  readonly around: readonly Around[]
  readonly onResponse: readonly ResponseListener[]
  readonly onCommit: readonly CommitListener[]
  readonly inCommit: readonly Participant[]
  readonly watch: readonly Watcher[]
  readonly onStop: readonly Stopping[]
}

/** Wraps `run` in the `around` of every plugin. The first plugin in the list is the outermost. A promise unless that one has returned. */
export function runAround(
  { around }: Listeners, ctx: AutoApiContext, info: AroundInfo, run: () => Promise<ApiResponse>,
): Awaitable<ApiResponse> {
  let next = run
  for (let index = around.length - 1; index > 0; index--) {
    const [wrap, inner] = [around[index]!, once(next)]
    next = async () => assertResponse(await wrap(ctx, inner, info))
  }
  const [outermost] = around
  if (!outermost) return next()
  const response = outermost(ctx, once(next), info)
  return andThen(response, assertResponse)
}

/** @throws When a plugin has returned something else. */
function assertResponse(response: unknown): ApiResponse {
  if (typeof response !== 'object' || response === null)
    throw new TypeError('[auto-api] `around` of a plugin returned no response. Return that of `next()`, or `{ status, body, headers? }`.')
  return response as ApiResponse
}

/** Runs the listeners of the response in the order of the plugins. */
export async function runOnResponse(
  { onResponse }: Listeners, ctx: AutoApiContext, info: AroundInfo, response: ApiResponse,
): Promise<ApiResponse> {
  let current = response
  for (const listen of onResponse) {
    const changed: unknown = await listen(ctx, current, info)
    if (typeof changed !== 'object' || changed === null)
      throw new TypeError('[auto-api] `onResponse` of a plugin returned no response. Return its second argument, or a changed copy of it.')
    current = changed as ApiResponse
  }
  return current
}

/** Reports the changes to the commit listeners. If a listener throws, the error is only logged: the commit stays. */
export async function emitChanges({ onCommit }: Listeners, changes: readonly Change[], ctx: AutoApiContext): Promise<void> {
  if (changes.length === 0) return
  for (const listen of onCommit) {
    try {
      await listen(changes, ctx)
    }
    catch (error) {
      logError(ctx, 'onCommit of a plugin threw after the commit.', error)
    }
  }
}
