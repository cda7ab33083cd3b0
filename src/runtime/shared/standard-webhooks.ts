/** The signature of Standard Webhooks: HMAC-SHA256 over the id, the time and the body. See https://www.standardwebhooks.com. */

/** What a signature covers. */
export interface SignedMessage {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: string
  readonly body: string
}

/** Before a secret, which is base64. */
const PREFIX = 'whsec_'

const encoder = new TextEncoder()

/** @throws TypeError for a secret that is not base64. */
async function importKey(secret: string): Promise<CryptoKey> {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = Uint8Array.from(atob(text), character => character.charCodeAt(0))
  }
  catch {
    throw new TypeError('[auto-api] The secret of a webhook is base64, after `whsec_`.')
  }
  if (bytes.length === 0) throw new TypeError('[auto-api] The secret of a webhook is empty.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

const signedBytes = ({ id, timestamp, body }: SignedMessage) => encoder.encode(`${id}.${timestamp}.${body}`)

/** Returns `v1,` and the signature as base64. */
export async function signWebhook(secret: string, message: SignedMessage): Promise<string> {
  const signature = await crypto.subtle.sign('HMAC', await importKey(secret), signedBytes(message))
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`
}

/** Whether one of the signatures of the header, which spaces separate, is right. It compares in constant time. */
export async function isSigned(secret: string, message: SignedMessage, header: string): Promise<boolean> {
  const key = await importKey(secret)
  for (const signature of header.split(' ').slice(0, MAX_SIGNATURES)) {
    const [version, text = ''] = signature.split(',', 2)
    const bytes = version === 'v1' ? fromBase64(text) : undefined
    if (bytes && await crypto.subtle.verify('HMAC', key, bytes, signedBytes(message))) return true
  }
  return false
}

/** The signatures of one header that are checked. */
const MAX_SIGNATURES = 10

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), character => character.charCodeAt(0))
  }
  catch {
    return undefined
  }
}
