/** An API request, independent of the HTTP server, and the parts of it that plugins receive. */
import type { Operation } from '../../../shared/operations'
import type { Engine } from '../../engines/engine'
import type { AutoApiUser } from '../../registration'
import type { IncomingRequest } from '../extensions/listeners'
import { addLogFields } from '../process/log'
import type { Replicas } from '../replicas/replicas'
import { assertHeader } from './header'

/** A request, independent of the HTTP server. */
export interface ApiRequest {
  readonly method: string
  /** The path as the client sent it, without the query. */
  readonly path: string
  /** The resource's name; empty for a request without a resource. */
  readonly resource: string
  /** Decoded path parameters. A parameter is `undefined` if its text is not valid percent-encoding. */
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, string | string[]>>
  /** Reads and parses the body, once. The media type is JSON, or one of `accepted`. @throws 400, 413 and 415. */
  readonly body: (accepted?: readonly string[]) => Promise<unknown>
  /** Reads the body as bytes, once. @throws 400, 413 and 415. */
  readonly stream: (accepted: readonly string[], maxSize: number) => AsyncIterable<Uint8Array>
  /** Returns a signal that aborts when the client leaves. */
  readonly signal: () => AbortSignal
  readonly header: (name: string) => string | undefined
  /** Returns the client's address, or `undefined` if there is none, as in the server's own requests. */
  readonly address: () => string | undefined
  /** Sets a header of the response. `set-cookie` adds one. */
  readonly setHeader: (name: string, value: string) => void
  readonly event: unknown
  readonly caller: {
    readonly user: AutoApiUser | null
    readonly permissions?: readonly string[]
    readonly tenantId?: unknown
  }
  /** Names of resources to which no relation leads in this request. Set by plugins that send requests. */
  readonly unreachable?: ReadonlySet<string>
  readonly engine: Engine
  readonly db: unknown
  /** The replicas that a request of a client can read from. Absent for other requests, and for those that can write. */
  readonly replicas?: Replicas | undefined
}

/** The parts of a request that plugins receive. */
export function toIncoming(request: ApiRequest, resource: string, operations: readonly Operation[]): IncomingRequest {
  const { method, query, header, address, setHeader, event } = request
  return {
    method,
    resource,
    operation: operations[0]!,
    operations,
    query,
    header,
    address,
    setHeader(name, value) {
      assertHeader(name, value, 'request.setHeader()')
      setHeader(name, value)
    },
    addLogFields: fields => addLogFields(event, fields),
    event: event as IncomingRequest['event'],
  }
}
