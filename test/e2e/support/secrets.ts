/** No response and no log line of the e2e tests contains the secret of an API token, except the response that issues it. */

const TOKEN = /aat_[0-9A-Za-z]{49}/

/** @throws When the text contains a token. */
export function assertNoSecrets(text: string, where: string): void {
  if (TOKEN.test(text)) throw new Error(`${where} contains an API token.`)
}

/** The secret that a response issues, if it has the form of a created or rotated token. */
export function withoutIssued(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('token' in body) || !('start' in body)) return body
  const { token: _, ...record } = body as Record<string, unknown>
  return record
}
