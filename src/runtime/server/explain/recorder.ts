/** Records what one request does, from the tracing channels. Only development and tests load this folder. */
import type { CredentialCaller } from '../core/extensions/credentials'
import type { Extensions } from '../core/extensions/extensions'
import { LOADED } from '../core/process/node-modules'
import { channelName, type AuthorizeMessage, type RequestMessage, type StatementMessage, type Step } from '../core/process/trace'
import type { AutoApiContext } from '../registration'

/** What a request has done so far. */
export interface Recording {
  /** The caller that replaces the one of the request. */
  readonly as?: CredentialCaller
  /** The context of the outermost request. Absent if it ended before its caller was known. */
  ctx?: AutoApiContext
  request?: RequestMessage
  readonly authorized: AuthorizeMessage[]
  readonly statements: StatementMessage[]
}

const running = LOADED.AsyncLocalStorage && new LOADED.AsyncLocalStorage<Recording>()

interface Recorded<T> {
  readonly result: T
  readonly recording: Recording
}

/** Runs a request and records it. @throws On a platform without `node:async_hooks` and `node:diagnostics_channel`. */
export async function record<T>(run: () => Promise<T>, as?: CredentialCaller): Promise<Recorded<T>> {
  if (!running || !LOADED.diagnostics) throw new Error('[auto-api] This platform cannot explain requests.')
  subscribe()
  const recording: Recording = { authorized: [], statements: [], ...as && { as } }
  return { result: await running.run(recording, run), recording }
}

/** Lets recordings find the caller of a request, and replace it. */
export function addRecorder({ addContextExtender, addCredentials }: Pick<Extensions, 'addContextExtender' | 'addCredentials'>): void {
  addCredentials({ plugin: 'explain', find: () => running?.getStore()?.as })
  addContextExtender((ctx) => {
    const recording = running?.getStore()
    if (recording) recording.ctx ??= ctx
  })
}

/** What each channel adds to the recording. */
const LISTENERS: Readonly<Partial<Record<Step, (message: object, recording: Recording) => void>>> = {
  request: (message, recording) => void (recording.request ??= message as RequestMessage),
  authorize: (message, { authorized }) => void authorized.push(message as AuthorizeMessage),
  statement: (message, { statements }) => void statements.push(message as StatementMessage),
}

let isSubscribed = false

/** The messages are complete later: their objects stay the same. */
function subscribe(): void {
  if (isSubscribed) return
  isSubscribed = true
  for (const [step, listen] of Object.entries(LISTENERS)) {
    LOADED.diagnostics!.subscribe(`tracing:${channelName(step as Step)}:start`, (message) => {
      const recording = running!.getStore()
      if (recording) listen(message as object, recording)
    })
  }
}
