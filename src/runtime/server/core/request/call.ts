/** A call: a session on one resource. */
import type { Operation } from '../../../shared/operations'
import type { Engine } from '../../engines/engine'
import type { AutoApiContext } from '../../registration'
import type { Resource } from '../../schema/model'
import type { Api } from '../api'
import { primaryOf } from '../replicas/replica-engine'
import type { ApiRequest } from './api-request'
import { createContext, createSession, type Call, type Session } from './session'

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
  return { ...createSession(api, ctx, engine), resource }
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
