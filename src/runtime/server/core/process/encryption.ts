/** Encrypts text that only this server decrypts. It uses AES-GCM with a key that is derived from the app's secret. */

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
export async function encrypt(secret: string, purpose: string, text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text)
  const padded = new Uint8Array(Math.ceil(bytes.length / BLOCK) * BLOCK).fill(SPACE)
  padded.set(bytes)
  const iv = crypto.getRandomValues(new Uint8Array(IV_LENGTH))
  const encrypted = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await keyFor(secret, purpose), padded))
  return globalThis.Buffer.concat([iv, encrypted]).toString('base64url')
}

/** Returns `undefined` if {@link encrypt} did not create the text with this secret and this purpose. */
export async function decrypt(secret: string, purpose: string, text: string): Promise<string | undefined> {
  const bytes = Uint8Array.from(globalThis.Buffer.from(text, 'base64url'))
  if (globalThis.Buffer.from(bytes).toString('base64url') !== text) return undefined
  try {
    const decrypted = await crypto.subtle.decrypt(
      { name: 'AES-GCM', iv: bytes.subarray(0, IV_LENGTH) },
      await keyFor(secret, purpose),
      bytes.subarray(IV_LENGTH),
    )
    return new TextDecoder().decode(decrypted).trimEnd()
  }
  catch {
    return undefined
  }
}
