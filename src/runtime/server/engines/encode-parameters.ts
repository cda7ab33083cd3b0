/** Encodes parameters for D1, which accepts a hundred per statement: more are sent as JSON arrays and extracted in SQL. */
import type { Statement } from './engine'

/** D1's limit per statement. */
export const MAX_PARAMETERS = 100

/** Quoted text, names and comments, where a question mark is no parameter; then a parameter. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g

/**
 * `… in (?, ?, …)` with too many values becomes `… in ((?1 ->> 0), (?1 ->> 1), …)`. The values are spread evenly over all
 * parameters, so that each array is short. A statement within the limit keeps its text.
 */
export function encodeParameters({ text, values }: Statement): Statement {
  if (values.length <= MAX_PARAMETERS) return { text, values: values.map(toBound) }
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

/** D1 accepts no bigint, and its proxy no Buffer that shares its memory. */
function toBound(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value)
  return typeof value === 'bigint' ? fromBigint(value) : value
}

function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return Array.from(value, byte => byte.toString(16).padStart(2, '0')).join('')
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'bigint' ? fromBigint(value) : value
}

/** Beyond a double it is sent as text, which SQLite compares with an integer column as a number. */
function fromBigint(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}
