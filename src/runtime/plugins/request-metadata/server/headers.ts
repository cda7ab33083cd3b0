/** Reads the headers that identify a request. A client can send any text in them. */
import { createAttached } from '../../../server/kit/process'

type ReadHeader = (name: string) => string | undefined

const REQUEST_ID = /^[\w-]{8,128}$/

/** The id of each client request, by the context of its event. */
const ids = createAttached<string>('request id')

/**
 * Returns the id of a request: that of a trusted proxy, or a new UUID. All requests of a page that the server renders share the context.
 * @param trusted the headers of the client's request, if a trusted proxy sets them
 */
export function findRequestId(context: object, trusted: ReadHeader | undefined): string {
  let id = ids.get(context)
  if (id === undefined) {
    const sent = trusted?.('x-request-id') ?? ''
    ids.set(context, id = REQUEST_ID.test(sent) ? sent : globalThis.crypto.randomUUID())
  }
  return id
}

/** `version-traceId-parentId-flags` of the W3C recommendation "Trace Context". Version `ff` and an id of zeros are invalid. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/

export function findTraceId(header: ReadHeader): string | undefined {
  const sent = header('traceparent') ?? ''
  // Version 00 has exactly four parts.
  return sent.startsWith('00-') && sent.length !== 55 ? undefined : TRACEPARENT.exec(sent)?.[1]
}

const MAX_TEXT = 512

export function shortText(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text.slice(0, MAX_TEXT)
}
