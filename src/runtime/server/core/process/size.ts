/**
 * The size of values as JSON text, without making the text: the number of its characters, in which escapes count as the characters that
 * they stand for. So the limit of a response costs a few steps per value, and a response above it costs no text.
 */
import { isPlainObject } from '../../../shared/is-object'
import { limitExceeded } from '../error'

/** Characters of a number, a date or a boolean, with the comma after it. */
const SHORT = 8
/** Quotes, colon and comma of a property, or quotes and comma of a text. */
export const PUNCTUATION = 4

/** @param max the function stops counting above this size */
export function jsonSize(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length + PUNCTUATION
  if (typeof value !== 'object' || value === null) return SHORT
  // Bytes are sent as base64.
  if (value instanceof Uint8Array) return Math.ceil(value.byteLength * 4 / 3) + PUNCTUATION
  let size = PUNCTUATION
  if (Array.isArray(value)) {
    for (const item of value) if ((size += jsonSize(item, max - size)) > max) break
  }
  // Other objects are dates, or what no limit can know: responses and streams.
  else if (isPlainObject(value)) {
    for (const name in value) if ((size += name.length + PUNCTUATION + jsonSize(value[name], max - size)) > max) break
  }
  else size += SHORT
  return size
}

export const responseTooLarge = (max: number) =>
  limitExceeded(
    `The response would have more than ${max} bytes (\`http.maxResponseSize\`). Select fewer \`fields\`, or request fewer records.`,
  )
