/** Reads the key of a request, and identifies the request and its body. */
import { digest } from 'ohash'
import { invalidValue } from '../../../server/kit/errors'
import type { AutoApiContext } from '../../../server/kit/call'

const HEADER = 'Idempotency-Key'

/** 1 to 255 printable characters of ASCII, without quotes and backslashes unless the key is quoted. */
const BARE = /^[\x21\x23-\x5B\x5D-\x7E](?:[\x20\x21\x23-\x5B\x5D-\x7E]{0,253}[\x21\x23-\x5B\x5D-\x7E])?$/
/** An RFC 8941 string: `"` and `\` have a backslash before them. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5B\x5D-\x7E]|\\["\\])*)"$/

/** Returns the key of the header, or `undefined` without the header. @throws 400 for a header that is not one key. */
export function parseKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const key = BARE.test(text) ? text : QUOTED.exec(text)?.[1]!.replace(/\\(["\\])/g, '$1')
  if (key === undefined || key.length === 0 || key.length > 255)
    throw invalidValue(HEADER, 'send 1 to 255 printable characters, with or without quotes.')
  return key
}

/**
 * Identifies a request: the key within the tenant, the caller, the route, the path and the query. Another caller with the same key sends
 * another request.
 * @throws 400 for a caller without an id. Anonymous callers would share their keys, and see the responses of each other.
 */
export function requestId(key: string, route: string, { user, tenant, resource, params, query }: AutoApiContext): string {
  const id = user?.id
  if (typeof id !== 'string' && typeof id !== 'number')
    throw invalidValue(HEADER, 'only a signed-in caller can send this header. Send the request without it.')
  return digest(canonical([id, tenant?.id ?? null, route, resource, params, query, key]))
}

/** Identifies a body. Bodies that are equal as JSON have the same fingerprint: neither the order of keys nor spaces matter. */
export const fingerprint = (body: unknown): string => digest(canonical(body))

/** Writes JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) => typeof part === 'object' && part !== null && !Array.isArray(part)
    ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : Number(a > b)).map(([name, inner]) => [`.${name}`, inner]))
    : part)
}
