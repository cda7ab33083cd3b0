/** The stream of a browser: one request with all resources, which is sent again when it ends or the resources change. */
import { toAutoApiError, toProblem, type ApiProblem, type AutoApiError } from '../../../app/error'
import { readEvents } from './events'
import { isSame, NO_NEEDS, type Needs, type StreamMessage } from './messages'
import { delayAfter, isTransient, retryAfter, sleep, type Timing } from './timing'

export interface StreamSource {
  /** Sends the request. @throws AutoApiError */
  readonly connect: (resources: readonly string[], last: string | undefined, signal: AbortSignal) => Promise<Response>
  readonly deliver: (message: StreamMessage) => void
  /** The last event that an earlier leader has received. */
  readonly last: string | undefined
  readonly timing: Timing
}

export interface Stream {
  /** Opens the stream anew if the resources are others. */
  readonly want: (needs: Needs) => void
  /** Opens the stream anew with the credentials that the browser has now. */
  readonly reopen: (needs: Needs, options: { readonly resume: boolean }) => void
  readonly close: () => void
}

/** What follows after a stream has ended: a wait before the next one, one that becomes longer with each failure, or nothing. */
type Next = { readonly wait: number } | 'failed' | undefined

export function createStream({ connect, deliver, timing, ...source }: StreamSource): Stream {
  let { last } = source
  let wanted = NO_NEEDS
  /** Resources that the server refused. The stream does without them. */
  let refused = new Set<string>()
  let refusal: ApiProblem | undefined
  let failures = 0
  /** The session has ended: no stream opens before there is another one. */
  let hasEnded = false
  let run: AbortController | undefined

  const tell = (message: StreamMessage) => deliver({ ...message, last })
  const listed = () => [...wanted.own, ...wanted.related].filter(name => !refused.has(name)).sort()

  function start(): void {
    run?.abort()
    run = undefined
    if (listed().length === 0) return tell({ type: 'status', status: 'closed', error: refusal })
    run = new AbortController()
    void loop(run.signal)
  }

  async function loop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      tell({ type: 'status', status: 'connecting' })
      const next = await attempt(signal)
      if (signal.aborted || !next) return
      await sleep(next === 'failed' ? delayAfter(failures++, timing) : next.wait, signal)
    }
  }

  async function attempt(signal: AbortSignal): Promise<Next> {
    const resources = listed()
    if (resources.length === 0) return stop(refusal)
    const began = Date.now()
    const attempt = new AbortController()
    const abort = () => attempt.abort()
    signal.addEventListener('abort', abort)
    let timer: ReturnType<typeof setTimeout> | undefined
    const heard = () => {
      clearTimeout(timer)
      timer = setTimeout(abort, timing.silence)
    }
    try {
      heard()
      return await follow(await connect(resources, last, attempt.signal), resources, heard, attempt.signal)
    }
    catch (error) {
      return signal.aborted ? undefined : afterError(toAutoApiError(error), resources)
    }
    finally {
      // A server that accepts each stream and drops it again is failing too.
      if (Date.now() - began > timing.maxDelay) failures = 0
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      abort()
    }
  }

  async function follow(response: Response, resources: readonly string[], heard: () => void, signal: AbortSignal): Promise<Next> {
    const resumed = last !== undefined
    let isOpen = false
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return stop(NO_STREAM)
    for await (const { event = 'message', data, id, retry } of readEvents(response.body, heard, signal)) {
      // A newer stream has taken over, or nothing was heard for too long.
      if (signal.aborted) break
      // What the stream resumes comes after `open`, in order. Before it has come, it would be missed by the next stream.
      if (id !== undefined && (event === 'open' ? !resumed : isOpen)) last = id
      const body = JSON.parse(data) as { resource: string, id: string, reason: string, interval: number }
      switch (event) {
        case 'open':
          isOpen = true
          tell({ type: 'open', resources, resumed })
          tell({ type: 'status', status: 'open', error: refusal })
          break
        case 'changed':
        case 'gone':
          tell({ type: 'signal', event, resource: body.resource, id: String(body.id) })
          break
        case 'reset':
          tell({ type: 'reset' })
          break
        case 'poll':
          tell({ type: 'poll', interval: body.interval })
          tell({ type: 'status', status: 'polling', error: refusal })
          return undefined
        case 'end':
          if (body.reason === 'unauthorized') return stop(UNAUTHORIZED)
          return retry === undefined ? 'failed' : { wait: retry }
      }
    }
    return 'failed'
  }

  async function afterError(error: AutoApiError, resources: readonly string[]): Promise<Next> {
    if (isTransient(error)) {
      const wait = retryAfter(error)
      return wait === undefined ? 'failed' : { wait }
    }
    if (!isRefusal(error)) return stop(toProblem(error))
    const dropped = await findRefused(error, resources)
    // The page can use the other resources.
    refused = new Set([...refused, ...dropped])
    if (dropped.some(name => wanted.own.includes(name))) refusal = toProblem(error)
    if (dropped.length === resources.length) return stop(toProblem(error))
    return dropped.length > 0 ? { wait: 0 } : 'failed'
  }

  /** The error names the resources, or those of includes are left out, or each is tried alone. */
  async function findRefused({ fields }: AutoApiError, resources: readonly string[]): Promise<readonly string[]> {
    const named = resources.filter(name => fields.includes(name))
    if (named.length > 0) return named
    const related = resources.filter(name => wanted.related.includes(name))
    if (related.length > 0 || resources.length === 1) return related.length > 0 ? related : resources
    const allowed = await Promise.all(resources.map(isAllowed))
    return resources.filter((_, index) => !allowed[index])
  }

  async function isAllowed(resource: string): Promise<boolean> {
    const request = new AbortController()
    try {
      await connect([resource], undefined, request.signal)
      return true
    }
    catch (error) {
      return !isRefusal(toAutoApiError(error))
    }
    finally {
      request.abort()
    }
  }

  function stop(error: ApiProblem | undefined): undefined {
    hasEnded = error?.status === 401
    tell({ type: 'status', status: 'closed', error })
  }

  return {
    want(needs) {
      if (isSame(needs, wanted)) return
      wanted = needs
      if (!hasEnded) start()
    },
    reopen(needs, { resume }) {
      wanted = needs
      if (!resume) last = undefined
      refused = new Set()
      refusal = undefined
      failures = 0
      hasEnded = false
      start()
    },
    close: () => run?.abort(),
  }
}

const isRefusal = ({ status }: AutoApiError) => status === 400 || status === 403

const problem = (status: number, code: string, message: string): ApiProblem =>
  ({ status, code, message, issues: [], fields: [], errors: [] })

const NO_STREAM = problem(200, 'UNEXPECTED', 'The response of `_live` is no event stream. Is the plugin `live` in the list of plugins?')
const UNAUTHORIZED = problem(401, 'UNAUTHENTICATED', 'The session has ended.')
