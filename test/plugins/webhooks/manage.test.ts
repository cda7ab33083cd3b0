/** Who makes, sees, changes and deletes webhooks and their deliveries, and what each of them contains. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { apiTokens, batch, idempotency } from '../../../src/runtime/plugins'
import { apiTokensTable, idempotencyKeysTable } from '../../../src/runtime/plugins/schema-sqlite'
import { defineAutoApiPlugin } from '../../../src/runtime/server/define'
import { createTablesSql } from '../../support/create-tables'
import type { Answered } from '../../support/server'
import { every, openReceiver, openWebhooks, type Receiver, type WebhookWorld, type WorldOptions } from './world'

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

const send = (method: string, path: string, body?: unknown, user = 1, headers: Record<string, string> = {}) =>
  world.server.request(method, `/api${path}`, { body, headers, caller: world.as(user) })
const outcome = ({ status, body }: Answered) => status < 400 ? String(status) : `${status} ${body?.data?.code}`
const hook = (more: object = {}) => ({ url: receiver.url, events: ['posts.*'], ...more })
const rows = (table: string) => world.client.prepare(`select * from ${table} order by rowid`).all() as Record<string, unknown>[]
const ids = ({ body }: Answered) => (body.data as { id: string }[]).map(({ id }) => id).sort()

describe('the secret of a webhook', () => {
  it('is in the responses that issue it, and in no other', async () => {
    await open()
    const { id, secret } = await world.make(1, hook())
    const bulk = await send('POST', '/webhooks/bulk', { items: [hook(), hook()] })
    const rotated = await send('POST', `/webhooks/${id}/rotate`)
    const made = [secret, ...bulk.body.data.map((one: { secret: string }) => one.secret), rotated.body.secret] as string[]
    for (const one of made) expect(one).toMatch(/^whsec_[\w+/]{43}=$/)
    expect(new Set(made).size).toBe(4)
    // Each secret is that of its own webhook.
    for (const one of bulk.body.data) expect(rows('webhooks').find(({ id }) => id === one.id)).toMatchObject({ secret: one.secret })
    for (const [method, path, body] of [
      ['GET', '/webhooks'], ['GET', `/webhooks/${id}`], ['PATCH', `/webhooks/${id}`, { description: 'x' }], ['GET', '/webhooks/aggregate?aggregate=count'],
      ['POST', `/webhooks/${id}/test`], ['GET', '/webhookDeliveries'], ['DELETE', `/webhooks/${id}`],
    ] as const) {
      const { status, text } = await send(method, path, body)
      expect([path, status]).toEqual([path, 200])
      expect(text).not.toContain('whsec_')
      for (const one of made) expect(text).not.toContain(one.slice(6, 20))
    }
  })

  it.each(['filter[secret]=x', 'sort=secret', 'fields=secret', 'filter[previousSecret][$ne]=x'])('cannot be found out by %s', async (query) => {
    await open()
    await world.make(1, hook())
    expect((await send('GET', `/webhooks?${query}`)).status).toBe(400)
  })

  it('is not in a response that is sent again, which says so', async () => {
    const keys = { idempotencyKeys: idempotencyKeysTable() }
    await open({ plugins: [idempotency()], modules: [keys] })
    world.client.exec(await createTablesSql('sqlite', keys))
    const twice = async (method: string, path: string, body?: unknown) => {
      const key = { 'idempotency-key': `${method}-${path}` }
      return [await send(method, path, body, 1, key), await send(method, path, body, 1, key)] as const
    }
    const [first, again] = await twice('POST', '/webhooks', hook())
    expect([first.body.secret, again.body.secret, again.body.secretAlreadyIssued]).toEqual([expect.any(String), undefined, true])
    const [bulk, bulkAgain] = await twice('POST', '/webhooks/bulk', { items: [hook()] })
    expect(bulk.body.data[0].secret).toEqual(expect.any(String))
    expect(bulkAgain.body.data).toEqual([{ ...bulk.body.data[0], secret: undefined, secretAlreadyIssued: true }])
    const [rotated, rotatedAgain] = await twice('POST', `/webhooks/${first.body.id}/rotate`)
    expect(rotated.body.secret).toEqual(expect.any(String))
    expect(rotatedAgain.body).toEqual({ ...rotated.body, secret: undefined, secretAlreadyIssued: true })
    expect(rows('webhooks')).toHaveLength(2)
    expect(JSON.stringify(rows('idempotency_keys'))).not.toContain('whsec_')
  })
})

describe('what a client sends', () => {
  it('sets the URL, the events, the description and whether the webhook is active, and nothing else', async () => {
    await open()
    const forged = { id: 'mine', owner: '3', organizationId: '2', secret: 'whsec_x', pausedReason: 'gone', failures: 3 }
    const { id } = await world.make(1, hook({ description: 'd', active: false, ...forged }))
    await send('PATCH', `/webhooks/${id}`, forged)
    expect(rows('webhooks')).toEqual([expect.objectContaining({
      id: expect.stringMatching(/^[\da-f-]{36}$/), owner: '1', organization_id: '1', description: 'd', active: 0, paused_reason: null, failures: 0,
      secret: expect.stringMatching(/^whsec_.{44}$/) as string,
    })])
  })

  it.each<[what: string, events: unknown, path: (string | number)[]]>([
    ['an unknown resource', ['posts.created', 'secrets.created'], ['events', 1]],
    ['a resource that the caller cannot read', ['ledgers.created'], ['events', 0]],
    ['an unknown event', ['posts.created', 'posts.*', 'posts.exploded'], ['events', 2]],
    ['a resource without an event', ['posts'], ['events', 0]],
    ['every resource', ['*'], ['events', 0]],
    ['the webhooks themselves', ['webhooks.created'], ['events', 0]],
    ['the deliveries', ['webhookDeliveries.*'], ['events', 0]],
    ['a key of every object', ['constructor.created'], ['events', 0]],
    ['a number', [1], ['events', 0]],
    ['no events', [], ['events']],
    ['too many events', Array.from({ length: 101 }, () => 'posts.created'), ['events']],
  ])('is refused with its path: %s', async (_what, events, path) => {
    await open()
    const { id } = await world.make(2, hook())
    for (const answer of [
      await send('POST', '/webhooks', hook({ events }), 2), await send('PATCH', `/webhooks/${id}`, { events }, 2),
      await send('POST', '/webhooks/bulk', { items: [hook({ events })] }, 2),
    ]) {
      expect(outcome(answer)).toMatch(/^400 (?:VALIDATION_FAILED|BULK_FAILED)$/)
      const issues = answer.body.data.issues ?? answer.body.data.errors[0].issues
      expect(issues[0].path.slice(0, path.length)).toEqual(path)
    }
    expect(rows('webhooks')).toHaveLength(1)
  })

  it('says the same of a resource that the caller cannot read and of one that does not exist', async () => {
    await open()
    const messageOf = async (name: string) => {
      const { body } = await send('POST', '/webhooks', hook({ events: [`${name}.created`] }), 2)
      return (body.data.issues[0].message as string).replace(name, 'X')
    }
    expect(await messageOf('ledgers')).toBe(await messageOf('legends'))
  })

  it('makes at most the allowed webhooks, in one bulk request too', async () => {
    await open({ options: { maxWebhooks: 3 } })
    expect(outcome(await send('POST', '/webhooks/bulk', { items: [hook(), hook(), hook(), hook()] }))).toMatch(/^(?:409|400) /)
    expect(rows('webhooks')).toEqual([])
    expect(outcome(await send('POST', '/webhooks/bulk', { items: [hook(), hook()] }))).toBe('200')
    expect(outcome(await send('POST', '/webhooks/bulk', { items: [hook(), hook()] }))).toMatch(/^(?:409|400) /)
    await world.make(1, hook())
    expect(outcome(await send('POST', '/webhooks', hook()))).toBe('409 CONFLICT')
    // Each user, and each organization of a user, has its own.
    await world.make(2, hook())
    world.users.get(1)!.organizationId = 2
    await world.make(1, hook())
    expect(rows('webhooks')).toHaveLength(5)
  })

  it('is not written by an upsert, by a batch, or by a dry run', async () => {
    await open({ plugins: [batch()] })
    expect(outcome(await send('POST', '/webhooks?onConflict=id', hook()))).toBe('400 INVALID_QUERY')
    expect(outcome(await send('POST', '/webhooks/bulk?onConflict=id', { items: [hook()] }))).toMatch(/^400 /)
    const steps = [{ resource: 'webhooks', operation: 'create', data: hook() }]
    expect(outcome(await send('POST', '/batch', { steps }))).toBe('400 BULK_FAILED')
    const dry = await send('POST', '/webhooks?dryRun=true', hook())
    expect([dry.status < 300, dry.text.includes('whsec_')]).toEqual([true, false])
    expect(rows('webhooks')).toEqual([])
    const { id } = await world.make(1, hook())
    await send('POST', '/posts', { title: 'one' })
    await world.settled()
    for (const [method, path, body] of [['PATCH', `/webhooks/${id}`, { active: false }], ['DELETE', `/webhooks/${id}`]] as const)
      expect((await send(method, `${path}?dryRun=true`, body)).status).toBe(200)
    expect([rows('webhooks')[0]!.active, rows('webhook_deliveries')[0]!.error]).toEqual([1, null])
  })

  it('does not overwrite a change that the client has not seen', async () => {
    await open()
    const { id } = await world.make(1, hook())
    const { headers } = await send('GET', `/webhooks/${id}`)
    const tag = { 'if-match': headers.get('etag')! }
    expect((await send('PATCH', `/webhooks/${id}`, { description: 'one' }, 1, tag)).status).toBe(200)
    expect(outcome(await send('PATCH', `/webhooks/${id}`, { description: 'two' }, 1, tag))).toBe('412 PRECONDITION_FAILED')
    expect(rows('webhooks')[0]!.description).toBe('one')
  })
})

describe('a token', () => {
  it.each([[['webhooks:read', 'webhooks:create', 'webhooks:update', 'webhooks:delete', 'posts:read']], [undefined]])(
    'with the scopes %j reads and deletes webhooks, and cannot make, change or rotate one', async (scopes) => {
      const table = { apiTokens: apiTokensTable() }
      await open({
        plugins: [apiTokens({ findUser: id => world.users.get(Number(id)) as never ?? null })],
        registrations: [{ name: 'apiTokens', schema: table.apiTokens, authorization: { permissions: every('webhooks') } }],
      })
      world.client.exec(await createTablesSql('sqlite', table))
      const { body: { token } } = await send('POST', '/apiTokens', { name: 't', ...scopes && { scopes } })
      expect(token).toMatch(/^aat_/)
      const { id } = await world.make(1, hook())
      const ask = (method: string, path: string, body?: unknown) =>
        world.server.request(method, `/api${path}`, { body, headers: { authorization: `Bearer ${token}` } }).then(outcome)
      expect(await ask('POST', '/webhooks', hook())).toBe('403 FORBIDDEN')
      expect(await ask('POST', '/webhooks/bulk', { items: [hook()] })).toBe('403 BULK_FAILED')
      expect(await ask('PATCH', `/webhooks/${id}`, { url: 'https://evil.example/' })).toBe('403 FORBIDDEN')
      expect(await ask('PATCH', '/webhooks/bulk', { items: [{ id, data: { active: true } }] })).toMatch(/^403 /)
      expect(await ask('POST', `/webhooks/${id}/rotate`)).toBe('403 FORBIDDEN')
      expect(rows('webhooks')).toMatchObject([{ url: receiver.url, previous_secret: null }])
      expect(await ask('GET', `/webhooks/${id}`)).toBe('200')
      expect(await ask('DELETE', `/webhooks/${id}`)).toBe('200')
    })
})

describe('a credential of another plugin without scopes', () => {
  /** A credential with these permissions of user 1. */
  const keys = (permissions: readonly string[], more: object = {}) => defineAutoApiPlugin({
    name: 'keys',
    credentials: ({ header }) => header('x-key') === undefined
      ? undefined
      : { user: { id: 1, organizationId: 1, role: 'editor', ...more }, permissions, id: 'key' },
  })
  const ask = (method: string, path: string, body?: unknown) =>
    world.server.request(method, `/api${path}`, { body, headers: { 'x-key': 'x' } })

  it.each<[what: string, permissions: string[], more?: object]>([
    ['a permission', ['posts', 'webhooks']],
    ['the role', ['posts', 'notes', 'webhooks', 'ledgers'], { role: undefined }],
  ])('makes, changes and rotates none if it lacks %s that its user has, because a webhook has all rights of its owner', async (_what, permissions, more) => {
    await open({ plugins: [keys(permissions, more)] })
    const { id } = await world.make(1, hook())
    expect(outcome(await ask('POST', '/webhooks', hook()))).toBe('403 FORBIDDEN')
    expect(outcome(await ask('POST', '/webhooks/bulk', { items: [hook()] }))).toBe('403 BULK_FAILED')
    expect(outcome(await ask('PATCH', `/webhooks/${id}`, { url: 'https://evil.example/' }))).toBe('403 FORBIDDEN')
    expect(outcome(await ask('POST', `/webhooks/${id}/rotate`))).toBe('403 FORBIDDEN')
    expect(rows('webhooks')).toMatchObject([{ url: receiver.url, previous_secret: null }])
    expect(outcome(await ask('GET', `/webhooks/${id}`))).toBe('200')
    expect(outcome(await ask('POST', `/webhooks/${id}/test`))).toBe('200')
    expect(outcome(await ask('DELETE', `/webhooks/${id}`))).toBe('200')
  })

  it('makes and changes those of its user if it has all rights of this user, who owns them', async () => {
    await open({ plugins: [keys(['posts', 'notes', 'webhooks', 'ledgers'])] })
    const { status, body } = await ask('POST', '/webhooks', hook())
    expect([status, body.owner, body.organizationId, typeof body.secret]).toEqual([201, '1', '1', 'string'])
    expect(outcome(await ask('PATCH', `/webhooks/${body.id}`, { description: 'd' }))).toBe('200')
    expect(outcome(await ask('POST', `/webhooks/${body.id}/rotate`))).toBe('200')
    // What it sends is what the user can read when it is sent.
    world.users.get(1)!.role = 'reader'
    await send('POST', '/posts', { title: 'one', price: 3 }, 3)
    await send('POST', '/posts', { title: 'two', price: 3 }, 4)
    await world.settled(rows => rows.length === 1 && rows[0]!.status === 'delivered')
    expect(receiver.received.map(({ payload }) => (payload.data.record as object))).toEqual([expect.not.objectContaining({ price: 3 })])
  })

  it('makes none for a user whom `findUser` does not know', async () => {
    await open({ plugins: [keys(['posts', 'notes', 'webhooks', 'ledgers'])] })
    world.users.delete(1)
    expect(outcome(await ask('POST', '/webhooks', hook()))).toBe('403 FORBIDDEN')
    expect(rows('webhooks')).toEqual([])
  })
})

describe('the webhooks of others', () => {
  it('do not exist for a caller, nor do their deliveries and actions', async () => {
    await open()
    const made = await Promise.all([1, 2, 3].map(user => world.make(user, hook())))
    await send('POST', '/posts', { title: 'one' }, 1)
    await send('POST', '/posts', { title: 'two' }, 3)
    const deliveries = await world.settled(rows => rows.length === 3 && rows.every(({ status }) => status === 'delivered'))
    for (const [index, user] of [1, 2, 3].entries()) {
      expect(ids(await send('GET', '/webhooks', undefined, user))).toEqual([made[index]!.id])
      const own = deliveries.filter(({ owner }) => owner === String(user)).map(({ id }) => id)
      expect(own).toHaveLength(1)
      expect(ids(await send('GET', '/webhookDeliveries', undefined, user))).toEqual(own)
      for (const other of made.filter(({ id }) => id !== made[index]!.id)) {
        for (const [method, path, body] of [
          ['GET', ''], ['PATCH', '', { active: false }], ['DELETE', ''], ['POST', '/test'], ['POST', '/rotate'],
        ] as const) expect(outcome(await send(method, `/webhooks/${other.id}${path}`, body, user)), path).toBe('404 NOT_FOUND')
      }
      for (const { id } of deliveries.filter(({ id }) => !own.includes(id))) for (const [method, path] of [
        ['GET', ''], ['DELETE', ''], ['POST', '/retry'],
      ] as const) expect(outcome(await send(method, `/webhookDeliveries/${id as string}${path}`, undefined, user)), path).toBe('404 NOT_FOUND')
    }
    expect(receiver.received).toHaveLength(3)
  })

  it('of another organization do not exist for their own owner while this one is active', async () => {
    await open()
    const { id } = await world.make(1, hook())
    const elsewhere = { user: { ...world.users.get(1)!, organizationId: 2 }, permissions: world.users.get(1)!.permissions }
    for (const [method, path] of [['GET', ''], ['DELETE', ''], ['POST', '/test'], ['POST', '/rotate']] as const)
      expect((await world.server.request(method, `/api/webhooks/${id}${path}`, { caller: elsewhere })).status, path).toBe(404)
    expect(ids(await world.server.request('GET', '/api/webhooks', { caller: elsewhere }))).toEqual([])
  })

  it('are seen and deleted by a manager of the organization, who cannot change, test or rotate them', async () => {
    await open()
    const { id } = await world.make(1, hook())
    const { id: foreign } = await world.make(3, hook())
    await send('POST', '/posts', { title: 'one' })
    const [delivery] = await world.settled(rows => rows.length === 1 && rows[0]!.status === 'delivered')
    expect(ids(await send('GET', '/webhooks', undefined, 4))).toEqual([id])
    expect(ids(await send('GET', '/webhookDeliveries', undefined, 4))).toEqual([delivery!.id])
    for (const [method, path, body] of [
      ['PATCH', `/webhooks/${id}`, { url: 'https://evil.example/' }], ['POST', `/webhooks/${id}/test`], ['POST', `/webhooks/${id}/rotate`],
      ['POST', `/webhookDeliveries/${delivery!.id as string}/retry`], ['DELETE', `/webhooks/${foreign}`],
    ] as const) expect(outcome(await send(method, path, body, 4)), path).toBe('404 NOT_FOUND')
    expect((await send('DELETE', `/webhooks/${id}`, undefined, 4)).status).toBe(200)
    expect(rows('webhooks')).toMatchObject([{ id: foreign }])
    expect(receiver.received).toHaveLength(1)
  })
})

describe('a delivery', () => {
  it('cannot be made, changed or restored', async () => {
    await open()
    await world.make(1, hook())
    await send('POST', '/posts', { title: 'one' })
    const [delivery] = await world.settled(rows => rows[0]?.status === 'delivered')
    const path = `/webhookDeliveries/${delivery!.id as string}`
    for (const [method, target, body] of [
      ['PATCH', path, { status: 'pending' }], ['POST', '/webhookDeliveries', { event: 'x' }], ['POST', `${path}/restore`],
      ['POST', '/webhookDeliveries/bulk', { items: [{}] }],
    ] as const) expect(outcome(await send(method, target, body)), target).toBe('405 METHOD_NOT_ALLOWED')
    expect(outcome(await send('PATCH', '/webhookDeliveries/bulk', { items: [{ id: delivery!.id, data: { status: 'pending' } }] }))).toMatch(/^40[05] /)
    expect(rows('webhook_deliveries')).toEqual([delivery])
    expect((await send('DELETE', path)).status).toBe(200)
    expect(rows('webhook_deliveries')).toEqual([])
  })

  it('is sent again on request, unless its webhook is switched off or gone, or it is a test', async () => {
    await open()
    const { id } = await world.make(1, hook())
    const { body: test } = await send('POST', `/webhooks/${id}/test`)
    expect(test).toMatchObject({ event: 'webhook.test', status: 'delivered', responseStatus: 200, responseBody: 'ok', attempts: 1 })
    expect(receiver.received[0]!.payload).toMatchObject({ type: 'webhook.test', data: {} })
    expect(outcome(await send('POST', `/webhookDeliveries/${test.id}/retry`))).toBe('409 CONFLICT')
    await send('POST', '/posts', { title: 'one' })
    const sent = await world.settled(rows => rows.length === 2 && rows.every(({ status }) => status === 'delivered'))
    const again = `/webhookDeliveries/${sent.find(({ event }) => event === 'posts.created')!.id as string}/retry`
    expect((await send('POST', again)).body).toMatchObject({ status: 'pending', attempts: 0 })
    await world.settled(() => receiver.received.length === 3)
    expect(receiver.received[2]!.headers['webhook-id']).toBe(receiver.received[1]!.headers['webhook-id'])
    await world.settled(rows => rows.every(({ status }) => status === 'delivered'))
    await send('PATCH', `/webhooks/${id}`, { active: false })
    expect(outcome(await send('POST', again))).toBe('409 CONFLICT')
    await send('DELETE', `/webhooks/${id}`)
    expect(outcome(await send('POST', again))).toBe('409 CONFLICT')
    expect(receiver.received).toHaveLength(3)
  })

  it('is given up with the webhook', async () => {
    await receiver.close()
    await open({ options: { retries: [600] } })
    const { id } = await world.make(1, hook())
    await send('POST', '/posts', { title: 'one' })
    await world.settled(rows => rows[0]?.status === 'failed')
    await send('DELETE', `/webhooks/${id}`)
    expect(rows('webhook_deliveries')).toMatchObject([{ status: 'dead', due_at: null, error: 'The webhook was deleted.' }])
  })
})

it('a webhook that is switched on again begins anew', async () => {
  await open()
  const { id } = await world.make(1, hook())
  world.client.exec('update webhooks set active = 0, paused_reason = \'dead\', failures = 5')
  expect((await send('PATCH', `/webhooks/${id}`, { description: 'd' })).body).toMatchObject({ active: false, pausedReason: 'dead', failures: 5 })
  expect((await send('PATCH', `/webhooks/${id}`, { active: true })).body).toMatchObject({ active: true, pausedReason: null, failures: 0 })
})

it('callers without the permissions of the resources are refused everywhere', async () => {
  await open()
  const { id } = await world.make(1, hook())
  world.users.get(2)!.permissions = ['posts']
  for (const [method, path, body] of [
    ['GET', '/webhooks'], ['POST', '/webhooks', hook()], ['PATCH', `/webhooks/${id}`, {}], ['DELETE', `/webhooks/${id}`],
    ['POST', `/webhooks/${id}/test`], ['POST', `/webhooks/${id}/rotate`], ['GET', '/webhookDeliveries'],
    ['POST', '/webhookDeliveries/x/retry'],
  ] as const) {
    expect(outcome(await send(method, path, body, 2)), path).toBe('403 FORBIDDEN')
    expect(outcome(await send(method, path, body, 99)), path).toBe('401 UNAUTHENTICATED')
  }
})
