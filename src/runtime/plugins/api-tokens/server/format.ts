/**
 * The format of a token: `aat_`, 43 characters of base62 (256 random bits) and 6 characters of base62 (the CRC32 of everything before).
 * The checksum refuses mistyped and invented tokens without a query, and secret scanners find tokens by their form.
 */
import { toHex } from '../../../shared/bytes'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_BYTES = 32
const RANDOM_LENGTH = 43
const CHECKSUM_LENGTH = 6

// The builds of Nuxt warn about literals such as `0n`.
const [ZERO, BASE, VALUES] = [BigInt(0), BigInt(62), BigInt(256)] as const

/** The number of characters of a token that its row contains, to recognize the token in a list. */
export const START_LENGTH = 8

export interface TokenFormat {
  readonly create: () => string
  /** Whether the text has the form of a token and the right checksum. */
  readonly isValid: (text: string) => boolean
  /** Whether the text begins like a token. */
  readonly isOwn: (text: string) => boolean
  /** Whether a token stands anywhere in the text. */
  readonly isIn: (text: string) => boolean
}

export function createTokenFormat(prefix: string): TokenFormat {
  const body = `${prefix}_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}`
  const whole = new RegExp(`^${body}$`)
  const anywhere = new RegExp(`(?<![0-9A-Za-z])${body}(?![0-9A-Za-z])`)
  return {
    create() {
      const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
      const start = `${prefix}_${toBase62(toNumber(random), RANDOM_LENGTH)}`
      return start + checksum(start)
    },
    isValid: text => whole.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH))),
    isOwn: text => text.startsWith(`${prefix}_`),
    isIn: text => anywhere.test(text),
  }
}

const toNumber = (bytes: Uint8Array) => bytes.reduce((number, byte) => number * VALUES + BigInt(byte), ZERO)

export function toBase62(number: bigint, length: number): string {
  let text = ''
  for (let rest = number; rest > ZERO; rest /= BASE) text = ALPHABET[Number(rest % BASE)]! + text
  return text.padStart(length, '0')
}

const checksum = (text: string) => toBase62(BigInt(crc32(text)), CHECKSUM_LENGTH)

/** The polynomial of CRC-32 (ISO-HDLC), with reversed bits. */
const POLYNOMIAL = 0xEDB88320

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1
  return value >>> 0
})

/** CRC-32 of ASCII text, as zip and PNG compute it. */
export function crc32(text: string): number {
  let value = 0xFFFFFFFF
  for (let index = 0; index < text.length; index++) value = TABLE[(value ^ text.charCodeAt(index)) & 0xFF]! ^ (value >>> 8)
  return (value ^ 0xFFFFFFFF) >>> 0
}

/** The SHA-256 of a token in hexadecimal digits, which do not depend on how a database compares letters. */
export async function hashToken(token: string): Promise<string> {
  return toHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
}
