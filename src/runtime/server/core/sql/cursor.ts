/**
 * Opaque cursors. They contain the driver values of a row, so a bigint keeps all its digits and a timestamp its microseconds: a checksum,
 * then each value as a letter for its type and its text, separated by `*`, such as `1kw2y1x0z9qe3cn95470*sSGFyYm91cg`.
 */
import type { Resource } from '../../schema/model'
import { decrypt, encrypt } from '../process/encryption'
import type { Secrets } from '../process/secret'
import { invalidCursor } from '../error'
import { orderKey, type SortedBy } from './keyset'

/** Cursors of another version are refused. */
const VERSION = 2
/** A checksum consists of two 32-bit hashes, each written as seven base-36 digits. */
const CHECKSUM_LENGTH = 14

/** Creates the cursor of a row. @param values driver values, one per field of the order. */
export function createCursor(resource: Resource, order: readonly SortedBy[], values: readonly unknown[]): string {
  const text = toText(values)
  return checksum(listOf(resource, order) + text) + text
}

/** The list that a cursor is for, with an end that no name contains. */
const listOf = ({ name }: Resource, order: readonly SortedBy[]) => `${VERSION} ${name} ${orderKey(order)}\0`

/** Encrypts a cursor whose order has a field that the caller cannot read. Clients can neither read its values nor forge a cursor. */
export function encryptCursor(
  secrets: Secrets, resource: Resource, order: readonly SortedBy[], values: readonly unknown[],
): Promise<string> {
  return encrypt(secrets, PURPOSE, listOf(resource, order) + toText(values))
}

/** Reads the values of an encrypted cursor. @throws `INVALID_CURSOR`, also if the cursor is not encrypted. */
export async function decryptCursor(
  secrets: Secrets,
  cursor: string,
  resource: Resource,
  order: readonly SortedBy[],
): Promise<readonly unknown[]> {
  const list = listOf(resource, order)
  const text = await decrypt(secrets, PURPOSE, cursor)
  if (!text?.startsWith(list)) throw invalidCursor()
  return fromText(text.slice(list.length), order)
}

const PURPOSE = 'cursor'

/**
 * Reads the values of a cursor.
 * @throws `INVALID_CURSOR` if the cursor belongs to another resource, version or order, or if a client has edited or truncated it.
 */
export function readCursor(cursor: string, resource: Resource, order: readonly SortedBy[]): readonly unknown[] {
  const text = cursor.slice(CHECKSUM_LENGTH)
  if (!cursor.startsWith(checksum(listOf(resource, order) + text))) throw invalidCursor()
  return fromText(text, order)
}

/**
 * Detects edited cursors. The checksum is not secret: the caller can read every field of the order, so a forged cursor only
 * starts at another position in the same rows. If the caller cannot read a field, the cursor is encrypted instead. Two hashes
 * in the manner of FNV-1a cost a fraction of a cryptographic digest.
 */
function checksum(payload: string): string {
  let first = 0x811C9DC5
  let second = 0x01234567
  for (let index = 0; index < payload.length; index++) {
    const code = payload.charCodeAt(index)
    first = Math.imul(first ^ code, 0x01000193)
    second = Math.imul(second ^ code, 0x5BD1E995)
    // A product never moves high bits to lower positions. This line mixes them into the lower bits.
    second ^= second >>> 15
  }
  return toDigits(first) + toDigits(second)
}

const toDigits = (hash: number) => (hash >>> 0).toString(36).padStart(7, '0')

/** Separates the values. It needs no encoding in a URL, and no value contains it. */
const SEPARATOR = '*'

/** The letter of a value's type, and the function that reads its text. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  n: Number,
  b: BigInt,
  s: text => globalThis.Buffer.from(text, 'base64url').toString(),
  x: text => globalThis.Buffer.from(text, 'base64url'),
  t: () => true,
  f: () => false,
  z: () => null,
}

const toText = (values: readonly unknown[]) => values.length === 1 ? write(values[0]) : values.map(write).join(SEPARATOR)

function write(value: unknown): string {
  // The number 1e+21 is the same without the sign, which is a space in a URL.
  if (typeof value === 'number') return `n${String(value).replace('+', '')}`
  if (value === null) return 'z'
  if (typeof value === 'bigint') return `b${value}`
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (typeof value === 'string') return `s${toBase64(value)}`
  if (value instanceof Date) return `s${toBase64(value.toISOString())}`
  if (ArrayBuffer.isView(value)) return `x${toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))}`
  if (value instanceof ArrayBuffer) return `x${toBase64(new Uint8Array(value))}`
  // No order has other values. The letter has no reader, so the cursor is refused.
  return 'o'
}

const toBase64 = (data: string | Uint8Array) => globalThis.Buffer.from(data as Uint8Array).toString('base64url')

function fromText(text: string, order: readonly SortedBy[]): readonly unknown[] {
  if (order.length === 1) return [read(text, order[0]!)]
  const values = text.split(SEPARATOR)
  if (values.length !== order.length) throw invalidCursor()
  return values.map((value, index) => read(value, order[index]!))
}

function read(text: string, { field }: SortedBy): unknown {
  try {
    const value = READERS[text[0]!]!(text.slice(1))
    if (value === null || field.isDriverValue(value)) return value
  }
  catch {
    // The type is unknown, or the value does not fit the column: the cursor is forged.
  }
  throw invalidCursor()
}
