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
  readonly reopen: (options?: { readonly resume: boolean }) => void
  readonly close: () => void
}

/** What follows after a stream has ended: a wait before the next one, or nothing. */
type Next = { readonly wait: number } | undefined

export function createStream({ connect, deliver, timing, ...source }: StreamSource): Stream {
  let { last } = source
  let wanted = NO_NEEDS
  /** Resources that the server refused. The stream does without them. */
  let refused = new Set<string>()
  let refusal: ApiProblem | undefined
  let failures = 0
  let run: AbortController | undefined

  const tell = (message: StreamMessage) => deliver({ ...message, last })
  const listed = () => [...wanted.own, ...wanted.related].filter(name => !refused.has(name)).sort()

  function start(): void {
    run?.abort()
    run = undefined
    if (wanted.own.length === 0) return tell({ type: 'status', status: 'closed', error: refusal })
    run = new AbortController()
    void loop(run.signal)
  }

  async function loop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      tell({ type: 'status', status: 'connecting' })
      const next = await attempt(signal)
      if (signal.aborted || !next) return
      await sleep(next.wait, signal)
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
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return stop(NO_STREAM)
    for await (const { event = 'message', data, id, retry } of readEvents(response.body, heard, signal)) {
      // A newer stream has taken over, or nothing was heard for too long.
      if (signal.aborted) break
      if (id !== undefined) last = id
      const body = JSON.parse(data) as { resource: string, id: string, reason: string, interval: number }
      switch (event) {
        case 'open':
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
          return retry === undefined ? failed() : { wait: retry }
      }
    }
    return failed()
  }

  const failed = (): Next => ({ wait: delayAfter(failures++, timing) })

  function afterError(error: AutoApiError, resources: readonly string[]): Next {
    if (isTransient(error)) {
      const wait = retryAfter(error)
      return wait === undefined ? failed() : { wait }
    }
    if (error.status !== 400 && error.status !== 403) return stop(toProblem(error))
    // The pages of the caller can use the other resources.
    const named = resources.filter(name => error.fields.includes(name))
    const dropped = named.length > 0 ? named : resources.filter(name => wanted.related.includes(name))
    if (named.length > 0) refusal = toProblem(error)
    if (dropped.length === 0) return stop(toProblem(error))
    refused = new Set([...refused, ...dropped])
    return { wait: 0 }
  }

  function stop(error: ApiProblem | undefined): undefined {
    tell({ type: 'status', status: 'closed', error })
  }

  return {
    want(needs) {
      if (isSame(needs, wanted)) return
      wanted = needs
      start()
    },
    reopen({ resume } = { resume: true }) {
      if (!resume) last = undefined
      refused = new Set()
      refusal = undefined
      failures = 0
      start()
    },
    close: () => run?.abort(),
  }
}

const problem = (status: number, code: string, message: string): ApiProblem =>
  ({ status, code, message, issues: [], fields: [], errors: [] })

const NO_STREAM = problem(200, 'UNEXPECTED', 'The response of `_live` is no event stream. Is the plugin `live` in the list of plugins?')
const UNAUTHORIZED = problem(401, 'UNAUTHENTICATED', 'The session has ended.')
