/** The signatures of webhooks and the library of Standard Webhooks accept each other, and nothing else. */
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { isSigned, signWebhook } from '../../../src/runtime/shared/standard-webhooks'
import { verifyWebhook } from '../../../src/runtime/server/utils/verify-webhook'

const secrets = fc.uint8Array({ minLength: 1, maxLength: 64 }).map(bytes => `whsec_${Buffer.from(bytes).toString('base64')}`)
const ids = fc.stringMatching(/^msg_[\w-]{1,40}$/)
const bodies = fc.json({ stringUnit: 'binary' })
const messages = fc.record({ secret: secrets, id: ids, body: bodies })

const now = () => new Date()
const seconds = (time: Date) => String(Math.floor(time.getTime() / 1000))
const headersOf = (id: string, timestamp: string, signature: string) =>
  ({ 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature })
const sign = (secret: string, id: string, time: Date, body: string) => new Webhook(secret).sign(id, time, body)

/** Replaces one character by another one. */
const flip = (text: string, index: number) => {
  const at = index % text.length
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
}

describe('a signature', () => {
  it('of ours is right for the library, for any secret, id and body', async () => {
    await fc.assert(fc.asyncProperty(messages, async ({ secret, id, body }) => {
      const timestamp = seconds(now())
      const headers = headersOf(id, timestamp, await signWebhook(secret, { id, timestamp, body }))
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
    }))
  })

  it('of the library is right for us, and the payload is the body', async () => {
    await fc.assert(fc.asyncProperty(messages, async ({ secret, id, body }) => {
      const time = now()
      const headers = headersOf(id, seconds(time), sign(secret, id, time, body))
      expect(await verifyWebhook({ headers, body }, secret)).toEqual({ id, payload: JSON.parse(body) })
    }))
  })

  it('is wrong if one character of the id, the time, the body or the secret is another one', async () => {
    const parts = fc.constantFrom('id', 'timestamp', 'body', 'secret')
    await fc.assert(fc.asyncProperty(messages, parts, fc.nat(), async ({ secret, id, body }, part, index) => {
      const sent = { secret, id, timestamp: seconds(now()), body }
      const signature = await signWebhook(secret, sent)
      expect(await isSigned(secret, sent, signature)).toBe(true)
      // Digits of base64 at the end of a secret, beyond its bytes, have no meaning.
      const text = part === 'secret' ? Buffer.from(secret.slice(6), 'base64').toString('hex') : sent[part as 'id']
      const changed = part === 'secret'
        ? `whsec_${Buffer.from(text.startsWith('00') ? `01${text.slice(2)}` : `00${text.slice(2)}`, 'hex').toString('base64')}`
        : flip(text, index)
      const received = { ...sent, [part]: changed }
      expect(await isSigned(received.secret, received, signature)).toBe(false)
    }))
  })

  it('is wrong if one of its own characters is another one', async () => {
    await fc.assert(fc.asyncProperty(messages, fc.nat(), async ({ secret, id, body }, index) => {
      const message = { id, timestamp: seconds(now()), body }
      const signature = await signWebhook(secret, message)
      // The last of its characters has four bits, so others can have the same meaning. `=` is the padding.
      expect(await isSigned(secret, message, `v1,${flip(signature.slice(3, -2), index)}${signature.slice(-2)}`)).toBe(false)
    }))
  })

  it('is found among ten that spaces separate, and no version but v1 counts', async () => {
    const message = { id: 'msg_1', timestamp: seconds(now()), body: '{}' }
    const [secret, other] = ['whsec_c2VjcmV0', 'whsec_b3RoZXI='] as const
    const right = await signWebhook(secret, message)
    const wrong = await signWebhook(other, message)
    const among = (before: number) => isSigned(secret, message, [...Array.from({ length: before }, () => wrong), right].join(' '))
    expect([await among(0), await among(1), await among(9), await among(10)]).toEqual([true, true, true, false])
    for (const header of ['', ' ', 'v1', 'v1,', 'v1,!', right.replace('v1', 'v2'), right.slice(3), right.replace('v1', 'v1a')])
      expect(await isSigned(secret, message, header), header).toBe(false)
  })
})
