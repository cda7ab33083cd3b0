/** An API request, the session of its caller, and the call: a session on one resource. */
import type { AutoApiConfig } from '../../shared/config'
import type { Operation } from '../../shared/operations'
import type { Engine } from '../engines/engine'
import type { AutoApiContext, AutoApiUser, Tenant } from '../registration'
import type { Resource } from '../schema/model'
import type { Api } from './api'
import type { ContextExtender, Writable } from './extensions'
import type { IncomingRequest } from './listeners'

/** A request, independent of the HTTP server. */
export interface ApiRequest {
  readonly method: string
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
  /** Sets a header of the response. */
  readonly setHeader: (name: string, value: string) => void
  readonly event: unknown
  readonly caller: {
    readonly user: AutoApiUser | null
    readonly permissions?: readonly string[]
    readonly tenantId?: unknown
  }
  readonly engine: Engine
  readonly db: unknown
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

/** Maps each context to its session. Hooks and handlers receive only the context, and they pass it back to the API. */
const sessions = new WeakMap<object, Session>()

/**
 * Opens the session of a request. The caller comes from the event's context. Then the extenders run, in the order in which they were added.
 * @param operations all operations of the request; the first one becomes `ctx.operation`
 * @throws The error with which a plugin refuses the request, before any authorization.
 */
export async function openSession(
  api: Api, request: ApiRequest, resource: string, operations: readonly [Operation, ...Operation[]],
): Promise<Session> {
  const ctx = await openContext(api, request, resource, operations)
  const session: Session = { api, ctx, engine: request.engine, memo: new Map() }
  sessions.set(ctx, session)
  return session
}

async function openContext(
  api: Api, request: ApiRequest, resource: string, operations: readonly [Operation, ...Operation[]],
): Promise<AutoApiContext> {
  const { onRequest, onCaller } = api.listeners
  const incoming = toIncoming(request, resource, operations)
  for (const listen of onRequest) await listen(incoming)
  const ctx = createContext(request, resource, operations[0])
  let setByExtender = false
  for (const extend of api.extenders) {
    const before = ctx.permissions
    await extend(ctx as Parameters<ContextExtender>[0])
    ctx.user ??= null
    // Permissions that an extender sets are kept, even an empty list. Otherwise the permissions of the current user apply.
    setByExtender ||= ctx.permissions !== before
    ctx.permissions = toPermissions(setByExtender ? ctx.permissions : request.caller.permissions ?? ctx.user?.permissions)
  }
  ctx.tenant = resolveTenant(api.config, ctx, request.caller.tenantId)
  for (const listen of onCaller) await listen(ctx, incoming)
  return ctx
}

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
    setHeader,
    event: event as IncomingRequest['event'],
  }
}

function createContext(request: ApiRequest, resource: string, operation: Operation): Writable<AutoApiContext> {
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
    body: undefined,
    db: request.db,
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

/** Creates a call of the session on a resource. `ctx` is the context for that resource. */
export function forResource({ api, engine, memo }: Session, resource: Resource, ctx: AutoApiContext): Call {
  return { api, ctx, resource, engine, memo }
}

function toPermissions(permissions: unknown): readonly string[] {
  return Array.isArray(permissions) ? permissions.filter(permission => typeof permission === 'string') : []
}

/** Uses the first source with a valid id; an empty string is not an id. The request's headers, query and body are never a source. */
function resolveTenant({ multiTenancy }: AutoApiConfig, ctx: AutoApiContext, tenantId: unknown): Tenant | undefined {
  if (ctx.tenant) return ctx.tenant
  const id = [tenantId, multiTenancy && ctx.user?.[multiTenancy.userTenantField]].find(isTenantId)
  return id === undefined ? undefined : { id }
}

export function isTenantId(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isFinite(value))
}
