/**
 * Tracing: what the API does, published on the tracing channels of `node:diagnostics_channel`: `auto-api.request`, `auto-api.authorize`,
 * `auto-api.statement`, `auto-api.hook` and `auto-api.commit`. A platform without that module has no channels.
 *
 * A message names resources, operations, numbers and SQL text. It contains no value of a row, of a request or of a statement.
 */
import type { TracingChannel } from 'node:diagnostics_channel'
import type { Observe } from '../../engines/observe'
import { always, andThen, attempt, type Awaitable } from '../awaitable'
import { LOADED } from './node-modules'

/** What every message has. */
interface Message {
  /** The resource of the request, or of the part of it. Empty for a request without a resource. */
  resource?: string
  operation?: string
  /** In milliseconds. Set at the end. */
  duration?: number
  /** The code of the error that ended it, such as `FORBIDDEN`. An error without a code is `INTERNAL_ERROR`. */
  code?: string
}

/** `auto-api.request`: from the opened session to the response. */
export interface RequestMessage extends Message {
  /** The method: `GET`. */
  readonly method: string
  /** The name of the route, such as `list`. Absent for an endpoint that is not idempotent. */
  readonly route?: string
  /** The status of the response. Set at the end, unless an error without a status ended the request. */
  status?: number
  /** The number of statements that the request has run, and the rows that they returned or changed. */
  statements: number
  rows: number
  /** The milliseconds of each kind of step, added up. Steps that ran at the same time count twice. */
  readonly times: Record<Exclude<Step, 'request'>, number>
}

/** `auto-api.authorize`: whether the caller can use a resource. `code` is set if not. */
export interface AuthorizeMessage extends Message {
  /** All operations that the caller needs, or of which one is enough. */
  readonly operations: readonly string[]
  /** The named gate of an endpoint, or of a route of a plugin. */
  readonly gate?: string
}

/** `auto-api.statement`: a statement, or the statements that a driver sends together. */
export interface StatementMessage extends Message {
  /** The SQL with placeholders. */
  readonly text: string
  /** The number of statements in `text`. */
  readonly statements: number
  /** The rows that it returned or changed. Set at the end. */
  rows?: number
}

/** `auto-api.hook`: a hook of a registration or of a plugin. */
export interface HookMessage extends Message {
  /** The name of the hook, such as `beforeCreate`. */
  readonly hook: string
}

/** `auto-api.commit`: one commit of all its statements, with its retries. */
export interface CommitMessage extends Message {
  /** The number of entries. An entry can create further statements. */
  readonly statements: number
  /** The rows that it returned or changed. Set at the end. */
  rows?: number
}

interface Messages {
  readonly request: RequestMessage
  readonly authorize: AuthorizeMessage
  readonly statement: StatementMessage
  readonly hook: HookMessage
  readonly commit: CommitMessage
}

export type Step = keyof Messages

const { diagnostics, AsyncLocalStorage } = LOADED

export const channelName = (step: Step): string => `auto-api.${step}`
const channelOf = (step: Step) => diagnostics?.tracingChannel(channelName(step))
const CHANNELS: Readonly<Record<Step, TracingChannel | undefined>> = {
  request: channelOf('request'),
  authorize: channelOf('authorize'),
  statement: channelOf('statement'),
  hook: channelOf('hook'),
  commit: channelOf('commit'),
}

/** The request that runs. */
const running = AsyncLocalStorage && new AsyncLocalStorage<RequestMessage>()

/** Whether a request was ever watched. Until then, no step looks for its request. */
let everWatched = false

const isSubscribed = (step: Step): boolean => CHANNELS[step]?.hasSubscribers === true

/** Whether requests are watched: somebody subscribes to a channel. Not a loop, which takes twenty times as long. */
export const isWatched = (): boolean =>
  isSubscribed('request') || isSubscribed('authorize') || isSubscribed('statement') || isSubscribed('hook') || isSubscribed('commit')

const findRequest = (): RequestMessage | undefined => everWatched ? running?.getStore() : undefined

/**
 * Whether a step is published, or counted for its request. Steps that run in every request ask before they make a function of their work.
 */
export const isTraced = (step: Step): boolean => isSubscribed(step) || findRequest() !== undefined

/** Runs a request. @param end receives the numbers of the request, also if it fails */
export function traceRequest<T>(
  message: Omit<RequestMessage, 'statements' | 'rows' | 'times'>, run: () => Promise<T>, end: (message: RequestMessage, value?: T) => void,
): Promise<T> {
  const outer = findRequest()
  const request: RequestMessage = { ...message, statements: 0, rows: 0, times: { authorize: 0, statement: 0, hook: 0, commit: 0 } }
  everWatched = true
  const finish = (value?: T) => {
    if (outer) addNumbers(outer, request)
    end(request, value)
  }
  const begin = () => publish('request', request, run, value => finish(value), () => finish())
  return Promise.resolve(running ? running.run(request, begin) : begin())
}

function addNumbers(outer: RequestMessage, { statements, rows, times }: RequestMessage): void {
  outer.statements += statements
  outer.rows += rows
  for (const step of Object.keys(times) as (keyof typeof times)[]) outer.times[step] += times[step]
}

/** Runs a step of a request. Without a subscriber and a watched request, it only runs the step. */
function trace<S extends Exclude<Step, 'request'>, T>(
  step: S, toMessage: () => Messages[S], run: () => Awaitable<T>, end?: (message: Messages[S], value: T) => void,
): Awaitable<T> {
  const request = findRequest()
  if (!request && !isSubscribed(step)) return run()
  const message = toMessage()
  if (request) {
    message.resource ??= request.resource
    message.operation ??= request.operation
  }
  return publish(step, message, run, value => end?.(message, value), () => {
    if (request) request.times[step] += message.duration!
  })
}

/**
 * Publishes the events of Node's tracing channels: `start` and `end` around the call, `asyncStart` and `asyncEnd` when its promise has
 * settled, and `error`.
 * @param done receives the result, before the last event
 * @param settle runs after that, also after an error
 */
function publish<T>(
  step: Step, message: Message, run: () => Awaitable<T>, done: (value: T) => void, settle: () => void,
): Awaitable<T> {
  const channel = CHANNELS[step]
  const began = performance.now()
  let isAsync = false
  const finish = () => {
    message.duration = performance.now() - began
    settle()
    if (!isAsync) return void channel?.end.publish(message)
    channel?.asyncStart.publish(message)
    channel?.asyncEnd.publish(message)
  }
  const succeed = (value: T) => {
    done(value)
    return value
  }
  const fail = (error: unknown): never => {
    // Code of the app can throw anything.
    const { data, status } = (error ?? {}) as { readonly data?: { readonly code?: unknown }, readonly status?: unknown }
    message.code = typeof data?.code === 'string' ? data.code : 'INTERNAL_ERROR'
    if (step === 'request' && typeof status === 'number') (message as RequestMessage).status = status
    channel?.error.publish(message)
    throw error
  }
  const call = () => {
    const result = always(() => andThen(attempt(run, fail), succeed), finish)
    isAsync = true
    if (message.duration === undefined) channel?.end.publish(message)
    return result
  }
  return channel?.start.hasSubscribers ? channel.start.runStores(message, call) : call()
}

/** Runs the authorization of a caller. */
export function traceAuthorize<T>(
  resource: string, operations: readonly string[], gate: string | undefined, run: () => Awaitable<T>,
): Awaitable<T> {
  return trace('authorize', () => ({ resource, operation: operations[0]!, operations, ...gate && { gate } }), run)
}

export function traceHook<T>(resource: string, operation: string, hook: string, run: () => Awaitable<T>): Awaitable<T> {
  return trace('hook', () => ({ resource, operation, hook }), run)
}

export function traceCommit<T extends readonly { readonly affectedRows: number }[]>(
  statements: number, run: () => Awaitable<T>,
): Awaitable<T> {
  return trace('commit', () => ({ statements }), run, (message, outcomes) => {
    message.rows = outcomes.reduce((sum, { affectedRows }) => sum + affectedRows, 0)
  })
}

/** Runs the statements that a driver sends together. */
export const traceStatement: Observe = (texts, run, rowsOf) => {
  const toMessage = () => {
    const all = texts()
    return { text: all.join(';\n'), statements: all.length }
  }
  return trace('statement', toMessage, run, (message, result) => {
    const rows = message.rows = rowsOf(result)
    const request = findRequest()
    if (!request) return
    request.statements += message.statements
    request.rows += rows
  })
}
