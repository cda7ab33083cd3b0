/** Introspection of tokens (RFC 7662): for whom, what it shows, and that everything else looks the same. */
import { afterEach, expect, it } from 'vitest'
import { tokenIntrospection } from '../../../src/runtime/plugins'
import { createTokenFormat } from '../../../src/runtime/plugins/api-tokens/server/format'
import { openTokenApi, type TokenApi, type TokenApiOptions } from '../../support/api-tokens'

let api: TokenApi
afterEach(() => api?.close())
const open = async ({ plugins = [tokenIntrospection()], ...options }: TokenApiOptions = {}) =>
  (api = await openTokenApi({ plugins, ...options }))
const introspect = (userId: number | undefined, token: unknown) =>
  api.server.request('POST', '/api/tokens/introspect', { body: { token }, caller: userId === undefined ? {} : api.session(userId) })

it('shows the owner what a token can do now', async () => {
  await open()
  const { id, token, createdAt, expiresAt } = await api.make(1, { scopes: ['posts:read', 'posts.write', 'editor', 'posts:delete'] })
  const { status, body, headers } = await introspect(1, token)
  expect({ status, cache: headers.get('cache-control') }).toEqual({ status: 200, cache: 'no-store' })
  const seconds = (time: unknown) => Math.floor(Date.parse(time as string) / 1000)
  const active = { active: true, token_type: 'Bearer', sub: '1', iat: seconds(createdAt), exp: seconds(expiresAt), jti: id, tenant: '1' }
  expect(body).toEqual({ ...active, scope: 'posts:read posts.write editor posts:delete' })
  api.client.exec('update users set permissions = \'["posts:read"]\', role = \'none\' where id = 1')
  expect((await introspect(1, token)).body).toEqual({ ...active, scope: 'posts:read' })
})

it('shows the operations of a token without scopes', async () => {
  await open()
  const { token } = await api.make(2)
  const { body } = await introspect(2, token)
  expect(body.scope.split(' ')).toEqual([
    'posts:read',
    'posts:update',
    'posts:aggregate',
    'posts:restore',
    'posts:viewDeleted',
    'notes:read',
    'notes:create',
    'notes:update',
    'notes:aggregate',
    'notes:restore',
    'notes:viewDeleted',
  ])
})

it('never shows every permission as a scope, whatever the row contains', async () => {
  await open()
  const { id, token } = await api.make(4, { scopes: ['posts:read'] })
  api.client.prepare('update api_tokens set scopes = ? where id = ?').run('["*","posts:read"]', id)
  expect((await introspect(4, token)).body).toMatchObject({ active: true, scope: 'posts:read' })
})

it('accepts a form', async () => {
  await open()
  const { id, token } = await api.make(1)
  const { body } = await api.server.request('POST', '/api/tokens/introspect', {
    raw: `token=${token}&token_type_hint=access_token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    caller: api.session(1),
  })
  expect(body).toMatchObject({ active: true, jti: id })
})

it('answers the same bytes for everything else', async () => {
  await open()
  const [other, foreign, revoked, expired, own] = [
    await api.make(2),
    await api.make(3),
    await api.make(1),
    await api.make(1),
    await api.make(1),
  ]
  await api.server.request('DELETE', `/api/apiTokens/${revoked.id}`, { caller: api.session(1) })
  api.client.exec(`update api_tokens set expires_at = 1 where id = '${expired.id}'`)
  const answers = []
  for (const token of [
    other.token,
    foreign.token,
    revoked.token,
    expired.token,
    createTokenFormat('aat').create(),
    `${own.token}x`,
    'aat_',
    'x',
    'Bearer',
    '\u0000',
  ]) {
    const { status, text, headers } = await introspect(1, token)
    answers.push({ status, text, headers: Object.fromEntries([...headers].filter(([name]) => name !== 'date')) })
  }
  expect(answers[0]).toMatchObject({ status: 200, text: '{"active":false}' })
  for (const answer of answers) expect(answer).toEqual(answers[0])
})

it('shows the tokens of the organization to a manager', async () => {
  await open({ options: { manage: 'admin' } })
  const [other, foreign] = [await api.make(2), await api.make(3)]
  expect((await introspect(4, other.token)).body).toMatchObject({ active: true, sub: '2' })
  expect((await introspect(4, foreign.token)).body).toEqual({ active: false })
})

it('is for signed-in callers, and for tokens with the scope', async () => {
  await open()
  const [own, reader] = [await api.make(1), await api.make(1, { scopes: ['apiTokens:read'] })]
  expect((await introspect(undefined, own.token)).status).toBe(401)
  const statusOf = async (token: string) => (await api.ask(token, 'POST', '/api/tokens/introspect', { body: { token: own.token } })).status
  expect(await statusOf(own.token)).toBe(403)
  expect(await statusOf((await api.make(1, { scopes: ['posts:read'] })).token)).toBe(403)
  expect(await statusOf(reader.token)).toBe(200)
})

it.each([undefined, 1, '', ['aat_x'], {}, null])('refuses the token %j', async (token) => {
  await open()
  expect((await introspect(1, token)).status).toBe(400)
})

it('is limited per user', async () => {
  await open({ plugins: [tokenIntrospection({ limit: 2, window: 60 })] })
  const statuses = []
  for (const user of [1, 1, 1, 2]) statuses.push((await introspect(user, 'x')).status)
  expect(statuses).toEqual([200, 200, 429, 200])
})

it('fails at startup without the plugin apiTokens, and not because of the order', async () => {
  const { createServer } = await import('../../support/server')
  const { drizzle } = await import('drizzle-orm/better-sqlite3')
  const { notes } = await import('../../support/api-tokens')
  await open()
  const server = await createServer({
    db: drizzle({ client: api.client }),
    registrations: [{ name: 'notes', schema: notes }],
    plugins: [tokenIntrospection()],
  })
  expect((await server.request('GET', '/api/notes')).status).toBe(500)
})
