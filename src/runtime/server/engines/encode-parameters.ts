/** Encodes parameters for D1, which accepts 100 per statement. Longer lists are sent as JSON arrays, and SQL extracts the values. */
import { toHex } from '../../shared/bytes'
import type { Statement } from './engine'

/** D1's limit per statement. */
export const MAX_PARAMETERS = 100

/** Matches parameters (`?`). It matches quoted text, names and comments first, because a question mark in them is not a parameter. */
export const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g

/**
 * Rewrites `… in (?, ?, …)` with too many values to `… in ((?1 ->> 0), (?1 ->> 1), …)`. It distributes the values evenly over
 * all parameters, so that each array is short. A statement within the limit keeps its text.
 */
export function encodeParameters({ text, values }: Statement): Statement {
  if (values.length <= MAX_PARAMETERS) return { text, values: values.map(toD1Value) }
  const size = Math.ceil(values.length / MAX_PARAMETERS)
  const arrays = Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))
  let position = 0
  const encoded = text.replace(TOKENS, (token) => {
    if (token !== '?') return token
    const item = `?${Math.floor(position / size) + 1} ->> ${position % size}`
    return values[position++] instanceof Uint8Array ? `unhex(${item})` : `(${item})`
  })
  return { text: encoded, values: arrays.map(array => JSON.stringify(array.map(toJson))) }
}

/** Converts `bigint`, which D1 does not accept. Copies bytes, because the D1 proxy does not accept a view of a larger buffer. */
function toD1Value(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value)
  return typeof value === 'bigint' ? fromBigint(value) : value
}

function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value)
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'bigint' ? fromBigint(value) : value
}

/** Converts an integer beyond 2^53 to text. SQLite compares this text with an integer column as a number. */
function fromBigint(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}
