/**
 * Searches what an API sends, prints and stores for the secrets that the tests have made: no part of a secret, no encoding of it and no
 * hash of it can be found, except where it is issued.
 */
import { createHash } from 'node:crypto'

/** The forms of a token with the default prefix and of the secret of a webhook, for those that no test has made. */
const TOKEN = /aat_[0-9A-Za-z]{49}|whsec_[\w+/]{43}=/
/** The row of a token contains 8 characters of it. A part of this length contains more. */
const PART = 12

/** The texts by which each secret would be found. */
const traces = new Map<string, readonly string[]>()

/** @param secret at least as long as a part */
export function rememberSecret(secret: string): void {
  if (secret.length < PART || traces.has(secret)) return
  // The prefix of a token is no secret.
  const random = secret.replace(/^[a-z][a-z\d]{1,19}_(?=[0-9A-Za-z]{49}$|[\w+/]{43}=$)/, '')
  const parts = [0, Math.floor((random.length - PART) / 2), random.length - PART].map(start => random.slice(start, start + PART))
  const bytes = Buffer.from(secret)
  traces.set(secret, [
    ...new Set(parts), ...(['base64', 'base64url', 'hex'] as const).map(encoding => bytes.toString(encoding).replace(/=+$/, '')),
    createHash('sha256').update(secret).digest('hex'),
  ])
}

/** @throws When the text contains a secret that a test has made, a part of it, or any token. */
export function assertNoSecrets(text: string, where: string): void {
  if (TOKEN.test(text)) throw new Error(`${where} contains an API token or the secret of a webhook.`)
  for (const found of traces.values()) for (const trace of found) if (text.includes(trace)) throw new Error(`${where} contains a secret.`)
}

/**
 * Remembers the secrets that a response issues: in a record of a table of tokens or webhooks, or in several. Returns the response without
 * them.
 */
export function withoutIssued(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withoutIssued)
  if (typeof body !== 'object' || body === null) return body
  if ('token' in body && 'start' in body && typeof body.token === 'string') {
    rememberSecret(body.token)
    const { token: _, ...record } = body
    return record
  }
  if ('secret' in body && 'events' in body && typeof body.secret === 'string') {
    rememberSecret(body.secret)
    const { secret: _, ...record } = body
    return record
  }
  return 'data' in body && Array.isArray(body.data) ? { ...body, data: withoutIssued(body.data) } : body
}
