/** Makes, lists, changes, rotates and revokes tokens over the generated routes. */
import { crc32 } from 'node:zlib'
import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openTokenApi, type TokenApi, type TokenApiOptions } from '../../support/api-tokens'

const FORM = /^aat_[0-9A-Za-z]{49}$/
const DAY = 86_400_000

let api: TokenApi
afterEach(async () => {
  vi.useRealTimers()
  await api?.close()
  vi.restoreAllMocks()
})
const open = async (options?: TokenApiOptions) => (api = await openTokenApi(options))
const rowOf = (id: string) => api.client.prepare('select * from api_tokens where id = ?').get(id) as Record<string, unknown>
const asUser = (id: number, method: string, path: string, body?: unknown) =>
  api.server.request(method, path, { caller: api.session(id), body })

describe('a new token', () => {
  it('is returned once, with its record, and only its hash is stored', async () => {
    await open()
    const { status, body, headers } = await asUser(1, 'POST', '/api/apiTokens', { name: 'deploy', scopes: ['posts:read'] })
    expect(status).toBe(201)
    const { token, ...record } = body
    expect(token).toMatch(FORM)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(record).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      name: 'deploy',
      userId: '1',
      organizationId: '1',
      scopes: ['posts:read'],
      start: token.slice(0, 8),
      expiresAt: expect.any(String),
      lastUsedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      deletedAt: null,
      deletedBy: null,
      deletionId: null,
    })
    expect(Math.abs(Date.parse(record.expiresAt) - Date.now() - 90 * DAY)).toBeLessThan(5000)
    expect(rowOf(record.id).token_hash).toBe(createHash('sha256').update(token).digest('hex'))
    expect(JSON.stringify(rowOf(record.id))).not.toContain(token.slice(8))
    for (const path of ['/api/apiTokens', `/api/apiTokens/${record.id}`]) {
      const { text } = await asUser(1, 'GET', path)
      expect(text).toContain(record.id)
      expect(text).not.toContain(token)
      expect(text).not.toMatch(/hash|previous/i)
    }
  })

  it('has 256 random bits and the CRC32 of everything before', async () => {
    await open()
    const tokens = await Promise.all(Array.from({ length: 20 }, async () => (await api.make(1)).token))
    expect(new Set(tokens).size).toBe(20)
    for (const token of tokens) {
      const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
      const checksum = [...token.slice(-6)].reduce((number, character) => number * 62 + alphabet.indexOf(character), 0)
      expect(checksum).toBe(crc32(token.slice(0, -6)))
    }
  })

  it('belongs to its maker and the active organization, whatever the body says', async () => {
    await open()
    const made = await api.make(1, {
      userId: '3',
      organizationId: '2',
      tokenHash: 'x',
      previousHash: 'y',
      start: 'aat_zzzz',
      lastUsedAt: '2020-01-01T00:00:00Z',
      createdAt: '2020-01-01T00:00:00Z',
      id: 'mine',
    })
    expect(made).toMatchObject({ userId: '1', organizationId: '1', start: made.token.slice(0, 8), lastUsedAt: null })
    expect(made.id).not.toBe('mine')
    expect(Date.parse(made.createdAt as string)).toBeGreaterThan(Date.now() - 60_000)
    expect((await api.ask(made.token, 'GET', '/api/posts')).body.meta.total).toBe(2)
  })

  it('cannot be made by an anonymous caller, even if the permission lets everybody', async () => {
    await open({ auth: { apiTokens: { permissions: { create: true, read: true } } } })
    const { status } = await api.server.request('POST', '/api/apiTokens', { body: { name: 'x' }, caller: { tenantId: 1 } })
    expect(status).toBe(401)
    expect((await api.server.request('GET', '/api/apiTokens', { caller: { tenantId: 1 } })).body).toMatchObject({
      data: [],
      meta: { total: 0 },
    })
  })

  it('can be made in bulk, each with its own secret', async () => {
    await open()
    const { body } = await asUser(1, 'POST', '/api/apiTokens/bulk', { items: [{ name: 'one' }, { name: 'two' }] })
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['one', 'two'])
    for (const { token, id } of body.data) expect(rowOf(id).token_hash).toBe(createHash('sha256').update(token).digest('hex'))
  })

  it.each<[string, object, number, string]>([
    ['a scope of another user', { scopes: ['posts.delete'] }, 403, 'FORBIDDEN'],
    ['an operation that the maker lacks', { scopes: ['users:read'] }, 403, 'FORBIDDEN'],
    ['an unknown resource', { scopes: ['nothing:read'] }, 403, 'FORBIDDEN'],
    ['every permission', { scopes: ['*'] }, 400, 'VALIDATION_FAILED'],
    ['scopes that are no list', { scopes: 'posts:read' }, 400, 'VALIDATION_FAILED'],
    ['a scope with a space', { scopes: ['posts:read posts.write'] }, 400, 'VALIDATION_FAILED'],
    ['a scope that is no text', { scopes: [1] }, 400, 'VALIDATION_FAILED'],
    ['too many scopes', { scopes: Array.from({ length: 101 }, (_, index) => `a${index}`) }, 400, 'VALIDATION_FAILED'],
    ['a scope that is too long', { scopes: ['x'.repeat(129)] }, 400, 'VALIDATION_FAILED'],
    ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00Z' }, 400, 'VALIDATION_FAILED'],
    ['an expiry beyond maxDays', { expiresAt: new Date(Date.now() + 367 * DAY).toISOString() }, 400, 'VALIDATION_FAILED'],
    ['no expiry', { expiresAt: null }, 400, 'VALIDATION_FAILED'],
    ['an expiry that is no time', { expiresAt: 'tomorrow' }, 400, 'VALIDATION_FAILED'],
    ['no name', { name: undefined }, 400, 'VALIDATION_FAILED'],
    ['a long name', { name: 'x'.repeat(101) }, 400, 'VALIDATION_FAILED'],
  ])('is refused with %s', async (_what, body, status, code) => {
    await open()
    const answer = await asUser(1, 'POST', '/api/apiTokens', { name: 'x', ...body })
    expect({ status: answer.status, code: answer.body.data?.code }).toEqual({ status, code })
    expect(api.client.prepare('select count(*) as count from api_tokens').get()).toEqual({ count: 0 })
  })

  it('can have every scope that its maker has: operations, permissions and roles', async () => {
    await open()
    const scopes = ['posts:read', 'posts:delete', 'posts.write', 'editor', 'notes:create', 'apiTokens:read']
    expect((await api.make(1, { scopes })).scopes).toEqual(scopes)
    expect((await api.make(1, { scopes: ['tokens', 'tokens'] })).scopes).toEqual(['tokens'])
  })

  it('can be valid forever only with allowNoExpiry', async () => {
    await open({ options: { allowNoExpiry: true, maxDays: 30 } })
    expect((await api.make(1, { expiresAt: null })).expiresAt).toBeNull()
    const made = await api.make(1)
    expect(Math.abs(Date.parse(made.expiresAt as string) - Date.now() - 30 * DAY)).toBeLessThan(5000)
  })
})

describe('the tokens that a caller sees', () => {
  it('are its own in the active organization', async () => {
    await open()
    const mine = await api.make(1)
    const others = [await api.make(2), await api.make(3)]
    expect((await asUser(1, 'GET', '/api/apiTokens')).body.data.map(({ id }: { id: string }) => id)).toEqual([mine.id])
    for (const { id } of others)
      for (const [method, path, body] of [
        ['GET', ''],
        ['PATCH', '', { name: 'x' }],
        ['DELETE', ''],
        ['POST', '/rotate'],
      ] as const)
        expect({ method, status: (await asUser(1, method, `/api/apiTokens/${id}${path}`, body)).status }).toEqual({ method, status: 404 })
    api.client.exec('update users set organization_id = 2 where id = 1')
    expect((await asUser(1, 'GET', '/api/apiTokens')).body.data).toEqual([])
  })

  it('are all of the organization for a manager, who can only see and delete them', async () => {
    await open({ options: { manage: 'admin' } })
    const [own, other, foreign] = [await api.make(4), await api.make(2), await api.make(3)]
    const ids = (await asUser(4, 'GET', '/api/apiTokens')).body.data.map(({ id }: { id: string }) => id)
    expect(ids.sort()).toEqual([own.id, other.id].sort())
    expect((await asUser(4, 'GET', `/api/apiTokens/${foreign.id}`)).status).toBe(404)
    expect((await asUser(4, 'PATCH', `/api/apiTokens/${other.id}`, { name: 'x' })).status).toBe(404)
    expect((await asUser(4, 'POST', `/api/apiTokens/${other.id}/rotate`)).status).toBe(404)
    expect((await asUser(4, 'DELETE', `/api/apiTokens/${other.id}`)).status).toBe(200)
    expect((await api.ask(other.token, 'GET', '/api/notes')).status).toBe(401)
    expect((await asUser(1, 'GET', '/api/apiTokens')).body.data).toEqual([])
  })
})

describe('a change', () => {
  it('sets the name, fewer scopes and the expiry, and does not change the owner of the token', async () => {
    await open()
    const { id } = await api.make(1, { scopes: ['posts:read', 'editor'] })
    const expiresAt = new Date(Date.now() + DAY).toISOString()
    const { status, body } = await asUser(1, 'PATCH', `/api/apiTokens/${id}`, {
      name: 'renamed',
      scopes: ['posts:read'],
      expiresAt,
      userId: '3',
      organizationId: '2',
      tokenHash: 'x',
    })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { name: 'renamed', scopes: ['posts:read'], expiresAt, userId: '1', organizationId: '1' },
    })
    expect(body.token).toBeUndefined()
  })

  it.each([
    ['a further scope', { scopes: ['posts:read', 'editor', 'posts.write'] }, 403],
    ['no scopes', { scopes: null }, 403],
    ['an expiry beyond maxDays', { expiresAt: new Date(Date.now() + 400 * DAY).toISOString() }, 400],
    ['no expiry', { expiresAt: null }, 400],
  ])('cannot give %s', async (_what, body, status) => {
    await open()
    const { id } = await api.make(1, { scopes: ['posts:read', 'editor'] })
    expect((await asUser(1, 'PATCH', `/api/apiTokens/${id}`, body)).status).toBe(status)
    expect(rowOf(id).scopes).toBe('["posts:read","editor"]')
  })

  it('can say again that a token has no scopes', async () => {
    await open()
    const { id } = await api.make(1)
    const { status, body } = await asUser(1, 'PATCH', `/api/apiTokens/${id}`, { scopes: null, name: 'renamed' })
    expect([status, body.scopes, body.name]).toEqual([200, null, 'renamed'])
  })

  it('gives a token without scopes only scopes that the caller has', async () => {
    await open()
    const { id } = await api.make(1)
    expect((await asUser(1, 'PATCH', `/api/apiTokens/${id}`, { scopes: ['users:read'] })).status).toBe(403)
    expect((await asUser(1, 'PATCH', `/api/apiTokens/${id}`, { scopes: ['editor'] })).body.scopes).toEqual(['editor'])
  })

  it('narrows even if the owner has lost what stays', async () => {
    await open()
    const { id } = await api.make(1, { scopes: ['posts.write', 'posts:read'] })
    api.client.exec('update users set permissions = \'["tokens"]\' where id = 1')
    expect((await asUser(1, 'PATCH', `/api/apiTokens/${id}`, { scopes: ['posts.write'] })).body.scopes).toEqual(['posts.write'])
  })

  it('does not make an expired token valid again', async () => {
    await open()
    const { id } = await api.make(1)
    api.client.prepare('update api_tokens set expires_at = ? where id = ?').run(Date.now() - 1, id)
    const expiresAt = new Date(Date.now() + DAY).toISOString()
    expect((await asUser(1, 'PATCH', `/api/apiTokens/${id}`, { expiresAt })).status).toBe(409)
    expect((await asUser(1, 'POST', `/api/apiTokens/${id}/rotate`)).status).toBe(409)
    expect((await asUser(1, 'PATCH', `/api/apiTokens/${id}`, { name: 'old' })).status).toBe(200)
  })

  it('of two at the same time leaves no scope that either of them removed', async () => {
    await open()
    const { id } = await api.make(1, { scopes: ['posts:read', 'editor'] })
    const answers = await Promise.all([['posts:read'], ['editor']].map(scopes => asUser(1, 'PATCH', `/api/apiTokens/${id}`, { scopes })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
  })

  it.each([
    ['in the millisecond of the last change', 0],
    ['by a server whose clock is behind', 5000],
  ])('of two at the same time succeeds once, %s', async (_when, behind) => {
    await open()
    const { id } = await api.make(1, { scopes: ['posts:read', 'editor'] })
    const now = Date.now()
    api.client.prepare('update api_tokens set updated_at = ? where id = ?').run(now + behind, id)
    vi.useFakeTimers({ toFake: ['Date'], now })
    const answers = await Promise.all([['posts:read'], ['editor']].map(scopes => asUser(1, 'PATCH', `/api/apiTokens/${id}`, { scopes })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
    expect(rowOf(id).updated_at).toBe(now + behind + 1)
  })

  it('of a token that is deleted meanwhile finds no token', async () => {
    let row = ''
    await open({ auth: { apiTokens: { permissions: { create: 'tokens', update: 'tokens' }, objectLevel: () => {
      api.client.prepare('delete from api_tokens where id = ?').run(row)
      return true
    } } } })
    row = (await api.make(1)).id
    expect((await asUser(1, 'PATCH', `/api/apiTokens/${row}`, { name: 'x' })).status).toBe(404)
  })
})

describe('a deleted token', () => {
  it('is revoked, and cannot be restored', async () => {
    await open()
    const { id, token } = await api.make(1)
    expect((await api.ask(token, 'GET', '/api/posts')).status).toBe(200)
    const { body } = await asUser(1, 'DELETE', `/api/apiTokens/${id}`)
    expect((await api.ask(token, 'GET', '/api/posts')).status).toBe(401)
    expect((await asUser(1, 'POST', `/api/apiTokens/${id}/restore`)).status).toBe(409)
    expect((await asUser(1, 'POST', '/api/apiTokens/bulk/restore', { deletionId: body.deletionId })).status).toBe(409)
    expect((await api.ask(token, 'GET', '/api/posts')).status).toBe(401)
  })
})

describe('a rotation', () => {
  it('gives a new secret, and keeps the old one valid for the grace period', async () => {
    await open({ options: { grace: 30 } })
    const { id, token: old } = await api.make(1, { scopes: ['posts:read'] })
    const { status, body, headers } = await asUser(1, 'POST', `/api/apiTokens/${id}/rotate`)
    expect({ status, id: body.id, scopes: body.scopes, cache: headers.get('cache-control') }).toEqual({
      status: 200,
      id,
      scopes: ['posts:read'],
      cache: 'no-store',
    })
    expect(body.token).toMatch(FORM)
    expect(body.start).toBe(body.token.slice(0, 8))
    const statuses = async () => Promise.all([old, body.token].map(async token => (await api.ask(token, 'GET', '/api/posts')).status))
    expect(await statuses()).toEqual([200, 200])
    vi.setSystemTime(Date.now() + 30_001)
    expect(await statuses()).toEqual([401, 200])
  })

  it('without a grace period revokes the old secret at once', async () => {
    await open({ options: { grace: 0 } })
    const { id, token: old } = await api.make(1)
    const { token } = (await asUser(1, 'POST', `/api/apiTokens/${id}/rotate`)).body
    expect(rowOf(id)).toMatchObject({ previous_hash: null, previous_until: null })
    expect([(await api.ask(old, 'GET', '/api/posts')).status, (await api.ask(token, 'GET', '/api/posts')).status]).toEqual([401, 200])
  })

  it('revokes the secret before the last one', async () => {
    await open()
    const { id, token: first } = await api.make(1)
    const { token: second } = (await asUser(1, 'POST', `/api/apiTokens/${id}/rotate`)).body
    const { token: third } = (await asUser(1, 'POST', `/api/apiTokens/${id}/rotate`)).body
    expect(await Promise.all([first, second, third].map(async token => (await api.ask(token, 'GET', '/api/posts')).status))).toEqual([
      401, 200, 200,
    ])
  })

  it('of two at the same time succeeds once', async () => {
    await open()
    const { id } = await api.make(1)
    const answers = await Promise.all([1, 2].map(() => asUser(1, 'POST', `/api/apiTokens/${id}/rotate`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
    const { token } = answers.find(({ status }) => status === 200)!.body
    expect((await api.ask(token, 'GET', '/api/posts')).status).toBe(200)
  })

  it('of an id that no row can have is a 404, and later rotations and changes still work', async () => {
    await open()
    const { id } = await api.make(1)
    for (const invalid of ['%ff', '%00', '%ED%A0%80', '%27', '1,2', 'x'.repeat(5000)])
      expect({ invalid, status: (await asUser(1, 'POST', `/api/apiTokens/${invalid}/rotate`)).status }).toEqual({ invalid, status: 404 })
    expect((await asUser(1, 'PATCH', `/api/apiTokens/${id}`, { name: 'x' })).status).toBe(200)
    expect((await asUser(1, 'POST', `/api/apiTokens/${id}/rotate`)).status).toBe(200)
  })

  it('is not for an old secret, whose thief would get a new one', async () => {
    await open()
    const { id, token: old } = await api.make(1, { scopes: ['apiTokens:update', 'apiTokens:create'] })
    const { token } = (await asUser(1, 'POST', `/api/apiTokens/${id}/rotate`)).body
    expect((await api.ask(old, 'POST', `/api/apiTokens/${id}/rotate`)).status).toBe(403)
    expect((await api.ask(old, 'POST', '/api/apiTokens', { body: { name: 'x', scopes: ['apiTokens:update'] } })).status).toBe(403)
    expect((await api.ask(token, 'POST', `/api/apiTokens/${id}/rotate`)).status).toBe(200)
  })
})

describe('a token that manages tokens', () => {
  it('needs scopes for it: a token without scopes has no route of tokens', async () => {
    await open()
    const { id, token } = await api.make(1)
    for (const [method, path, body] of [
      ['GET', ''],
      ['POST', '', { name: 'x' }],
      ['GET', `/${id}`],
      ['PATCH', `/${id}`, { name: 'x' }],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/rotate`],
      ['GET', '/aggregate?aggregate=count'],
    ] as const)
      expect({ method, path, status: (await api.ask(token, method, `/api/apiTokens${path}`, { body })).status }).toEqual({
        method,
        path,
        status: 403,
      })
    const { permissions } = (await api.ask(token, 'GET', '/api/permissions')).body
    expect(permissions.apiTokens).toMatchObject({ canRead: false, canCreate: false, canUpdate: false, canDelete: false })
    expect(permissions.posts).toMatchObject({ canRead: true, canUpdate: true })
  })

  it('makes only tokens with its own scopes and within its own expiry', async () => {
    await open()
    const expiresAt = new Date(Date.now() + DAY).toISOString()
    const { token } = await api.make(1, { scopes: ['apiTokens:create', 'posts:read'], expiresAt })
    const make = async (body: object) => {
      const answer = await api.ask(token, 'POST', '/api/apiTokens', { body: { name: 'x', ...body } })
      return answer.status === 201 ? answer.body : answer.status
    }
    expect(await make({ scopes: ['posts:read'] })).toMatchObject({ scopes: ['posts:read'], expiresAt })
    expect(await make({ scopes: ['editor'] })).toBe(403)
    expect(await make({ scopes: ['posts:delete'] })).toBe(403)
    expect(await make({})).toBe(403)
    expect(await make({ scopes: null })).toBe(403)
    expect(await make({ scopes: ['posts:read'], expiresAt: new Date(Date.now() + 2 * DAY).toISOString() })).toBe(403)
  })

  it('rotates and prolongs no token that grants more', async () => {
    await open()
    const { id: strong } = await api.make(1)
    const { id: other } = await api.make(1, { scopes: ['editor', 'apiTokens:update'] })
    const { id: own, token } = await api.make(1, { scopes: ['apiTokens:update', 'posts:read'] })
    const rotate = async (id: string) => (await api.ask(token, 'POST', `/api/apiTokens/${id}/rotate`)).status
    expect([await rotate(strong), await rotate(other)]).toEqual([403, 403])
    const soon = new Date(Date.now() + DAY).toISOString()
    expect((await api.ask(token, 'PATCH', `/api/apiTokens/${strong}`, { body: { expiresAt: soon } })).status).toBe(403)
    const longer = new Date(Date.now() + 300 * DAY).toISOString()
    expect((await api.ask(token, 'PATCH', `/api/apiTokens/${own}`, { body: { expiresAt: longer } })).status).toBe(403)
    expect((await api.ask(token, 'PATCH', `/api/apiTokens/${own}`, { body: { expiresAt: soon } })).status).toBe(200)
    expect(await rotate(own)).toBe(200)
  })
})

describe('a credential of another plugin that manages tokens', () => {
  const openWith = async (limits: object) => {
    const user = { id: 1, organizationId: 1, role: 'editor', permissions: ['posts:read', 'posts.write', 'tokens'] }
    const credentials = (request: { header: (name: string) => string | undefined }) =>
      request.header('x-oauth') === undefined ? undefined : { user, tenant: { id: 1 }, id: 'grant', ...limits }
    await open({ plugins: [{ name: 'oauth', credentials }] })
    const statusOf = async (method: string, path: string, body?: object) =>
      (await api.server.request(method, `/api/apiTokens${path}`, { headers: { 'x-oauth': '1' }, body })).status
    return statusOf
  }

  it('makes, rotates and prolongs only tokens within its scopes', async () => {
    const statusOf = await openWith({ scopes: ['apiTokens:create', 'apiTokens:update', 'posts:read'] })
    const { id: strong } = await api.make(1)
    const { id: weak } = await api.make(1, { scopes: ['posts:read'] })
    const expiresAt = new Date(Date.now() + DAY).toISOString()
    expect(await statusOf('POST', '', { name: 'x' })).toBe(403)
    expect(await statusOf('POST', '/bulk', { items: [{ name: 'x' }] })).not.toBe(201)
    expect(await statusOf('POST', '', { name: 'x', scopes: ['editor'] })).toBe(403)
    expect(await statusOf('POST', `/${strong}/rotate`)).toBe(403)
    expect(await statusOf('PATCH', `/${strong}`, { expiresAt })).toBe(403)
    expect(await statusOf('POST', '', { name: 'x', scopes: ['posts:read'] })).toBe(201)
    expect(await statusOf('POST', `/${weak}/rotate`)).toBe(200)
    expect(await statusOf('PATCH', `/${weak}`, { expiresAt })).toBe(200)
  })

  it('makes no tokens if it cannot use some resources, which a token could', async () => {
    const statusOf = await openWith({ excludedResources: ['posts'] })
    expect(await statusOf('POST', '', { name: 'x' })).toBe(403)
    expect(await statusOf('POST', '', { name: 'x', scopes: ['posts.write'] })).toBe(403)
  })

  it('makes only tokens with scopes that it has, if it has fewer permissions or roles than the user', async () => {
    const user = { id: 1, organizationId: 1, role: 'editor', permissions: ['posts:read', 'posts.write', 'tokens'] }
    const permissions = ['posts:read', 'tokens']
    const [fewer, ofUser, otherRole] = [{ permissions }, { user: { ...user, permissions } }, { user: { ...user, role: 'reader' } }]
    for (const limits of [fewer, ofUser, otherRole]) {
      const statusOf = await openWith(limits)
      const { id: strong } = await api.make(1)
      const { id: weak } = await api.make(1, { scopes: ['posts:read'] })
      const expiresAt = new Date(Date.now() + DAY).toISOString()
      const lost = limits === otherRole ? 'editor' : 'posts.write'
      const { id: stronger } = await api.make(1, { scopes: ['posts:read', lost] })
      const statuses = {
        all: await statusOf('POST', '', { name: 'x' }),
        bulk: await statusOf('POST', '/bulk', { items: [{ name: 'x' }, { name: 'y' }] }),
        lost: await statusOf('POST', '', { name: 'x', scopes: [lost] }),
        own: await statusOf('POST', '', { name: 'x', scopes: ['posts:read'] }),
        rotateAll: await statusOf('POST', `/${strong}/rotate`),
        rotateLost: await statusOf('POST', `/${stronger}/rotate`),
        rotateOwn: await statusOf('POST', `/${weak}/rotate`),
        prolongAll: await statusOf('PATCH', `/${strong}`, { expiresAt }),
        prolongOwn: await statusOf('PATCH', `/${weak}`, { expiresAt }),
        rename: await statusOf('PATCH', `/${strong}`, { name: 'y' }),
      }
      expect({ limits, ...statuses }).toEqual({
        limits,
        all: 403,
        bulk: 403,
        lost: 403,
        own: 201,
        rotateAll: 403,
        rotateLost: 403,
        rotateOwn: 200,
        prolongAll: 403,
        prolongOwn: 200,
        rename: 200,
      })
    }
  })

  it('makes every token without limits', async () => {
    const statusOf = await openWith({})
    expect(await statusOf('POST', '', { name: 'x' })).toBe(201)
  })
})

describe('the table', () => {
  it('without the columns of the preset fails at startup, with their names', async () => {
    const { integer, sqliteTable } = await import('drizzle-orm/sqlite-core')
    const bare = sqliteTable('bare', { id: integer('id').primaryKey() })
    await expect(open({ options: { resource: 'bare' }, registrations: [{ name: 'bare', schema: bare }] })).rejects.toThrow(
      /has no column `name`, `userId`.*Make the table with `apiTokensTable\(\)`/,
    )
    await expect(open({ options: { resource: 'tokens' } })).rejects.toThrow('`tokens`')
  })

  it.each(['tokenHash', 'previousHash', 'previousUntil'] as const)('whose column %s is not hidden fails at startup', async (column) => {
    const { integer, sqliteTable, text } = await import('drizzle-orm/sqlite-core')
    const { apiTokensColumns } = await import('../../../src/runtime/plugins/schema-sqlite')
    const shown = {
      tokenHash: text('token_hash'),
      previousHash: text('previous_hash'),
      previousUntil: integer('previous_until', { mode: 'timestamp_ms' }),
    }[column]
    const table = sqliteTable('shown', { ...apiTokensColumns(), [column]: shown })
    await expect(open({ options: { resource: 'shown' }, registrations: [{ name: 'shown', schema: table }] })).rejects.toThrow(
      `shows the secret columns \`${column}\`. Make the table with`,
    )
  })

  it('with another primary key fails at startup', async () => {
    const { sqliteTable, text } = await import('drizzle-orm/sqlite-core')
    const { apiTokensColumns } = await import('../../../src/runtime/plugins/schema-sqlite')
    const table = sqliteTable('other', { ...apiTokensColumns(), id: text('id').notNull(), code: text('code').primaryKey() })
    await expect(open({ options: { resource: 'other' }, registrations: [{ name: 'other', schema: table }] })).rejects.toThrow(
      'does not have the primary key `id`. Make the table with',
    )
  })
})
