/** `verifyWebhook` in an app that receives webhooks, of this module or of any other sender of Standard Webhooks. */
import { createApp, createRouter, defineEventHandler, readRawBody, toWebHandler } from 'h3'
import { afterEach, describe, expect, it } from 'vitest'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook } from '../../../src/runtime/server/utils/verify-webhook'
import { openReceiver, openWebhooks } from './world'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const BODY = JSON.stringify({ type: 'posts.created', timestamp: '2026-01-01T00:00:00.000Z', data: { resource: 'posts', id: '1' } })

/** The headers that the library of Standard Webhooks signs. */
function sign({ body = BODY, secret = SECRET, age = 0, id = 'msg_1' } = {}): Record<string, string> {
  const time = new Date(Date.now() - age * 1000)
  return {
    'webhook-id': id, 'webhook-timestamp': String(Math.floor(time.getTime() / 1000)), 'webhook-signature': new Webhook(secret).sign(id, time, body),
  }
}

const codeOf = (request: Parameters<typeof verifyWebhook>[0], secret: string | readonly string[] = SECRET, options = {}) =>
  verifyWebhook(request, secret, options).then(() => 'verified', (error: { statusCode: number, data: { code: string } }) =>
    error.data ? `${error.statusCode} ${error.data.code}` : String(error))
const REFUSED = '401 INVALID_SIGNATURE'

let close: (() => Promise<unknown>) | undefined
afterEach(async () => {
  await close?.()
  close = undefined
})

describe('verifyWebhook', () => {
  it('returns the id and the payload of what this module sends', async () => {
    const receiver = await openReceiver()
    const world = await openWebhooks()
    close = () => Promise.all([receiver.close(), world.close()])
    const { secret } = await world.make(1, { url: receiver.url, events: ['posts.*'] })
    await world.server.request('POST', '/api/posts', { body: { title: 'héllo 🦊' }, caller: world.as(1) })
    await world.settled(rows => rows[0]?.status === 'delivered')
    const [{ headers, body, payload }] = receiver.received as [typeof receiver.received[number]]
    // The headers of Node, and those of the Fetch API.
    expect(await verifyWebhook({ headers, body }, secret)).toEqual({ id: headers['webhook-id'], payload })
    expect(await verifyWebhook({ headers: new Headers(headers as Record<string, string>), body }, secret)).toMatchObject({ payload })
    expect(payload.data.record).toMatchObject({ title: 'héllo 🦊' })
    expect(await codeOf({ headers, body: body.replace('fox', 'dog').replace('héllo', 'hello') }, secret)).toBe(REFUSED)
  })

  it('accepts one of several secrets, and one of several signatures', async () => {
    expect(await codeOf({ headers: sign(), body: BODY }, [OTHER, SECRET])).toBe('verified')
    const headers = sign()
    const both = `${sign({ secret: OTHER })['webhook-signature']} v2,abc ${headers['webhook-signature']}`
    expect(await codeOf({ headers: { ...headers, 'webhook-signature': both }, body: BODY })).toBe('verified')
    // A secret without its prefix is the same secret.
    expect(await codeOf({ headers, body: BODY }, SECRET.slice(6))).toBe('verified')
  })

  it.each<[what: string, headers: Record<string, string | string[] | undefined>, body?: string | undefined, secret?: string | string[]]>([
    ['another secret', sign({ secret: OTHER })],
    ['none of the secrets', sign(), BODY, [OTHER, OTHER]],
    ['no secret', sign(), BODY, []],
    ['another body', sign(), `${BODY} `],
    ['a truncated body', sign(), BODY.slice(0, -1)],
    ['no body', sign(), undefined],
    ['another id', { ...sign(), 'webhook-id': 'msg_2' }],
    ['another time', { ...sign(), 'webhook-timestamp': sign({ age: 5 })['webhook-timestamp'] }],
    ['a time too long ago', sign({ age: 400 })],
    ['a time in the future', sign({ age: -400 })],
    ['no id', { ...sign(), 'webhook-id': undefined }],
    ['no time', { ...sign(), 'webhook-timestamp': undefined }],
    ['no signature', { ...sign(), 'webhook-signature': undefined }],
    ['an empty signature', { ...sign(), 'webhook-signature': '' }],
    ['several signatures in a list', { ...sign(), 'webhook-signature': [sign()['webhook-signature']!] }],
    ['a truncated signature', { ...sign(), 'webhook-signature': sign()['webhook-signature']!.slice(0, -6) }],
    ['a signature of another version', { ...sign(), 'webhook-signature': sign()['webhook-signature']!.replace('v1', 'v2') }],
    ['a signature that is not base64', { ...sign(), 'webhook-signature': 'v1,***' }],
    ['a time that is no number', { ...sign(), 'webhook-timestamp': 'NaN' }],
    ['a time in another form', { ...sign(), 'webhook-timestamp': `+${sign()['webhook-timestamp']}` }],
    ['a time without end', { ...sign(), 'webhook-timestamp': 'Infinity' }],
  ])('refuses a request with %s', async (what, headers, body = BODY, secret = SECRET) => {
    expect(await codeOf({ headers, body: what === 'no body' ? undefined : body }, secret)).toBe(REFUSED)
  })

  it('refuses by one error, whatever is wrong, and says nothing of the secret', async () => {
    const errors = await Promise.all([sign({ secret: OTHER }), sign({ age: 900 }), {}].map(headers =>
      verifyWebhook({ headers, body: BODY }, SECRET).catch((error: Error) => `${error.message} ${JSON.stringify(error)}`)))
    expect(new Set(errors).size).toBe(1)
    expect(errors[0]).not.toContain(SECRET.slice(6, 20))
  })

  it('makes a handler of the app answer 401, which is no mistake of the app', async () => {
    const errors: { statusCode: number, unhandled?: boolean }[] = []
    const app = createApp({ onError: error => void errors.push(error) })
    app.use(createRouter().post('/hook', defineEventHandler(async event =>
      verifyWebhook({ headers: event.headers, body: await readRawBody(event) }, SECRET))))
    const post = async (headers: Record<string, string>) => {
      const response = await toWebHandler(app)(new Request('http://localhost/hook', { method: 'POST', headers, body: BODY }))
      return [response.status, (await response.json() as { data?: { code: string } }).data?.code]
    }
    expect(await post(sign())).toEqual([200, undefined])
    expect(await post(sign({ secret: OTHER }))).toEqual([401, 'INVALID_SIGNATURE'])
    expect(errors.map(({ statusCode, unhandled }) => [statusCode, unhandled])).toEqual([[401, false]])
  })

  it('has a tolerance that the app chooses', async () => {
    expect(await codeOf({ headers: sign({ age: 302 }), body: BODY }, SECRET, { tolerance: 600 })).toBe('verified')
    expect(await codeOf({ headers: sign({ age: 20 }), body: BODY }, SECRET, { tolerance: 10 })).toBe(REFUSED)
  })

  it('refuses a signed body that is not JSON as an invalid body', async () => {
    expect(await codeOf({ headers: sign({ body: 'text' }), body: 'text' })).toBe('400 INVALID_BODY')
  })

  it.each(['whsec_***', '', 'whsec_'])('fails for the secret %j, which is a mistake of the app', async (secret) => {
    expect(await codeOf({ headers: sign(), body: BODY }, secret)).toMatch(/^TypeError: .*secret of a webhook/)
  })

  it('looks at a limited number of signatures', async () => {
    const headers = sign()
    const many = `${'v1,AAAA '.repeat(50_000)}${headers['webhook-signature']}`
    expect(await codeOf({ headers: { ...headers, 'webhook-signature': many }, body: BODY })).toBe(REFUSED)
  })
})
