/** An event for work outside of requests. It has nothing of a request but the bindings of the platform. */
import type { AutoApiContext } from '../registration'

interface Bound {
  readonly context?: { readonly cloudflare?: unknown }
  readonly req?: { readonly runtime?: unknown }
}

/** @param event the event of the request or of the task with which the work began */
export function bareEvent(event: unknown): AutoApiContext['event'] {
  const { context, req } = (event ?? {}) as Bound
  const url = 'http://localhost/'
  const headers = new Headers()
  return {
    method: 'GET', path: '/', headers, context: { ...context?.cloudflare !== undefined && { cloudflare: context.cloudflare } },
    req: { method: 'GET', url, headers, ...req?.runtime !== undefined && { runtime: req.runtime } },
  } as unknown as AutoApiContext['event']
}
