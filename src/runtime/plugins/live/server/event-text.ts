/** The text of server-sent events. */

/** The events of a stream, in the order in which a client can receive them. */
export type EventName = 'open' | 'changed' | 'gone' | 'reset' | 'end' | 'poll'

export interface EventFields {
  /** The value with which the client resumes after this event. */
  readonly id?: string
  /** Milliseconds after which the client connects again. */
  readonly retry?: number
}

const encoder = new TextEncoder()

export const eventBytes = (event: EventName, data: object, fields?: EventFields): Uint8Array =>
  encoder.encode(eventText(event, data, fields))

/** JSON contains no line breaks, so one `data` line is enough. */
export function eventText(event: EventName, data: object, { id, retry }: EventFields = {}): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${retry === undefined ? '' : `retry: ${retry}\n`}event: ${event}\n`
    + `data: ${JSON.stringify(data)}\n\n`
}

/** A line that clients ignore. It keeps proxies from closing the connection. */
export const HEARTBEAT = encoder.encode(':\n\n')
