/** What happens after an attempt fails: retries, dead deliveries, webhooks that are switched off, and the order of a record's events. */
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Webhook } from 'standardwebhooks'
import { openReceiver, openWebhooks, type Received, type Receiver, type WebhookWorld, type WorldOptions } from './world'

let world: WebhookWorld
const receivers: Receiver[] = []

const open = async (options: WorldOptions['options'] = {}) => void (world = await openWebhooks({ options: { retries: [1, 1], ...options } }))
async function receive(answer?: (response: ServerResponse, received: Received) => void): Promise<Receiver> {
  const receiver = await openReceiver(answer)
  receivers.push(receiver)
  return receiver
}
const answering = (status: number) => (response: ServerResponse) => void response.writeHead(status).end()

beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}))
afterEach(async () => {
  vi.restoreAllMocks()
  for (const { close } of receivers.splice(0)) await close()
  await world.close()
})

const write = (method: string, path: string, body?: unknown, user = 1) =>
  world.server.request(method, `/api${path}`, { body, caller: world.as(user) })
const makeFor = ({ url }: Receiver, events = ['posts.*'], user = 1) => world.make(user, { url, events })
const hookOf = (id: string) => world.client.prepare('select * from webhooks where id = ?').get(id) as Record<string, unknown>
const titles = ({ received }: Receiver) => received.map(({ payload }) => (payload.data.record as { title: string }).title)

describe('a delivery that fails', () => {
  it('is attempted again after each time of the schedule, give or take a fifth, and is dead after the last', async () => {
    const receiver = await receive(answering(500))
    await open({ retries: [100, 1000, 10_000] })
    await makeFor(receiver)
    await write('POST', '/posts', { title: 'one' })
    for (const [index, seconds] of [100, 1000, 10_000].entries()) {
      const [row] = await world.settled(rows => rows[0]?.attempts === index + 1 && rows[0].lease === null)
      expect(row).toMatchObject({ status: 'failed', response_status: 500, error: 'The receiver answered with the status 500.' })
      const delay = (Number(row!.due_at) - Date.now()) / 1000
      expect(delay).toBeGreaterThan(seconds * 0.8 - 5)
      expect(delay).toBeLessThan(seconds * 1.2)
      world.client.exec('update webhook_deliveries set due_at = 1')
      // A commit wakes the worker.
      await write('POST', '/notes', { body: 'x' })
      await write('POST', '/posts', { title: 'another' })
      world.client.exec('delete from webhook_deliveries where record_id <> \'1\'')
    }
    const [row] = await world.settled(rows => rows[0]?.status === 'dead')
    expect(row).toMatchObject({ attempts: 4, due_at: null, delivered_at: null })
  })

  it('varies the time of its retry, so that receivers are not asked at once', async () => {
    const receiver = await receive(answering(503))
    await open({ retries: [1000] })
    await makeFor(receiver)
    const items = Array.from({ length: 12 }, (_, index) => ({ title: `t${index}` }))
    await write('POST', '/posts/bulk', { items })
    const rows = await world.settled(rows => rows.length === 12 && rows.every(({ status }) => status === 'failed'))
    const times = rows.map(({ due_at }) => Number(due_at))
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(20_000)
  })

  it('has the same id and the current record in each attempt', async () => {
    let failures = 1
    const receiver = await receive(response => void response.writeHead(failures-- > 0 ? 500 : 204).end())
    await open()
    await makeFor(receiver, ['posts.created'])
    await write('POST', '/posts', { title: 'one' })
    await world.settled(rows => rows[0]?.status === 'failed')
    await write('PATCH', '/posts/1', { title: 'two' })
    await world.settled(rows => rows[0]?.status === 'delivered')
    expect(titles(receiver)).toEqual(['one', 'two'])
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(receiver.received.map(({ payload }) => payload.timestamp)).size).toBe(1)
  })
})

describe('a webhook', () => {
  it('is switched off after five dead deliveries in a row, says so, and sends nothing more', async () => {
    const receiver = await receive(answering(500))
    await open({ retries: [] })
    const { id } = await makeFor(receiver)
    for (let index = 0; index < 5; index++) {
      await write('POST', '/posts', { title: `t${index}` })
      await world.settled(rows => rows.length === index + 1 && rows.every(({ status }) => status === 'dead'))
      await vi.waitFor(() => expect(hookOf(id)).toMatchObject({ failures: index + 1 }))
    }
    await vi.waitFor(() => expect(hookOf(id)).toMatchObject({ active: 0, paused_reason: 'dead', failures: 5 }))
    await write('POST', '/posts', { title: 'later' })
    expect(await world.settled()).toHaveLength(5)
    expect(receiver.received).toHaveLength(5)
    expect(console.warn).toHaveBeenCalledWith(expect.stringMatching(new RegExp(`\`${id}\`.*5 deliveries in a row`)))
  })

  it('counts anew after a delivery that succeeds', async () => {
    const receiver = await receive((response, { payload }) => answering((payload.data.record as { price: number }).price)(response))
    await open({ retries: [] })
    const { id } = await makeFor(receiver)
    for (const [index, price] of [500, 500, 500, 500, 200, 500, 500, 500, 500].entries()) {
      await write('POST', '/posts', { title: 't', price })
      await world.settled(rows => rows.length === index + 1 && rows.every(({ status }) => status !== 'pending'))
    }
    await vi.waitFor(() => expect(hookOf(id)).toMatchObject({ active: 1, failures: 4 }))
  })

  it('is switched off at once by the status 410, with its delivery dead', async () => {
    const receiver = await receive(answering(410))
    await open()
    const { id } = await makeFor(receiver)
    await write('POST', '/posts', { title: 'one' })
    expect(await world.settled()).toMatchObject([{ status: 'dead', attempts: 1, response_status: 410 }])
    await vi.waitFor(() => expect(hookOf(id)).toMatchObject({ active: 0, paused_reason: 'gone' }))
  })

  it.each<[why: string, change: (users: WebhookWorld['users']) => void]>([
    ['gone or banned', users => void users.delete(2)],
    ['in another organization', users => void (users.get(2)!.organizationId = 2)],
    ['without the permission', users => void (users.get(2)!.permissions = ['webhooks'])],
  ])('is switched off when its owner is %s, keeps its events, and sends them when it is switched on again', async (_why, change) => {
    const receiver = await receive()
    await open()
    const { id } = await makeFor(receiver, ['posts.*'], 2)
    const before = structuredClone(world.users.get(2)!)
    change(world.users)
    await write('POST', '/posts', { title: 'one' })
    await vi.waitFor(() => expect(hookOf(id)).toMatchObject({ active: 0, paused_reason: 'revoked' }))
    expect(receiver.received).toEqual([])
    world.users.set(2, before)
    expect((await write('PATCH', `/webhooks/${id}`, { active: true }, 2)).status).toBe(200)
    await write('POST', '/posts', { title: 'two' })
    await world.settled(rows => rows.length === 2 && rows.every(({ status }) => status === 'delivered'))
    expect(titles(receiver).sort()).toEqual(['one', 'two'])
  })

  it('goes on without records when its owner is revoked, if the app wants it so', async () => {
    const receiver = await receive()
    await open({ onRevoked: 'omit' })
    const { id } = await makeFor(receiver, ['posts.*'], 2)
    world.users.get(2)!.permissions = ['webhooks']
    await write('POST', '/posts', { title: 'one' })
    await world.settled(rows => rows[0]?.status === 'delivered')
    expect(receiver.received[0]!.payload.data).toEqual({ resource: 'posts', id: '1' })
    expect(hookOf(id)).toMatchObject({ active: 1, paused_reason: null })
  })

  it('gets no place by a user whom `findUser` mistakes for another', async () => {
    const receiver = await receive()
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await open({ findUser: () => ({ id: 1, organizationId: 1, role: 'editor', permissions: ['posts'] }) })
    const { id } = await makeFor(receiver, ['posts.*'], 2)
    await write('POST', '/posts', { title: 'one', price: 1 })
    await vi.waitFor(() => expect(hookOf(id)).toMatchObject({ active: 0, paused_reason: 'revoked' }))
    expect([receiver.received, error.mock.calls.length > 0]).toEqual([[], true])
  })
})

describe('the order of the events of a record', () => {
  it('holds while one of them fails, and other records go on', async () => {
    let isBroken = true
    const receiver = await receive((response, { payload }) => answering(isBroken && payload.data.id === '1' ? 500 : 200)(response))
    await open({ retries: [1, 1, 1] })
    await makeFor(receiver)
    await write('POST', '/posts', { title: 'first' })
    await world.settled(rows => rows[0]?.status === 'failed')
    for (const title of ['second', 'third']) await write('PATCH', '/posts/1', { title })
    await write('POST', '/posts', { title: 'other' })
    await world.settled(rows => rows.at(-1)?.status === 'delivered')
    const ofFirst = () => receiver.received.filter(({ payload }) => payload.data.id === '1').map(({ payload }) => payload.type)
    expect(new Set(ofFirst())).toEqual(new Set(['posts.created']))
    isBroken = false
    await world.settled(rows => rows.every(({ status }) => status === 'delivered'))
    const sent = receiver.received.filter(({ payload }) => payload.data.id === '1')
    const firstTimes = [...new Map(sent.map(({ headers, payload }) => [headers['webhook-id'], payload.type])).values()]
    expect(firstTimes).toEqual(['posts.created', 'posts.updated', 'posts.updated'])
    expect(ofFirst().slice(-2)).toEqual(['posts.updated', 'posts.updated'])
  })

  it('goes on after an event is dead', async () => {
    const receiver = await receive((response, { payload }) => answering(payload.type === 'posts.created' ? 500 : 200)(response))
    await open({ retries: [] })
    await makeFor(receiver)
    await write('POST', '/posts', { title: 'first' })
    await write('PATCH', '/posts/1', { title: 'second' })
    expect((await world.settled(rows => rows.length === 2 && rows[1]!.status === 'delivered')).map(({ status }) => status))
      .toEqual(['dead', 'delivered'])
  })
})

describe('other webhooks', () => {
  it('get their events while a receiver never answers, and that one has at most four requests at a time', async () => {
    let waiting = 0
    const slow = await receive(() => void waiting++)
    const fast = await receive()
    await open({ timeout: 2, retries: [600] })
    await makeFor(slow)
    const items = Array.from({ length: 20 }, (_, index) => ({ title: `t${index}` }))
    await write('POST', '/posts/bulk', { items })
    await vi.waitFor(() => expect(waiting).toBe(4))
    await makeFor(fast, ['notes.*'])
    const before = performance.now()
    await write('POST', '/notes', { body: 'public' })
    await vi.waitFor(() => expect(fast.received).toHaveLength(1))
    expect(performance.now() - before).toBeLessThan(1500)
    expect(waiting).toBe(4)
  })

  it('get their events when one webhook is switched off or its row is broken', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const receiver = await receive()
    await open()
    const { id: broken } = await makeFor(receiver)
    await makeFor(receiver)
    world.client.prepare('update webhooks set secret = ? where id = ?').run('whsec_!', broken)
    await write('POST', '/posts', { title: 'one' })
    await world.settled(rows => rows.some(({ status }) => status === 'delivered'))
    expect(receiver.received).toHaveLength(1)
  })
})

describe('a rotation', () => {
  it('leaves the signatures of both secrets for the grace period, and of the new one afterwards', async () => {
    const receiver = await receive()
    await open()
    const { id, secret } = await makeFor(receiver)
    const { body: { secret: next } } = await write('POST', `/webhooks/${id}/rotate`)
    const verify = async () => {
      await write('POST', `/webhooks/${id}/test`)
      const { body, headers } = receiver.received.at(-1)!
      return [secret, next].map((one: string) => {
        try {
          return Boolean(new Webhook(one).verify(body, headers as Record<string, string>))
        }
        catch {
          return false
        }
      })
    }
    expect(await verify()).toEqual([true, true])
    world.client.prepare('update webhooks set previous_until = ?').run(Date.now() - 1)
    expect(await verify()).toEqual([false, true])
  })

  it('ends the old secret at once without a grace period', async () => {
    const receiver = await receive()
    await open({ grace: 0 })
    const { id, secret } = await makeFor(receiver)
    await write('POST', `/webhooks/${id}/rotate`)
    expect(hookOf(id)).toMatchObject({ previous_secret: null, previous_until: null })
    await write('POST', `/webhooks/${id}/test`)
    const { body, headers } = receiver.received[0]!
    expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).toThrow()
  })
})
