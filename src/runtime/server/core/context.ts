/** Who asks for what: the request as the core knows it, and the call that carries it through the pipeline. */
import type { AutoApiConfig } from '../../shared/config'
import type { Operation } from '../../shared/operations'
import type { Engine } from '../engines/engine'
import type { AutoApiContext, AutoApiUser, Tenant } from '../registration'
import type { TableGraph } from '../schema/graph'
import type { Resource } from '../schema/model'
import type { IncomingRequest, Listeners } from './listeners'
import type { StatementCache } from './sql/statement-cache'

/** The API: what is known before the first request, frozen. */
export interface Api {
  readonly config: AutoApiConfig
  readonly resources: ReadonlyMap<string, Resource>
  /** Every known table and what hangs on it. */
  readonly graph: TableGraph
  readonly statements: StatementCache
  readonly plugins: Listeners
  /** Path segments below a resource that plugins answer: no record can have them for an id. */
  readonly taken: ReadonlySet<string>
  /** What the server signs and encrypts with; `undefined` where the app has set no secret. */
  readonly secret?: (event?: unknown) => string | undefined
}

/** A request without a server around it. */
export interface ApiRequest {
  readonly method: string
  /** The resource's name; empty for a request that belongs to none. */
  readonly resource: string
  /** Path parameters, decoded; `undefined` where the text is not valid percent-encoding. */
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, string | string[]>>
  /** Reads and parses the body, once. @throws 400 and 415. */
  readonly body: () => Promise<unknown>
  readonly header: (name: string) => string | undefined
  /** The client's address; `undefined` where there is none, as for the server's own requests. */
  readonly address: () => string | undefined
  /** Sets a header of the answer. */
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

/** One request on its way through the pipeline. */
export interface Call {
  readonly api: Api
  readonly ctx: AutoApiContext
  readonly resource: Resource
  readonly engine: Engine
  /** Answers already found in this request, by resource and question: a permission is asked once. */
  readonly memo: Map<string, unknown>
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Adds to the context of every request what the app knows of it: the caller, the tenant, keys of its own. */
export type ContextExtender = (ctx: Writable<AutoApiContext> & Record<string, unknown>) => unknown

const extenders: ContextExtender[] = []

export function addExtender(extender: ContextExtender): void {
  extenders.push(extender)
}

/**
 * Who asks: from the event's context, then from the extenders, in the order in which they were added.
 * @param operations all that the request does, where that is more than one operation
 * @throws What a plugin refuses the request with, before the gate is asked.
 */
export async function openContext(
  api: Api, request: ApiRequest, resource: string, operation: Operation, operations: readonly Operation[] = [operation],
): Promise<AutoApiContext> {
  const incoming = toIncoming(request, resource, operations)
  for (const listen of api.plugins.onRequest) await listen(incoming)
  const ctx = createContext(request, resource, operation)
  let given = false
  for (const extend of extenders) {
    const before = ctx.permissions
    await extend(ctx as Parameters<ContextExtender>[0])
    ctx.user ??= null
    // Permissions that an extender gives stand, an empty list too; without any they are those of the user there is now.
    given ||= ctx.permissions !== before
    ctx.permissions = toPermissions(given ? ctx.permissions : request.caller.permissions ?? ctx.user?.permissions)
  }
  ctx.tenant = firstTenant(api.config, ctx, request.caller.tenantId)
  for (const listen of api.plugins.onCaller) await listen(ctx, incoming)
  return ctx
}

function toIncoming(request: ApiRequest, resource: string, operations: readonly Operation[]): IncomingRequest {
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

export async function openCall(
  api: Api, resource: Resource, operations: readonly [Operation, ...Operation[]], request: ApiRequest,
): Promise<Call> {
  return toCall(api, await openContext(api, request, resource.name, operations[0], operations), resource, request.engine)
}

export function toCall(api: Api, ctx: AutoApiContext, resource: Resource, engine: Engine): Call {
  const call: Call = { api, ctx, resource, engine, memo: new Map() }
  calls.set(ctx, call)
  return call
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

/** The call behind a context that was handed out: custom code comes back with the context alone. */
const calls = new WeakMap<object, Call>()

/** @throws When the context is not one of ours. */
export function requireCall(ctx: object): Call {
  for (let own: object | null = ctx; own; own = Object.getPrototypeOf(own) as object | null) {
    const call = calls.get(own)
    if (call) return call
  }
  throw new TypeError('[auto-api] This is not a context of the API. Pass the `ctx` that a hook or a handler was given.')
}

/** The server's own work: no request, no caller. */
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
    event: undefined,
    caller: { user: null },
    engine,
    db,
  }
  return toCall(api, createContext(request, resource.name, operation), resource, engine)
}

/** The same request, as it is for another resource that it leads to. */
export function forResource(call: Call, resource: Resource, ctx: AutoApiContext): Call {
  return { ...call, resource, ctx }
}

function toPermissions(permissions: unknown): readonly string[] {
  return Array.isArray(permissions) ? permissions.filter(permission => typeof permission === 'string') : []
}

/** The first source that is defined wins; an empty string is none. The request's headers, query and body are no source. */
function firstTenant({ multiTenancy }: AutoApiConfig, ctx: AutoApiContext, tenantId: unknown): Tenant | undefined {
  if (ctx.tenant) return ctx.tenant
  const id = [tenantId, multiTenancy && ctx.user?.[multiTenancy.userTenantField]].find(isTenantId)
  return id === undefined ? undefined : { id }
}

export function isTenantId(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isFinite(value))
}
