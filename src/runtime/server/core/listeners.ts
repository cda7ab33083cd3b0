/** Where plugins stand on the way of a request: before it is known who asks, around what comes after the gate, behind every commit. */
import type { Operation } from '../../shared/operations'
import type { AutoApiContext, AutoApiPlatform } from '../registration'
import type { Change, CommitListener } from './changes'
import type { ApiResponse } from './response'

type PlatformEvent = AutoApiPlatform extends { event: infer Event } ? Event : unknown

/** A request of which nothing but itself is known yet. */
export interface IncomingRequest {
  readonly method: string
  /** The resource's name; empty for a request that belongs to none. */
  readonly resource: string
  /** What the request does: the first of `operations`. */
  readonly operation: Operation
  /** All that the request does: a list with `groupBy` is a read and an aggregate, a delete with `force` a purge and a delete. */
  readonly operations: readonly Operation[]
  readonly query: Readonly<Record<string, string | string[]>>
  readonly header: (name: string) => string | undefined
  /** The client's address, in one spelling; never what the client itself may have written. */
  readonly address: () => string | undefined
  /** Sets a header of the answer, refusals included. */
  readonly setHeader: (name: string, value: string) => void
  readonly event: PlatformEvent
}

/** May refuse by throwing: nothing has been read or asked yet. */
export type RequestListener = (request: IncomingRequest) => unknown
/** May refuse by throwing: who asks is known, what they may do has not been asked. */
export type CallerListener = (ctx: AutoApiContext, request: IncomingRequest) => unknown
/** Answers in place of the request, or passes on what `next` answers. */
export type Around = (ctx: AutoApiContext, next: () => Promise<ApiResponse>) => ApiResponse | Promise<ApiResponse>
export interface Listeners {
  readonly onRequest: readonly RequestListener[]
  readonly onCaller: readonly CallerListener[]
  readonly around: readonly Around[]
  readonly onCommit: readonly CommitListener[]
}

/** The plugins in the order in which they are listed, the first one outermost. */
export function runAround({ around }: Listeners, ctx: AutoApiContext, answer: () => Promise<ApiResponse>): Promise<ApiResponse> {
  return around.reduceRight<() => Promise<ApiResponse>>((next, run) => async () => run(ctx, once(next)), answer)()
}

/** The commit stands, whatever a listener throws. */
export async function emitChanges({ onCommit }: Listeners, changes: readonly Change[], ctx: AutoApiContext): Promise<void> {
  if (changes.length === 0) return
  for (const listen of onCommit) {
    try {
      await listen(changes, ctx)
    }
    catch (error) {
      console.error('[auto-api] onCommit of a plugin threw after the commit.', error)
    }
  }
}

/** What a request does is done once, however often a plugin asks for it. */
function once<T>(run: () => T): () => T {
  let result: { readonly value: T } | undefined
  return () => (result ??= { value: run() }).value
}
