/** The text of server-sent events. */

/** The events of a stream, in the order in which a client can receive them. */
export type EventName = 'open' | 'changed' | 'gone' | 'reset' | 'end' | 'poll'

/**
 * JSON contains no line breaks, so one `data` line is enough.
 * @param retry milliseconds after which the client connects again
 */
export const eventText = (event: EventName, data: object, retry?: number): string =>
  `${retry === undefined ? '' : `retry: ${retry}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

const encoder = new TextEncoder()

export function encode(text: string): Uint8Array {
  return encoder.encode(text)
}

/** @param id the value with which the client resumes after the event */
export const withId = (text: string, id: string): string => `id: ${id}\n${text}`

/** A line that clients ignore. It keeps proxies from closing the connection. */
export const HEARTBEAT = encode(':\n\n')
