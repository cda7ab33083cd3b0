/** Streams of API tokens: a token that is revoked ends its stream, and nobody continues without the credential that failed. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { live } from '../../../src/runtime/plugins'
import { openTokenApi, type TokenApi } from '../../support/api-tokens'
import { idle, pass, settle, startClock, stopClock } from './clock'
import { listen, type Listener } from './feed'

let api: TokenApi
const open: Listener[] = []
beforeEach(async () => {
  stopClock()
  api = await openTokenApi({ plugins: [live({ recheck: 10 })] })
})
afterEach(async () => {
  for (const stream of open.splice(0)) stream.close()
  await idle()
  startClock()
  await api.close()
})

const follow = async (token: string, resources = 'posts', user?: number) => {
  const stream = await listen(api.server, resources, user === undefined ? {} : api.session(user), { authorization: `Bearer ${token}` })
  open.push(stream)
  await idle()
  return stream
}
const signals = async ({ events }: Listener) => {
  await settle()
  return events.slice(1).map(({ event, data }) => [event, ...Object.values(data)].join(' '))
}

it('names the records of the tenant and the scopes of the token', async () => {
  const { token } = await api.make(1, { scopes: ['posts:read'] })
  const stream = await follow(token)
  for (const [id, user] of [[1, 1], [3, 3]] as const)
    expect((await api.server.request('PATCH', `/api/posts/${id}`, { body: { title: 'new' }, caller: api.session(user) })).status).toBe(200)
  expect(await signals(stream)).toEqual(['changed posts 1'])
  expect((await follow(token, 'posts,apiTokens')).status).toBe(403)
})

it.each([
  ['is revoked', ['posts', 'notes'], async ({ id }: { id: string }) =>
    api.server.request('DELETE', `/api/apiTokens/${id}`, { caller: api.session(1) })],
  ['has an owner who is banned', ['posts', 'notes'], async () => api.client.exec('update users set banned = 1 where id = 1')],
  ['has an owner who has lost the permission', ['posts'], async () =>
    api.client.exec('update users set permissions = \'["tokens"]\' where id = 1')],
])('ends the stream of a token that %s, also beside a session: %j', async (_, resources, change) => {
  const made = await api.make(1)
  const streams: Listener[] = []
  for (const name of resources) streams.push(await follow(made.token, name), await follow(made.token, name, 1))
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
  await change(made)
  await pass(20_000)
  // The hash of a token is made in another thread.
  for (let turn = 0; turn < 1000 && streams.some(({ ended }) => !ended()); turn++) await idle()
  const ends = streams.map(({ events }) => events.slice(1).map(({ event, data }) => [event, data.reason].join(' ')))
  expect(ends).toEqual(streams.map(() => ['end unauthorized']))
})
