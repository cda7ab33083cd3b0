/** The last requests of a development server, with their statements and the rule that decided. */
import type { RecordedRequest } from '../../shared/devtools'
import { LOADED } from '../core/process/node-modules'
import { channelName, type RequestMessage } from '../core/process/trace'
import { platformOf, type HttpEvent } from '../http/platform'
import { recordingOf, type Recording } from './recorder'

const MAX_REQUESTS = 200

interface Logged {
  readonly entry: RecordedRequest
  readonly event: HttpEvent | undefined
}

const requests: Logged[] = []
let count = 0

/** Newest first. */
export const loggedRequests = (): readonly RecordedRequest[] => requests.toReversed().map(({ entry, event }) => {
  // The header is set when the request has run.
  const cache = event && platformOf(event).getHeader(event, 'cache-status')
  return typeof cache === 'string' ? { ...entry, cache: cache.replace(/^auto-api; /, '') } : entry
})

export const clearRequests = (): void => void requests.splice(0)

/** Keeps the last requests, until the process ends. */
export function keepRequests(): void {
  const end = (message: unknown) => {
    const recording = recordingOf(message as object)
    // Requests of an explanation are not those of the app.
    if (!recording || recording.isExplained) return
    const event = recording.ctx?.event as HttpEvent | undefined
    requests.push({ entry: toEntry(message as RequestMessage, recording, event), event })
    if (requests.length > MAX_REQUESTS) requests.shift()
  }
  LOADED.diagnostics?.subscribe(`tracing:${channelName('request')}:asyncEnd`, end)
}

function toEntry(message: RequestMessage, { authorized, statements }: Recording, event: HttpEvent | undefined): RecordedRequest {
  const { method, resource = '', operation = '', route, status, code, duration = 0 } = message
  const refused = authorized.findLast(({ code }) => code !== undefined)
  return {
    id: ++count, at: Date.now() - duration, method, path: event ? platformOf(event).url(event) : '', resource, operation, duration,
    statements: statements.map(({ text, rows, duration = 0 }) => ({ text, duration, ...rows !== undefined && { rows } })),
    ...route !== undefined && { route }, ...status !== undefined && { status }, ...code !== undefined && { code },
    ...refused && { rule: `${refused.resource}: ${refused.operations.join(', ')}` },
  }
}
