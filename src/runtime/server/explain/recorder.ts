/** Records what requests do, from the tracing channels. Only development and tests load this folder. */
import type { CredentialCaller } from '../core/extensions/credentials'
import type { Extensions } from '../core/extensions/extensions'
import { LOADED } from '../core/process/node-modules'
import { channelName, type AuthorizeMessage, type RequestMessage, type StatementMessage } from '../core/process/trace'
import type { AutoApiContext } from '../registration'

/** What a request has done so far. The messages in it are complete when the request has ended. */
export interface Recording {
  /** Whether somebody explains the request. */
  readonly isExplained: boolean
  /** The caller that replaces the one of the request. */
  readonly as?: CredentialCaller
  /** The context of the outermost request. Absent if it ended before its caller was known. */
  ctx?: AutoApiContext
  request?: RequestMessage
  readonly authorized: AuthorizeMessage[]
  readonly statements: StatementMessage[]
}

const running = LOADED.AsyncLocalStorage && new LOADED.AsyncLocalStorage<Recording>()
const recordings = new WeakMap<object, Recording>()

/** Finds the recording of a request by its message. */
export const recordingOf = (message: object): Recording | undefined => recordings.get(message)

const createRecording = (isExplained: boolean, as?: CredentialCaller): Recording =>
  ({ isExplained, authorized: [], statements: [], ...as && { as } })

interface Recorded<T> {
  readonly result: T
  readonly recording: Recording
}

/** Runs a request and records it. @throws On a platform without `node:async_hooks` and `node:diagnostics_channel`. */
export async function record<T>(run: () => Promise<T>, as?: CredentialCaller): Promise<Recorded<T>> {
  if (!running || !LOADED.diagnostics) throw new Error('[auto-api] This platform cannot explain requests.')
  startRecording()
  const recording = createRecording(true, as)
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

let isRecording = false

/** Records every request of this process from now on. */
export function startRecording(): void {
  if (isRecording || !running || !LOADED.diagnostics) return
  isRecording = true
  // A request inside of another one is part of it.
  LOADED.diagnostics.tracingChannel<Recording, RequestMessage>(channelName('request')).start.bindStore(running, (message) => {
    const recording = running.getStore() ?? createRecording(false)
    recording.request ??= message
    if (recording.request === message) recordings.set(message, recording)
    return recording
  })
  const listen = <Message extends object>(step: 'authorize' | 'statement', add: (recording: Recording, message: Message) => void) =>
    LOADED.diagnostics!.subscribe(`tracing:${channelName(step)}:start`, (message) => {
      const recording = running.getStore()
      if (recording) add(recording, message as Message)
    })
  listen<AuthorizeMessage>('authorize', ({ authorized }, message) => void authorized.push(message))
  listen<StatementMessage>('statement', ({ statements }, message) => void statements.push(message))
}
