/** An API request, the session of its caller, and the call: a session on one resource. */
import type { Operation } from '../../../shared/operations'
import type { Engine } from '../../engines/engine'
import type { AutoApiContext, AutoApiUser } from '../../registration'
import type { Resource } from '../../schema/model'
import type { Api } from '../api'
import { createAttached } from '../process/attached'
import type { Writable } from '../extensions/extensions'
import { assertHeader } from './header'
import type { IncomingRequest } from '../extensions/listeners'
import { addLogFields } from '../process/log'
import { isDryRun } from './prefer'
import { primaryOf } from '../replicas/read-engine'
import type { Replicas } from '../replicas/replicas'

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
  readonly engine: Engine
  readonly db: unknown
  /** The replicas that a request of a client can read from. Absent for other requests, and for those that can write. */
  readonly replicas?: Replicas | undefined
}

/** The caller of one request. A request without a resource has a session and no call. */
export interface Session {
  readonly api: Api
  readonly ctx: AutoApiContext
  readonly engine: Engine
  /** Results that are computed once per request, by key: permissions, contexts of other operations, readable fields. */
  readonly memo: Map<string, unknown>
}

/** A session on a resource: one request in the pipeline. */
export interface Call extends Session {
  readonly resource: Resource
}

/** The session of each context. Hooks and handlers receive only the context, and they pass it back to the API. */
const sessions = createAttached<Session>('session')

/** The key of the property that every context has besides those of its type. */
export const SESSION = sessions.key

/** Creates a session, which {@link requireSession} finds by its context. */
export function createSession(api: Api, ctx: AutoApiContext, engine: Engine): Session {
  const session: Session = { api, ctx, engine, memo: new Map() }
  sessions.set(ctx, session)
  return session
}

export function createContext(
  request: Pick<ApiRequest, 'caller' | 'event' | 'params' | 'query' | 'db' | 'method' | 'header'>, resource: string, operation: Operation,
): Writable<AutoApiContext> {
  const { user, permissions } = request.caller
  return {
    user,
    permissions: toPermissions(permissions ?? user?.permissions),
    tenant: undefined,
    event: request.event as AutoApiContext['event'],
    resource,
    operation,
    params: request.params as Record<string, string>,
    query: request.query,
    dryRun: isDryRun(request),
    body: undefined,
    db: request.db,
  }
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

/** Finds the session of a context, or of an object that inherits from one. @throws When the API did not create the context. */
export function requireSession(ctx: object): Session {
  for (let current: object | null = ctx; current; current = Object.getPrototypeOf(current) as object | null) {
    const session = sessions.get(current)
    if (session) return session
  }
  throw new TypeError('[auto-api] This object is not a context of the API. Pass the `ctx` that a hook or a handler receives.')
}

/** Creates a call for the server's own work. This call has no HTTP request and no caller. */
export function createSystemCall(api: Api, resource: Resource, operation: Operation, engine: Engine, db: unknown): Call {
  const request: ApiRequest = {
    method: 'GET',
    path: '',
    resource: resource.name,
    params: {},
    query: {},
    header: () => undefined,
    address: () => undefined,
    setHeader: () => {},
    body: async () => undefined,
    async* stream() {},
    signal: () => new AbortController().signal,
    event: undefined,
    caller: { user: null },
    engine,
    db,
  }
  const ctx = createContext(request, resource.name, operation)
  const call: Call = { api, ctx, resource, engine, memo: new Map() }
  sessions.set(ctx, call)
  return call
}

/**
 * Creates a call of the session on a resource. `ctx` is the context for that resource. Code of a request that reads can write too: the call
 * of the write then reads from the primary.
 */
export function forResource({ api, engine, memo }: Session, resource: Resource, ctx: AutoApiContext): Call {
  return { api, ctx, resource, engine: isRead(ctx.operation) ? engine : primaryOf(engine), memo }
}

/** Whether the operation changes nothing. */
export const isRead = (operation: Operation) => operation === 'read' || operation === 'aggregate'

/** Returns the strings of a list of permissions. Any other value is no permission. */
export function toPermissions(permissions: unknown): readonly string[] {
  return Array.isArray(permissions) ? permissions.filter(permission => typeof permission === 'string') : []
}

export function isTenantId(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isFinite(value))
}
