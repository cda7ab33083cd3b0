/** D1 takes a hundred parameters per statement, and no value its own way: what is more travels as JSON arrays, taken apart in SQL. */
import type { Statement } from './engine'

/** What D1 binds to one statement. */
export const MAX_PARAMETERS = 100

/** Quoted text, names and comments, where a question mark is none of ours; then the place of a parameter. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g

/**
 * `… in (?, ?, …)` with more values than fit: `… in ((?1 ->> 0), (?1 ->> 1), …)`, evenly over all the parameters there are,
 * so that each array is short. A statement that fits is left as it is.
 */
export function encodeParameters({ text, values }: Statement): Statement {
  if (values.length <= MAX_PARAMETERS) return { text, values: values.map(toBound) }
  const size = Math.ceil(values.length / MAX_PARAMETERS)
  const arrays = Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))
  let place = 0
  const packed = text.replace(TOKENS, (token) => {
    if (token !== '?') return token
    const item = `?${Math.floor(place / size) + 1} ->> ${place % size}`
    return values[place++] instanceof Uint8Array ? `unhex(${item})` : `(${item})`
  })
  return { text: packed, values: arrays.map(array => JSON.stringify(array.map(toJson))) }
}

/** D1 knows no bigint, and its proxy no Buffer that shares its memory with others. */
function toBound(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value)
  return typeof value === 'bigint' ? fromBigint(value) : value
}

function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return Array.from(value, byte => byte.toString(16).padStart(2, '0')).join('')
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'bigint' ? fromBigint(value) : value
}

/** Beyond what a double holds it goes as text, which SQLite compares with an integer column as a number. */
function fromBigint(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}
