/** The limits of webhooks, also for requests at the same time: how many a user has, and how many tests are sent. */
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { freeSlots } from '../../../src/runtime/plugins/webhooks/server/slots'
import type { Answered } from '../../support/server'
import { openReceiver, openWebhooks, type Receiver, type WebhookWorld, type WorldOptions } from './world'

let worlds: WebhookWorld[] = []
let receiver: Receiver
async function open(options?: WorldOptions): Promise<WebhookWorld> {
  worlds.push(await openWebhooks(options))
  return worlds.at(-1)!
}

beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(async () => {
  await receiver.close()
  // The first one closes the database of all of them.
  for (const world of worlds.reverse()) await world.close()
  worlds = []
  vi.useRealTimers()
})

const send = (world: WebhookWorld, method: string, path: string, body?: unknown, user = 1) =>
  world.server.request(method, `/api${path}`, { body, caller: world.as(user) })
const outcome = ({ status, body }: Answered) => status < 400 ? String(status) : `${status} ${body?.data?.code}`
const hook = () => ({ url: receiver.url, events: ['posts.*'] })
const count = ({ client }: WebhookWorld, user = 1) =>
  client.prepare('select count(*) from webhooks where owner = ?').pluck().get(String(user)) as number

describe('the number of webhooks of a user', () => {
  it('is never exceeded by requests at the same time, on two servers', async () => {
    const options = { options: { maxWebhooks: 3 } }
    const one = await open(options)
    const other = await open({ ...options, client: one.client })
    const answers = await Promise.all(Array.from({ length: 24 }, (_, index) => {
      const world = index % 2 === 0 ? one : other
      return index % 8 === 0 ? send(world, 'POST', '/webhooks/bulk', { items: [hook(), hook()] }) : send(world, 'POST', '/webhooks', hook())
    }))
    const refused = answers.map(outcome).filter(text => !text.startsWith('2'))
    expect(refused.filter(text => !/^409 (?:CONFLICT|BULK_FAILED)$/.test(text))).toEqual([])
    const messages = answers.filter(({ body }) => body.data?.code === 'CONFLICT').map(({ body }) => body.message as string)
    expect(messages.filter(text => !/^You (?:cannot have more than 3 webhooks|have made another webhook at the same time)\./.test(text))).toEqual([])
    expect(count(one)).toBe(3)
  })

  it('is distinguished from a create of another server at the same time, which can be sent again', async () => {
    const one = await open({ options: { maxWebhooks: 2 } })
    const other = await open({ options: { maxWebhooks: 2 }, client: one.client })
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const answers = await Promise.all([one, other].map(world => send(world, 'POST', '/webhooks', hook())))
    vi.restoreAllMocks()
    expect(answers.map(outcome).sort()).toEqual(['201', '409 CONFLICT'])
    expect(answers.find(({ status }) => status === 409)!.body.message).toBe('You have made another webhook at the same time. Try again.')
    expect(outcome(await send(other, 'POST', '/webhooks', hook()))).toBe('201')
  })

  it('is reached by as many requests at the same time on one server, and no request fails needlessly', async () => {
    const world = await open({ options: { maxWebhooks: 10 } })
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(world, 'POST', '/webhooks', hook())))
    expect(answers.map(outcome).sort()).toEqual([...Array.from({ length: 10 }, () => '201'), '409 CONFLICT', '409 CONFLICT'])
    expect(answers.find(({ status }) => status === 409)!.body.message).toBe('You cannot have more than 10 webhooks. Delete one first.')
    expect(outcome(await send(world, 'POST', '/webhooks', hook(), 2))).toBe('201')
  })

  it('counts neither dry runs nor creates that fail, and a delete makes a place free', async () => {
    const world = await open({ options: { maxWebhooks: 1 } })
    for (let round = 0; round < 3; round++) {
      expect(outcome(await send(world, 'POST', '/webhooks?dryRun=true', hook()))).toMatch(/^20/)
      expect(outcome(await send(world, 'POST', '/webhooks', { ...hook(), events: ['x'] }))).toBe('400 VALIDATION_FAILED')
      const { body } = await send(world, 'POST', '/webhooks', hook())
      expect(outcome(await send(world, 'POST', '/webhooks', hook()))).toBe('409 CONFLICT')
      expect(outcome(await send(world, 'DELETE', `/webhooks/${body.id}`))).toBe('200')
    }
  })

  it('is not exceeded after the limit was lowered', async () => {
    const before = await open({ options: { maxWebhooks: 6 } })
    const made = await Promise.all(Array.from({ length: 6 }, () => before.make(1, hook())))
    const world = await open({ options: { maxWebhooks: 4 }, client: before.client })
    for (const { id } of made.slice(0, 3)) {
      expect(outcome(await send(world, 'POST', '/webhooks', hook()))).toBe('409 CONFLICT')
      await send(world, 'DELETE', `/webhooks/${id}`)
    }
    await Promise.all(Array.from({ length: 6 }, () => send(world, 'POST', '/webhooks', hook())))
    expect(count(world)).toBe(4)
  })

  it('has a hidden column, which no client reads or writes', async () => {
    const world = await open()
    await send(world, 'POST', '/webhooks', { ...hook(), slot: 'mine' })
    const { text } = await send(world, 'GET', '/webhooks')
    expect([text.includes('slot'), text.includes('mine')]).toEqual([false, false])
    expect(world.client.prepare('select slot from webhooks').pluck().get()).toMatch(/^[\da-f]{64}:\d+$/)
    expect((await send(world, 'GET', '/webhooks?sort=slot')).status).toBe(400)
  })
})

describe('the slots that are left', () => {
  it.each<[used: number[], max: number, free: number[]]>([
    [[], 3, [0, 1, 2]],
    [[1], 3, [0, 2]],
    [[0, 1, 2], 3, []],
    [[5, 6], 3, [0]],
    // With all four, there would be seven.
    [[3, 4, 10], 5, [0, 1]],
    [[7, 8, 9], 3, []],
    [[7, 8, 9, 10], 3, []],
  ])('of %j with the limit %i are %j', (used, max, free) => expect(freeSlots(used, max)).toEqual(free))
})

describe('the tests of a webhook', () => {
  it('are refused while one of them waits for its answer, and go on afterwards', async () => {
    const waiting: ServerResponse[] = []
    await receiver.close()
    receiver = await openReceiver(response => void waiting.push(response))
    const world = await open()
    const other = await open({ client: world.client })
    const [{ id }, { id: second }] = [await world.make(1, hook()), await world.make(1, hook())]
    const running = send(world, 'POST', `/webhooks/${id}/test`)
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    for (const server of [world, other]) {
      const refused = await send(server, 'POST', `/webhooks/${id}/test`)
      expect(outcome(refused)).toBe('429 RATE_LIMITED')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(10)
    }
    expect([waiting.length, world.client.prepare('select count(*) from webhook_deliveries').pluck().get()]).toEqual([1, 1])
    const ofSecond = send(world, 'POST', `/webhooks/${second}/test`)
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    for (const response of waiting) response.end('ok')
    expect([outcome(await running), outcome(await ofSecond)]).toEqual(['200', '200'])
    const last = send(world, 'POST', `/webhooks/${id}/test`)
    await vi.waitFor(() => expect(waiting).toHaveLength(3))
    waiting[2]!.end('ok')
    expect(outcome(await last)).toBe('200')
  })

  it('are never two of one webhook at a time, although many are asked for at once', async () => {
    let running = 0
    let most = 0
    await receiver.close()
    receiver = await openReceiver((response) => {
      most = Math.max(most, ++running)
      setTimeout(() => {
        running--
        response.end('ok')
      }, 50)
    })
    const world = await open()
    const other = await open({ client: world.client })
    const { id } = await world.make(1, hook())
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) =>
      send(index % 2 === 0 ? world : other, 'POST', `/webhooks/${id}/test`)))
    expect(answers.map(outcome).filter(text => text !== '200' && text !== '429 RATE_LIMITED')).toEqual([])
    expect(most).toBeLessThanOrEqual(1)
  })

  it('are twenty of a user in a minute, whether their webhooks and deliveries are deleted or not', async () => {
    const world = await open()
    for (let index = 0; index < 20; index++) {
      const { id } = await world.make(1, hook())
      const { body } = await send(world, 'POST', `/webhooks/${id}/test`)
      expect(body.status).toBe('delivered')
      expect(outcome(await send(world, 'DELETE', `/webhookDeliveries/${body.id}`))).toBe('200')
      await send(world, 'DELETE', `/webhooks/${id}`)
    }
    const { id } = await world.make(1, hook())
    const refused = await send(world, 'POST', `/webhooks/${id}/test`)
    expect([outcome(refused), receiver.received.length]).toEqual(['429 RATE_LIMITED', 20])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const { id: of2 } = await world.make(2, hook())
    expect(outcome(await send(world, 'POST', `/webhooks/${of2}/test`, undefined, 2))).toBe('200')
  })

  it('go on after a server was stopped during one of them', async () => {
    const world = await open({ options: { timeout: 1 } })
    const { id } = await world.make(1, hook())
    await send(world, 'POST', `/webhooks/${id}/test`)
    const leave = (age: number) =>
      world.client.prepare(`update webhook_deliveries set status = 'pending', lease = 'gone', created_at = ?`).run(Date.now() - age)
    leave(30_000)
    expect(outcome(await send(world, 'POST', `/webhooks/${id}/test`))).toBe('429 RATE_LIMITED')
    leave(32_000)
    expect(outcome(await send(world, 'POST', `/webhooks/${id}/test`))).toBe('200')
  })
})
