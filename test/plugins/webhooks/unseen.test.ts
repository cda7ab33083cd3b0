/** What the owner of a webhook must not learn, by deliveries or by events: rows that the owner can read neither now nor before. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AutoApiContext } from '../../../src/runtime/server/define'
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

const send = (method: string, path: string, body?: unknown, user = 1) =>
  world.server.request(method, `/api${path}`, { body, caller: world.as(user) })
const rows = () => world.client.prepare('select * from webhook_deliveries order by position').all() as Record<string, unknown>[]

/** Holds the deliveries back: nothing is judged while the owner is being found. */
function hold() {
  let release: (found: undefined) => void = () => {}
  const held = new Promise<undefined>(resolve => release = resolve)
  let isHeld = true
  return {
    findUser: async (id: string) => {
      if (isHeld) await held
      return (world.users.get(Number(id)) ?? null) as never
    },
    release: () => {
      isHeld = false
      release(undefined)
    },
  }
}

/** Everything that a caller can read about deliveries. */
async function readAll(user: number): Promise<string> {
  const texts = []
  for (const path of [
    '', '?count=exact', '?limit=1', '?mode=cursor&limit=1', '?filter[status]=pending', '?filter[recordId]=1&count=exact', '?sort=-createdAt',
    '/aggregate?aggregate=count', '/aggregate?aggregate=count&groupBy=recordId', '/aggregate?aggregate=max(createdAt)',
    ...rows().flatMap(({ id }) => [`/${id as string}`, `?filter[id]=${id as string}`]),
  ]) texts.push((await send('GET', `/webhookDeliveries${path}`, undefined, user)).text)
  return texts.map(text => text.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'id')).join('\n')
}

describe('a delivery that is not judged yet', () => {
  it('changes no byte of what its owner or a manager reads, by lists, counts, groups, filters and ids', async () => {
    const held = hold()
    await open({ options: { findUser: held.findUser } })
    await world.make(2, { url: receiver.url, events: ['posts.*'] })
    const before = [await readAll(2), await readAll(4)]
    await send('POST', '/posts', { title: 'a draft', status: 'draft' })
    await send('POST', '/posts', { title: 'theirs' }, 3)
    await send('POST', '/posts', { title: 'seen' })
    expect(rows()).toHaveLength(2)
    const empty = before.map(text => text.split('\n').slice(0, 10))
    for (const [index, user] of [2, 4].entries()) expect((await readAll(user)).split('\n').slice(0, 10)).toEqual(empty[index])
    for (const { id } of rows()) for (const [method, path] of [['GET', ''], ['DELETE', ''], ['PATCH', ''], ['POST', '/retry']] as const)
      expect((await send(method, `/webhookDeliveries/${id as string}${path}`, method === 'PATCH' ? {} : undefined, 2)).status, path)
        .toBe(method === 'PATCH' ? (await send('PATCH', '/webhookDeliveries/none', {}, 2)).status : 404)
    held.release()
    await world.settled(rows => rows.length === 1 && rows[0]!.status === 'delivered')
    // The record that the owner can read, and nothing of the draft.
    const { body } = await send('GET', '/webhookDeliveries?count=exact', undefined, 2)
    expect(body.data).toMatchObject([{ recordId: '3', status: 'delivered' }])
  })

  it('is not seen while the webhook is switched off, and not after it is deleted', async () => {
    const held = hold()
    await open({ options: { findUser: held.findUser } })
    const { id } = await world.make(2, { url: receiver.url, events: ['posts.*'] })
    await send('POST', '/posts', { title: 'a draft', status: 'draft' })
    await send('PATCH', `/webhooks/${id}`, { active: false }, 2)
    expect(rows()).toHaveLength(1)
    expect((await send('GET', '/webhookDeliveries', undefined, 2)).body.data).toEqual([])
    await send('DELETE', `/webhooks/${id}`, undefined, 2)
    expect(rows()).toEqual([])
    expect((await send('GET', '/webhookDeliveries', undefined, 2)).body.data).toEqual([])
    held.release()
  })

  it('is not seen when the rules of the app fail, as often as it is attempted', async () => {
    let isBroken = true
    const findUser = (id: string) => {
      if (isBroken) throw new Error('no database of users')
      return (world.users.get(Number(id)) ?? null) as never
    }
    await open({ options: { findUser, retries: [1] } })
    await world.make(2, { url: receiver.url, events: ['posts.*'] })
    await send('POST', '/posts', { title: 'a draft', status: 'draft' })
    await world.settled(rows => rows[0]?.status === 'dead')
    isBroken = false
    expect((await send('GET', '/webhookDeliveries', undefined, 2)).body.data).toEqual([])
    expect((await send('POST', `/webhookDeliveries/${rows()[0]!.id as string}/retry`, undefined, 2)).status).toBe(404)
    expect(receiver.received).toEqual([])
  })
})

describe('what the server remembers of a change', () => {
  it.each(['columns', 'image', 'lease', 'position'])('cannot be read, filtered or sorted by: %s', async (column) => {
    await open()
    await world.make(1, { url: receiver.url, events: ['posts.*'] })
    await send('POST', '/posts', { title: 'one', secret: 'hidden' })
    await world.settled(rows => rows[0]?.status === 'delivered')
    for (const query of [`fields=${column}`, `sort=${column}`, `filter[${column}][$ne]=x`])
      expect((await send('GET', `/webhookDeliveries?${query}`)).status, query).toBe(400)
    expect((await send('GET', `/webhookDeliveries/aggregate?aggregate=count&groupBy=${column}`)).status).toBe(400)
    expect((await send('GET', '/webhookDeliveries')).body.data[0]).not.toHaveProperty(column)
  })

  it('is forgotten with the first attempt, whatever comes of it', async () => {
    await receiver.close()
    await open({ options: { retries: [600] } })
    await world.make(1, { url: receiver.url, events: ['posts.*'] })
    await send('POST', '/posts', { title: 'one' })
    await world.settled(rows => rows[0]?.status === 'failed')
    expect(rows()).toMatchObject([{ columns: null, image: null, record_id: '1' }])
  })
})

describe('an event', () => {
  it('is not sent about a row that objectLevel hides, created, changed or deleted', async () => {
    await open()
    await world.make(2, { url: receiver.url, events: ['notes.*'] })
    await send('POST', '/notes', { body: 'private' })
    await send('PATCH', '/notes/1', { body: 'private too' })
    await send('DELETE', '/notes/1')
    await send('POST', '/notes', { body: 'public' })
    await send('PATCH', '/notes/2', { body: 'private again' })
    await world.settled(rows => rows.length === 2 && rows.every(({ status }) => status === 'delivered'))
    expect(receiver.received.map(({ payload }) => [payload.type, payload.data])).toEqual([
      ['notes.created', expect.objectContaining({ id: '2' })], ['notes.updated', { resource: 'notes', id: '2' }],
    ])
  })

  it('has the record with the rights of its owner, not with those of the caller who changed it', async () => {
    await open()
    await world.make(2, { url: receiver.url, events: ['posts.*'] })
    await send('POST', '/posts', { title: 'one', price: 5, secret: 's' }, 1)
    await world.settled(rows => rows[0]?.status === 'delivered')
    expect(receiver.received[0]!.payload.data.record).toMatchObject({ title: 'one' })
    expect(JSON.stringify(receiver.received[0]!.payload)).not.toMatch(/price|secret/)
  })

  it('has the rights that its owner has when it is sent, not those of before', async () => {
    const held = hold()
    await open({ options: { findUser: held.findUser } })
    await world.make(1, { url: receiver.url, events: ['posts.*'] })
    await send('POST', '/posts', { title: 'one', price: 5 })
    await send('POST', '/posts', { title: 'two', status: 'draft' })
    world.users.get(1)!.role = 'reader'
    held.release()
    await world.settled(rows => rows.length === 1 && rows[0]!.status === 'delivered')
    expect(receiver.received.map(({ payload }) => payload.data.id)).toEqual(['1'])
    expect(receiver.received[0]!.payload.data.record).not.toHaveProperty('price')
  })

  it('of another organization is not sent, even if the owner is revoked and the app sends events without records', async () => {
    const everywhere = { user: { id: 9, role: 'editor' }, permissions: ['posts', 'notes'] }
    const extender = { name: 'support', extendContext: (ctx: AutoApiContext) => {
      if (ctx.user?.id === 9) ctx.tenant = { id: 2, canAccessAllTenants: true } as never
    } }
    await open({ options: { onRevoked: 'omit' }, plugins: [extender] })
    await world.make(1, { url: receiver.url, events: ['posts.*'] })
    world.users.delete(1)
    const made = await world.server.request('POST', '/api/posts', { body: { title: 'theirs', organizationId: 2 }, caller: everywhere })
    expect([made.status, made.body.organizationId]).toEqual([201, 2])
    await world.settled(rows => rows.length === 0)
    await send('POST', '/posts', { title: 'ours' }, 2)
    await world.settled(rows => rows.length === 1 && rows[0]!.status === 'delivered')
    expect(receiver.received.map(({ payload }) => payload.data)).toEqual([{ resource: 'posts', id: '2' }])
  })

  it('is not sent to an owner without an organization about rows that have one', async () => {
    await open({ options: { onRevoked: 'omit' } })
    world.users.set(8, { id: 8, role: 'editor', permissions: ['posts', 'notes', 'webhooks'] } as never)
    const made = await send('POST', '/webhooks', { url: receiver.url, events: ['notes.*', 'posts.*'] }, 8)
    if (made.status === 201) {
      await send('POST', '/posts', { title: 'one' })
      await send('POST', '/notes', { body: 'public' })
      await world.settled(rows => rows.length > 0 && rows.every(({ status }) => status === 'delivered'))
    }
    expect(receiver.received.filter(({ payload }) => payload.type.startsWith('posts'))).toEqual([])
  })
})
