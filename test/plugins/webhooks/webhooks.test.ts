/** What the receivers of webhooks get: every change that the owner can see, signed, in order, until it is answered. */
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openReceiver, openWebhooks, type Receiver, type WebhookWorld, type WorldOptions } from './world'

let world: WebhookWorld
let receiver: Receiver
const open = async (options?: WorldOptions) => void (world = await openWebhooks(options))

beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(async () => {
  await receiver.close()
  await world.close()
})

const write = (method: string, path: string, body?: unknown, user = 1) =>
  world.server.request(method, `/api${path}`, { body, caller: world.as(user) })
const types = () => receiver.received.map(({ payload }) => payload.type)

describe('an event', () => {
  it('has the record as the owner reads it, a type, a time and a signature that the library of Standard Webhooks verifies', async () => {
    await open()
    const { secret } = await world.make(1, { url: receiver.url, events: ['posts.created'] })
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/)
    const created = await write('POST', '/posts', { title: 'Hello', price: 3 })
    expect(created.status).toBe(201)
    await world.settled()
    const [{ headers, body, payload }] = receiver.received as [Receiver['received'][number]]
    const data = { resource: 'posts', id: '1', record: created.body as unknown }
    expect(payload).toEqual({ type: 'posts.created', timestamp: expect.stringMatching(/^\d{4}-.*Z$/) as string, data })
    expect(headers['content-type']).toBe('application/json')
    expect(headers['webhook-id']).toMatch(/^msg_/)
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(payload)
  })

  it('is sent for every kind of write, in the order of the writes', async () => {
    await open()
    await world.make(1, { url: receiver.url, events: ['posts.*'] })
    await write('POST', '/posts', { title: 'one' })
    await write('PATCH', '/posts/1', { title: 'two' })
    await write('DELETE', '/posts/1')
    await write('POST', '/posts/1/restore')
    await write('DELETE', '/posts/1')
    await write('DELETE', '/posts/1?force=true')
    await world.settled(rows => rows.length > 5 && rows.every(({ status }) => status === 'delivered'))
    expect(types()).toEqual(['created', 'updated', 'deleted', 'restored', 'deleted', 'purged'].map(name => `posts.${name}`))
    expect(receiver.received.at(-1)!.payload.data).toEqual({ resource: 'posts', id: '1' })
  })

  it('is not sent for a change that is rolled back, and not for one of another resource or kind', async () => {
    await open()
    await world.make(1, { url: receiver.url, events: ['posts.deleted'] })
    await write('POST', '/posts', { title: 'one' })
    await write('POST', '/posts?dryRun=true', { title: 'two' })
    await write('POST', '/notes', { body: 'n' })
    expect(await world.settled(() => true)).toEqual([])
  })
})

describe('what the owner cannot see', () => {
  it('is in no event: other organizations, rows of a filter, hidden and unreadable fields', async () => {
    await open()
    await world.make(2, { url: receiver.url, events: ['posts.*'] })
    await write('POST', '/posts', { title: 'theirs' }, 3)
    await write('POST', '/posts', { title: 'draft', status: 'draft', price: 1 })
    await write('PATCH', '/posts/2', { price: 2 })
    await write('POST', '/posts', { title: 'seen', price: 4 })
    await write('PATCH', '/posts/3', { price: 5 })
    await write('DELETE', '/posts/2')
    await world.settled(rows => rows.every(({ status }) => status === 'delivered'))
    expect(receiver.received.map(({ payload }) => [payload.type, payload.data.id])).toEqual([['posts.created', '3']])
    expect(Object.keys(receiver.received[0]!.payload.data.record as object)).not.toContain('price')
  })

  it('names a record that the owner could see before, without its values', async () => {
    await open()
    await world.make(2, { url: receiver.url, events: ['posts.*'] })
    await write('POST', '/posts', { title: 'seen' })
    await write('PATCH', '/posts/1', { status: 'draft' })
    await write('PATCH', '/posts/1', { title: 'unseen' })
    await world.settled(rows => rows.every(({ status }) => status === 'delivered'))
    expect(receiver.received.at(-1)!.payload).toMatchObject({ type: 'posts.updated', data: { resource: 'posts', id: '1' } })
    expect(receiver.received.at(-1)!.payload.data).not.toHaveProperty('record')
    expect(types().filter(type => type === 'posts.updated')).toHaveLength(1)
  })
})
