/** Calls on a resource for code that has a context: a hook, a handler, a plugin. */
import { callFor } from '../access/authorize'
import { primaryOf } from '../replicas/replica-engine'
import { requireSession, type Call } from '../request/session'
import type { AutoApiContext } from '../../registration'

/** The context of a hook or a handler. It leaves out `body` and `query`, because each endpoint has its own types for them. */
export type CallerContext = Omit<AutoApiContext, 'body' | 'query'>

/**
 * Creates a call on a resource for an operation. Code that has a context can write what it has checked, so it reads from the primary.
 * @throws When there is no such resource.
 */
export function callOn(ctx: Pick<CallerContext, 'operation' | 'event'>, name: string, operation = ctx.operation): Call {
  const call = replicaCallOn(ctx, name, operation)
  return { ...call, engine: primaryOf(call.engine) }
}

/** Like {@link callOn}, but it reads where the request reads, which can be a replica. */
export function replicaCallOn(ctx: Pick<CallerContext, 'event'>, name: string, operation: AutoApiContext['operation']): Call {
  const session = requireSession(ctx)
  const resource = session.api.resources.get(name)
  if (!resource) throw new Error(`[auto-api] There is no resource \`${name}\`.`)
  return callFor({ ...session, ctx: ctx as AutoApiContext }, resource, operation)
}
