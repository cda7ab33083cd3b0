/** Secrets and signatures in the form of Standard Webhooks: HMAC-SHA256 over the id, the time and the body. */
import { signWebhook } from '../../../shared/standard-webhooks'

const PREFIX = 'whsec_'
const BYTES = 32

/** A new secret: `whsec_` and 32 random bytes as base64. */
export function createSecret(): string {
  return PREFIX + btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(BYTES))))
}

/** The headers of a request. While a rotation has its grace period, the signatures of both secrets are sent. */
export async function signedHeaders(
  id: string, time: Date, body: string, secrets: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const timestamp = String(Math.floor(time.getTime() / 1000))
  const signatures = await Promise.all(secrets.map(secret => signWebhook(secret, { id, timestamp, body })))
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
