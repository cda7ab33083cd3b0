/** Opaque cursors. They contain driver values, so a bigint keeps all its digits and a timestamp its microseconds. */
import type { Resource } from '../../schema/model'
import { decrypt, encrypt } from '../encryption'
import { invalidCursor } from '../error'
import { orderKey, type Order } from './keyset'

/** Cursors of another version are refused. */
const VERSION = 1
/** A checksum consists of two 32-bit hashes, each written as seven base-36 digits. */
const CHECKSUM_LENGTH = 14

/** Creates the cursor of a row. @param values driver values, one per field of the order. */
export function createCursor(resource: Resource, order: readonly Order[], values: readonly unknown[]): string {
  const payload = toPayload(resource, order, values)
  return toBase64(checksum(payload) + payload)
}

const toPayload = (resource: Resource, order: readonly Order[], values: readonly unknown[]) =>
  JSON.stringify([VERSION, resource.name, orderKey(order), values.map(toJson)])

/** Encrypts a cursor whose order has a field that the caller cannot read. Clients can neither read its values nor forge a cursor. */
export function encryptCursor(secret: string, resource: Resource, order: readonly Order[], values: readonly unknown[]): Promise<string> {
  return encrypt(secret, PURPOSE, toPayload(resource, order, values))
}

/** Reads the values of an encrypted cursor. @throws `INVALID_CURSOR`, also if the cursor is not encrypted. */
export async function decryptCursor(
  secret: string,
  cursor: string,
  resource: Resource,
  order: readonly Order[],
): Promise<readonly unknown[]> {
  return fromPayload(await decrypt(secret, PURPOSE, cursor) ?? '', resource, order)
}

const PURPOSE = 'cursor'

/**
 * Reads the values of a cursor.
 * @throws `INVALID_CURSOR` if the cursor belongs to another resource, version or order, or if a client has edited or truncated it.
 */
export function readCursor(cursor: string, resource: Resource, order: readonly Order[]): readonly unknown[] {
  const text = fromBase64(cursor)
  const payload = text.slice(CHECKSUM_LENGTH)
  if (toBase64(text) !== cursor || text.slice(0, CHECKSUM_LENGTH) !== checksum(payload)) throw invalidCursor()
  return fromPayload(payload, resource, order)
}

function fromPayload(payload: string, resource: Resource, order: readonly Order[]): readonly unknown[] {
  const [version, name, key, values] = parse(payload)
  if (version !== VERSION || name !== resource.name || key !== orderKey(order) || !Array.isArray(values) || values.length !== order.length)
    throw invalidCursor()
  return values.map((value, index) => fromJson(value, order[index]!))
}

function parse(payload: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(payload)
    return Array.isArray(parts) ? parts : []
  }
  catch {
    return []
  }
}

/**
 * Detects edited cursors. The checksum is not secret: the caller can read every field of the order, so a forged cursor only
 * starts at another position in the same rows. If the caller cannot read a field, the cursor is encrypted instead. Two hashes
 * in the manner of FNV-1a cost a fraction of a cryptographic digest.
 */
function checksum(payload: string): string {
  let [first, second] = [0x811C9DC5, 0x01234567]
  for (let index = 0; index < payload.length; index++) {
    const code = payload.charCodeAt(index)
    first = Math.imul(first ^ code, 0x01000193)
    second = Math.imul(second ^ code, 0x5BD1E995)
    // A product never moves high bits to lower positions. This line mixes them into the lower bits.
    second ^= second >>> 15
  }
  return [first, second].map(half => (half >>> 0).toString(36).padStart(7, '0')).join('')
}

/** A bigint in JSON, which has no such type. */
interface JsonBigint { readonly bigint: string }

function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: String(value) } satisfies JsonBigint
  return value instanceof Date ? value.toISOString() : value
}

function fromJson(value: unknown, { field }: Order): unknown {
  if (value === null) return null
  try {
    const raw = typeof value === 'object' ? BigInt((value as JsonBigint).bigint) : value
    if (field.isDriverValue(raw)) return raw
  }
  catch {
    // The value does not fit the column, so the cursor is forged.
  }
  throw invalidCursor()
}

function toBase64(text: string): string {
  return globalThis.Buffer.from(text).toString('base64url')
}

function fromBase64(cursor: string): string {
  return globalThis.Buffer.from(cursor, 'base64url').toString()
}
