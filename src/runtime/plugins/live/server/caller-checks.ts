/** Resolves the callers of open streams again. The server sends their requests to itself, so middleware of the app finds the callers. */
import { randomBytes } from 'node:crypto'
import type { Api, Session } from '../../../server/kit/call'
import type { ApiRequest } from '../../../server/kit/request'
import type { ApiResponse } from '../../../server/kit/respond'
import type { Resource } from '../../../server/kit/rows'
import { runInSession, sendAgain } from '../../../server/kit/send'
import { identityOf } from './identity'
import { subscribe, type Subscription } from './scopes'

/** Why a stream ends. After `unauthorized`, the same caller need not connect again. */
export type Reason = 'closing' | 'expired' | 'unauthorized'

/** What decides whether a stream goes on. */
export interface Checked {
  readonly request: ApiRequest
  readonly api: Api
  readonly resources: readonly Resource[]
  /** Whose stream it is. Another caller of the same request must not continue it. */
  readonly identity: string
}

/** The callers that are resolved at the same time. */
const MAX_CHECKS = 20
/** Milliseconds after which a stream ends whose caller is still not resolved. */
const MAX_CHECK_TIME = 20_000
/** The header of a request that resolves the caller of a stream again. */
const TOKEN = 'x-auto-api-stream'

const isRefused = (status: unknown) => status === 401 || status === 403
const toReason = (error: unknown): Reason => isRefused((error as { readonly status?: unknown } | null)?.status) ? 'unauthorized' : 'closing'

export function createCallerChecks() {
  let running = 0
  /** What to do with the session of a caller who is resolved again. */
  const waiting = new Map<string, (session: Session) => Promise<void>>()

  /**
   * Returns why the stream ends. It goes on only for the same caller, with the permission to read every resource.
   * @param onFound receives what the caller can read now
   */
  async function check(stream: Checked, onFound: (subscriptions: readonly Subscription[]) => Promise<void>): Promise<Reason | undefined> {
    running++
    const late = timeLimit()
    const reason = await Promise.race([findCaller(stream, onFound).catch(toReason), late.reached])
    late.clear()
    running--
    return reason
  }

  async function findCaller(
    { request, api, resources, identity }: Checked, onFound: (subscriptions: readonly Subscription[]) => Promise<void>,
  ): Promise<Reason | undefined> {
    const token = randomBytes(16).toString('hex')
    let isSame = false
    waiting.set(token, async (session) => {
      isSame = identityOf(session.ctx) === identity
      if (isSame) await onFound(await subscribe(session, resources))
    })
    try {
      const response = await (sendAgain(request, { [TOKEN]: token }) ?? answer(token, request, api))
      if (isSame && response.status < 400) return undefined
      return isRefused(response.status) || response.status < 400 ? 'unauthorized' : 'closing'
    }
    finally {
      waiting.delete(token)
    }
  }

  /** Answers the request that resolves the caller of a stream again. Nobody else knows its token. */
  async function answer(token: string, request: ApiRequest, api: Api): Promise<ApiResponse> {
    const find = waiting.get(token)
    waiting.delete(token)
    return runInSession(request, api, async (session) => {
      await find?.(session)
      return { status: 204, body: null }
    })
  }

  return {
    check,
    isFull: () => running >= MAX_CHECKS,
    answerCheck: answer,
    /** Returns the token of a request that this server has sent to itself. */
    tokenOf(request: ApiRequest): string | undefined {
      const token = request.header(TOKEN)
      return token !== undefined && waiting.has(token) ? token : undefined
    },
  }
}

/** Code of the app resolves callers. If it hangs, no stream may go on for a caller who has lost a permission. */
function timeLimit() {
  let timer: ReturnType<typeof setTimeout>
  const reached = new Promise<Reason>(resolve => timer = setTimeout(resolve, MAX_CHECK_TIME, 'closing' satisfies Reason))
  return { reached, clear: () => clearTimeout(timer) }
}
