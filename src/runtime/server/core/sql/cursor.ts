/** Opaque cursors: the driver's own values, so that no digit of a bigint or a microsecond is lost. */
import type { Resource } from '../../schema/model'
import { decrypt, encrypt } from '../encryption'
import { invalidCursor } from '../error'
import { orderKey, type Order } from './keyset'

/** Cursors of another version are refused. */
const VERSION = 1
/** Two checksums of 32 bits, seven digits each. */
const CHECKSUM_LENGTH = 14

/** The cursor of a row. @param values driver values, one per field of the order. */
export function createCursor(resource: Resource, order: readonly Order[], values: readonly unknown[]): string {
  const payload = toPayload(resource, order, values)
  return toBase64(checksum(payload) + payload)
}

const toPayload = (resource: Resource, order: readonly Order[], values: readonly unknown[]) =>
  JSON.stringify([VERSION, resource.name, orderKey(order), values.map(toJson)])

/** As {@link createCursor}, for an order with a field the caller cannot read: clients can neither read its values nor forge one. */
export function encryptCursor(secret: string, resource: Resource, order: readonly Order[], values: readonly unknown[]): Promise<string> {
  return encrypt(secret, PURPOSE, toPayload(resource, order, values))
}

/** The values of an encrypted cursor. @throws `INVALID_CURSOR`, also when it is not encrypted. */
export async function decryptCursor(
  secret: string,
  cursor: string,
  resource: Resource,
  order: readonly Order[],
): Promise<readonly unknown[]> {
  const payload = await decrypt(secret, PURPOSE, cursor)
  if (payload === undefined) throw invalidCursor()
  return fromPayload(payload, resource, order)
}

const PURPOSE = 'cursor'

/** The values of a cursor. @throws `INVALID_CURSOR` when it is of another resource, version or order, edited or truncated. */
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
 * starts at another position in the same rows. Other orders are encrypted. Two FNV-1a hashes cost a fraction of a
 * cryptographic digest.
 */
function checksum(payload: string): string {
  let [first, second] = [0x811C9DC5, 0x01234567]
  for (let index = 0; index < payload.length; index++) {
    const code = payload.charCodeAt(index)
    first = Math.imul(first ^ code, 0x01000193)
    second = Math.imul(second ^ code, 0x5BD1E995)
    // Multiplication only moves bits up: the upper bits are mixed into the lower ones.
    second ^= second >>> 15
  }
  return [first, second].map(half => (half >>> 0).toString(36).padStart(7, '0')).join('')
}

interface Tagged { readonly bigint: string }

function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: String(value) } satisfies Tagged
  return value instanceof Date ? value.toISOString() : value
}

function fromJson(value: unknown, { field }: Order): unknown {
  if (value === null) return null
  try {
    const raw = typeof value === 'object' ? BigInt((value as Tagged).bigint) : value
    if (field.isDriverValue(raw)) return raw
  }
  catch {
    // Not a value of the column: the cursor is forged.
  }
  throw invalidCursor()
}

function toBase64(text: string): string {
  return globalThis.Buffer.from(text).toString('base64url')
}

function fromBase64(cursor: string): string {
  return globalThis.Buffer.from(cursor, 'base64url').toString()
}
