/** Encrypts text and bytes that only servers of this app decrypt. It uses AES-GCM with a key that is derived from the app's secret. */
import type { Secrets } from './secret'

const IV_LENGTH = 12
/** Text is padded to a multiple of this many bytes, so that the length of the ciphertext reveals less. */
const BLOCK = 64
const SPACE = 0x20

const keys = new Map<string, Promise<CryptoKey>>()

/** @param purpose Each purpose has an independent key. */
function keyFor(secret: string, purpose: string): Promise<CryptoKey> {
  const name = `${purpose}\0${secret}`
  let key = keys.get(name)
  if (!key) keys.set(name, key = deriveKey(secret, purpose))
  return key
}

async function deriveKey(secret: string, purpose: string): Promise<CryptoKey> {
  const encode = (text: string) => new TextEncoder().encode(text)
  const base = await crypto.subtle.importKey('raw', encode(secret), 'HKDF', false, ['deriveKey'])
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: encode('nuxt-auto-api'), info: encode(purpose) },
    base,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  )
}

/** @returns base64url */
export async function encrypt(secrets: Secrets, purpose: string, text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text)
  const padded = new Uint8Array(Math.ceil(bytes.length / BLOCK) * BLOCK).fill(SPACE)
  padded.set(bytes)
  return globalThis.Buffer.from(await encryptBytes(secrets, purpose, padded)).toString('base64url')
}

/** Returns `undefined` if {@link encrypt} did not create the text with one of these secrets and this purpose. */
export async function decrypt(secrets: Secrets, purpose: string, text: string): Promise<string | undefined> {
  const bytes = Uint8Array.from(globalThis.Buffer.from(text, 'base64url'))
  if (globalThis.Buffer.from(bytes).toString('base64url') !== text) return undefined
  const decrypted = await decryptBytes(secrets, purpose, bytes)
  return decrypted && new TextDecoder().decode(decrypted).trimEnd()
}

/** Encrypts with the current secret. Does not hide the number of bytes. */
export async function encryptBytes([secret]: Secrets, purpose: string, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_LENGTH))
  const encrypted = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await keyFor(secret, purpose), bytes)
  return globalThis.Buffer.concat([iv, new Uint8Array(encrypted)])
}

/** Returns `undefined` if {@link encryptBytes} did not create the bytes with one of these secrets and this purpose. */
export async function decryptBytes(
  secrets: Secrets, purpose: string, bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array | undefined> {
  const [iv, encrypted] = [bytes.subarray(0, IV_LENGTH), bytes.subarray(IV_LENGTH)]
  for (const secret of secrets) {
    try {
      return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await keyFor(secret, purpose), encrypted))
    }
    catch {
      // Another secret, or other bytes.
    }
  }
  return undefined
}
