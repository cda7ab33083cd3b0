/** Opaque places in an order: the driver's own values, so that no digit of a bigint or a microsecond is lost. */
import type { Resource } from '../../schema/model'
import { decrypt, encrypt } from '../encryption'
import { invalidCursor } from '../error'
import { orderKey, type Order } from './keyset'

/** Cursors of another version are refused: what they mean has changed. */
const VERSION = 1
/** Two checksums of 32 bits, seven digits each. */
const SEAL_LENGTH = 14

/** The cursor that stands on a row. @param values driver values, one per field of the order. */
export function createCursor(resource: Resource, order: readonly Order[], values: readonly unknown[]): string {
  const payload = toPayload(resource, order, values)
  return toBase64(seal(payload) + payload)
}

const toPayload = (resource: Resource, order: readonly Order[], values: readonly unknown[]) =>
  JSON.stringify([VERSION, resource.name, orderKey(order), values.map(toJson)])

/** As {@link createCursor}, for an order that holds a field the caller cannot read: nobody can read its values or make one. */
export function encryptCursor(secret: string, resource: Resource, order: readonly Order[], values: readonly unknown[]): Promise<string> {
  return encrypt(secret, PURPOSE, toPayload(resource, order, values))
}

/** The values of an encrypted cursor. @throws `INVALID_CURSOR`, for one that is not encrypted as well. */
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

/** The values a cursor stands on. @throws `INVALID_CURSOR` when it is foreign, old, edited, cut, or of another order. */
export function readCursor(cursor: string, resource: Resource, order: readonly Order[]): readonly unknown[] {
  const text = fromBase64(cursor)
  const payload = text.slice(SEAL_LENGTH)
  if (toBase64(text) !== cursor || text.slice(0, SEAL_LENGTH) !== seal(payload)) throw invalidCursor()
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
 * Tells an edited cursor from one of ours. Not a secret: the caller can read every field of the order, so the worst a forged one
 * does is to start elsewhere in the same rows. Other orders are encrypted.
 * So a checksum (FNV-1a, twice) does, at a fraction of what a cryptographic digest costs each page.
 */
function seal(payload: string): string {
  let [first, second] = [0x811C9DC5, 0x01234567]
  for (let place = 0; place < payload.length; place++) {
    const code = payload.charCodeAt(place)
    first = Math.imul(first ^ code, 0x01000193)
    second = Math.imul(second ^ code, 0x5BD1E995)
    // What is multiplied only moves up: the upper bits are brought down again.
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
    // Not a value of the column: forged.
  }
  throw invalidCursor()
}

function toBase64(text: string): string {
  return globalThis.Buffer.from(text).toString('base64url')
}

function fromBase64(cursor: string): string {
  return globalThis.Buffer.from(cursor, 'base64url').toString()
}
