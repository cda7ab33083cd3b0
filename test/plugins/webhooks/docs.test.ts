/** The examples of the docs page `webhooks` run: they send an event, and they receive it. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { createApp, toWebHandler } from 'h3'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { webhooks as webhooksPlugin } from '../../../src/runtime/plugins'
import { createTestApi, type TestApi } from '../../../src/runtime/testing'
import { createTablesSql } from '../../support/create-tables'
import nuxtConfig from './examples/nuxt.config'
import { receive } from './examples/receive'
import orders from './examples/server/api/orders.post'
import * as schema from './examples/server/database/schema'
import { users } from './examples/server/database/users'
import posts from './examples/server/resources/posts'
import webhookDeliveries from './examples/server/resources/webhookDeliveries'
import webhooks from './examples/server/resources/webhooks'
import { findUser } from './examples/server/users'
import { openReceiver, type Receiver } from './world'

let api: TestApi
let receiver: Receiver
let client: Database.Database

beforeEach(async () => {
  receiver = await openReceiver()
  client = new Database(':memory:')
  client.exec(await createTablesSql('sqlite', schema))
  api = await createTestApi({
    database: drizzle({ client }),
    engine: 'better-sqlite3',
    resources: { posts, webhooks, webhookDeliveries },
    plugins: [webhooksPlugin({ findUser, allowHttp: true, allowPrivateNetworks: true })],
    callers: { ann: { user: { id: 'ann' }, permissions: ['editor'] } },
  })
})

afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  users.get('ann')!.banned = false
  await receiver.close()
})

interface Made { id: string, secret: string }

async function make(): Promise<Made> {
  const { status, body } = await api.as('ann').post<Made>('/webhooks', { url: receiver.url, events: ['posts.*'] })
  expect(status).toBe(201)
  return body
}

it('nuxt.config lists the plugin with a reference of the function that finds owners', () => {
  const [listed] = nuxtConfig.autoApi!.plugins as unknown as [{ __factoryCall: () => { name: string, options: [{ findUser: object }] } }]
  const { name, options: [{ findUser: reference }] } = listed.__factoryCall()
  expect([name, reference]).toEqual(['webhooks', { __moduleImport: true, path: '~~/server/users', name: 'findUser' }])
})

it('a change is sent, and both examples of a receiver accept it, once', async () => {
  const { secret } = await make()
  await api.as('ann').post('/posts', { title: 'Hello' })
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1))
  const [{ body, headers }] = receiver.received as [Receiver['received'][number]]
  vi.stubEnv('WEBHOOK_SECRET', secret)
  const sent = headers as Record<string, string>
  expect(receive(body, sent)).toMatchObject({ type: 'posts.created', data: { resource: 'posts', id: '1', record: { id: 1, title: 'Hello' } } })

  const info = vi.spyOn(console, 'info').mockImplementation(() => {})
  const handle = toWebHandler(createApp().use(orders))
  const post = (text: string) => handle(new Request('http://app.test/api/orders', { method: 'POST', body: text, headers: sent }))
  for (const _ of [1, 2]) expect(await (await post(body)).json()).toEqual({ received: sent['webhook-id'] })
  expect(info.mock.calls).toEqual([['posts.created', '1']])
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const forged = await post(body.replace('Hello', 'Other'))
  expect([forged.status, await forged.json()]).toMatchObject([401, { data: { code: 'INVALID_SIGNATURE' } }])
})

it('a table without a trash has the events of the page', async () => {
  await make()
  await api.as('ann').post('/posts', { title: 'Hello' })
  await api.as('ann').patch('/posts/1', { title: 'Bye' })
  await api.as('ann').delete('/posts/1')
  await vi.waitFor(() => expect(receiver.received.map(({ payload }) => payload.type)).toEqual(['posts.created', 'posts.updated', 'posts.deleted']))
  expect(receiver.received.at(-1)!.payload.data).toEqual({ resource: 'posts', id: '1' })
})

it('a banned owner pauses the webhook', async () => {
  const { id } = await make()
  users.get('ann')!.banned = true
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  await api.as('ann').post('/posts', { title: 'Hello' })
  await vi.waitFor(async () => {
    const { body } = await api.as('ann').get<object>(`/webhooks/${id}`)
    expect(body).toMatchObject({ active: false, pausedReason: 'revoked' })
  })
  expect(warn).toHaveBeenCalledOnce()
  expect(receiver.received).toEqual([])
})
