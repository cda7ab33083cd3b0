/** The session of a caller, and the context that hooks and handlers receive. */
import type { Operation } from '../../../shared/operations'
import type { Engine } from '../../engines/engine'
import type { AutoApiContext } from '../../registration'
import type { Resource } from '../../schema/model'
import type { Api } from '../api'
import type { Writable } from '../extensions/extensions'
import { createAttached } from '../process/request-scoped'
import type { ApiRequest } from './api-request'
import { isDryRun } from './prefer'

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

const UNREACHABLE = Symbol('unreachable')

/** The resources to which no relation leads, also for contexts that inherit from that of the request. */
export const unreachableFrom = (ctx: AutoApiContext) => (ctx as { readonly [UNREACHABLE]?: ReadonlySet<string> })[UNREACHABLE]

type ContextSource = Pick<ApiRequest, 'caller' | 'event' | 'params' | 'query' | 'db' | 'method' | 'header' | 'unreachable'>

export function createContext(request: ContextSource, resource: string, operation: Operation): Writable<AutoApiContext> {
  const { unreachable, caller: { user, permissions } } = request
  return {
    ...unreachable && { [UNREACHABLE]: unreachable },
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

/** Finds the session of a context, or of an object that inherits from one. @throws When the API did not create the context. */
export function requireSession(ctx: object): Session {
  for (let current: object | null = ctx; current; current = Object.getPrototypeOf(current) as object | null) {
    const session = sessions.get(current)
    if (session) return session
  }
  throw new TypeError('[auto-api] This object is not a context of the API. Pass the `ctx` that a hook or a handler receives.')
}

/** Returns the strings of a list of permissions. Any other value is no permission. */
export function toPermissions(permissions: unknown): readonly string[] {
  return Array.isArray(permissions) ? permissions.filter(permission => typeof permission === 'string') : []
}

export function isTenantId(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isFinite(value))
}
