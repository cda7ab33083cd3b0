/** The owner of a token: its id, its organization and its rights, as `findUser` returns them. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiContext, AutoApiPlugin } from '../../../src/runtime/server/define'
import { openApi, requestMetadata, responseCache } from '../../../src/runtime/plugins'
import { readFeatures } from '../../../src/runtime/server/plugin/features'
import type { FindUser } from '../../../src/runtime/server/plugin/owner'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { Caller } from '../../support/server'
import { openTokenApi, type TokenApi, type TokenApiOptions } from '../../support/api-tokens'

let api: TokenApi
afterEach(async () => {
  vi.restoreAllMocks()
  await api?.close()
})
const open = async (options?: TokenApiOptions) => (api = await openTokenApi(options))
const mirror: AutoApiPlugin = {
  name: 'mirror',
  routes: [{ method: 'GET', path: '/whoami', handler: ({ user, tenant }: AutoApiContext) => ({ user, tenant: tenant ?? 'none' }) }],
}
const make = (caller: Caller, body: object = {}) => api.server.request('POST', '/api/apiTokens', { caller, body: { name: 'x', ...body } })
const columns = () => api.client.prepare('select user_id, organization_id from api_tokens').all()
/** An app in which a user without an organization can have tokens. */
const UNSCOPED = { multiTenancy: { ...DEFAULT_MULTI_TENANCY, excludedResources: ['apiTokens'] } }
const TENANT = { id: 1, canAccessAllTenants: false }

describe('the header `Authorization`', () => {
  it.each(['Basic YTpi', 'Bearer abc', 'bearer', 'Digest x'])('without a token of this API is not refused: %s', async (authorization) => {
    await open({ plugins: [mirror] })
    const { status, body } = await api.server.request('GET', '/api/whoami', { headers: { authorization }, caller: api.session(1) })
    expect([status, body.user.id]).toEqual([200, 1])
  })

  it('with a token after another scheme is refused', async () => {
    await open({ plugins: [mirror] })
    const { token } = await api.make(1)
    for (const authorization of [`Token bearer ${token}`, `xbearer ${token}`, `Basic a, bearer ${token}`])
      expect((await api.server.request('GET', '/api/whoami', { headers: { authorization }, caller: api.session(1) })).body.data?.code).toBe(
        'INVALID_TOKEN',
      )
  })
})

describe('findUser', () => {
  it('gets the id of the owner, the organization of the token and the event of the request', async () => {
    const findUser = vi.fn<FindUser>(() => ({ id: 1, organizationId: 1 }))
    await open({ plugins: [mirror], options: { findUser } })
    const { token } = await api.make(1)
    findUser.mockClear()
    expect((await api.ask(token, 'GET', '/api/whoami')).status).toBe(200)
    expect(findUser.mock.calls).toEqual([['1', { event: expect.objectContaining({ context: expect.anything() }), tenantId: '1' }]])
  })

  it.each([null, undefined])('that returns %s makes the token invalid, without a line in the log', async (found) => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    await open({ options: { findUser: () => found as null } })
    const { token } = await api.make(1)
    expect((await api.ask(token, 'GET', '/api/posts')).body.data.code).toBe('INVALID_TOKEN')
    expect(logged).not.toHaveBeenCalled()
  })

  it('that returns another user is logged with the id of the request', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    await open({ plugins: [requestMetadata()], options: { findUser: () => ({ id: 4 }) } })
    const { token } = await api.make(1)
    const { headers } = await api.ask(token, 'GET', '/api/posts')
    expect(logged.mock.calls.flat().join()).toContain(`requestId=${headers.get('x-request-id')}`)
  })
})

describe('the organization of a token', () => {
  it('is that of the request, in the type that the app uses', async () => {
    await open({ plugins: [mirror] })
    expect((await api.ask((await api.make(1)).token, 'GET', '/api/whoami')).body.tenant).toEqual(TENANT)
  })

  it.each([undefined, null])('is the tenant if `findUser` returns a user whose organization is %s', async (organizationId) => {
    await open({ plugins: [mirror], options: { findUser: () => ({ id: 1, organizationId }) } })
    const { token } = await api.make(1)
    const { status, body } = await api.ask(token, 'GET', '/api/whoami')
    expect([status, body.tenant]).toEqual([200, { ...TENANT, id: '1' }])
  })

  it('stays none for a token that was made without one', async () => {
    await open({ plugins: [mirror], config: UNSCOPED })
    const { token } = (await make({ user: { id: 1 }, permissions: ['tokens'] })).body
    expect(columns()).toEqual([{ user_id: '1', organization_id: null }])
    // The owner is in an organization now.
    const { status, body } = await api.ask(token, 'GET', '/api/whoami')
    expect([status, body.user.organizationId, body.tenant]).toEqual([200, 1, { id: null, canAccessAllTenants: false }])
    expect((await api.ask(token, 'GET', '/api/posts')).body.data.code).toBe('TENANT_REQUIRED')
  })

  it.each([{ id: null }, undefined])('is none if the tenant of the maker is %j', async (tenant) => {
    const credentials = ({ header }: { header: (name: string) => string | undefined }) =>
      header('x-oauth') === undefined ? undefined : { user: { id: 1, permissions: ['tokens'] }, tenant, scopes: ['apiTokens:create'] }
    await open({ plugins: [{ name: 'oauth', credentials }], config: UNSCOPED })
    expect(
      (
        await api.server.request('POST', '/api/apiTokens', {
          headers: { 'x-oauth': '1' },
          body: { name: 'x', scopes: ['apiTokens:create'] },
        })
      ).status,
    ).toBe(201)
    expect(columns()).toEqual([{ user_id: '1', organization_id: null }])
  })

  it('is none in an app without tenants', async () => {
    await open({ plugins: [mirror], config: { multiTenancy: false } })
    const { token } = await api.make(1)
    expect(columns()).toEqual([{ user_id: '1', organization_id: null }])
    const { status, body } = await api.ask(token, 'GET', '/api/whoami')
    expect([status, body.tenant]).toEqual([200, 'none'])
    expect((await api.ask(token, 'GET', '/api/posts')).body.meta.total).toBe(3)
  })
})

describe('the id of the owner', () => {
  const callerWith = (id: unknown): Caller => ({ user: { id, organizationId: 1 }, permissions: ['tokens'] })

  it.each<[unknown, string]>([
    [7, '7'],
    [0, '0'],
    ['u7', 'u7'],
    [12345678901234567890n, '12345678901234567890'],
  ])('%s is stored as text', async (id, text) => {
    await open()
    expect((await make(callerWith(id))).status).toBe(201)
    expect(columns()).toEqual([{ user_id: text, organization_id: '1' }])
    expect((await api.server.request('GET', '/api/apiTokens', { caller: callerWith(id) })).body.meta.total).toBe(1)
  })

  it.each([undefined, null, '', {}, true])('%j makes no token', async (id) => {
    await open()
    expect((await make(callerWith(id))).status).toBe(403)
    expect(columns()).toEqual([])
  })
})

describe('a token of another user', () => {
  it.each([[2, 'of another user'], [3, 'of another organization']])('%i: is not found by a rotation, expired or not', async (owner) => {
    await open()
    const { id } = await api.make(owner)
    const rotate = async () => (await api.server.request('POST', `/api/apiTokens/${id}/rotate`, { caller: api.session(1) })).status
    expect(await rotate()).toBe(404)
    api.client.exec('update api_tokens set expires_at = 1')
    expect(await rotate()).toBe(404)
  })

  it('is not found in another organization of the same user either', async () => {
    await open()
    const { id } = await api.make(1)
    api.client.exec('update api_tokens set expires_at = 1; update users set organization_id = 2 where id = 1')
    expect((await api.server.request('POST', `/api/apiTokens/${id}/rotate`, { caller: api.session(1) })).status).toBe(404)
  })
})

describe('a manager', () => {
  const seen = async (caller: Caller) => (await api.server.request('GET', '/api/apiTokens', { caller })).body.meta.total as number
  const callerWith = (permissions: string[], user: object = {}): Caller => ({
    user: { id: 4, organizationId: 1, ...user },
    permissions: ['tokens', ...permissions],
  })

  it('has the permission or the role of the option `manage`, or every permission', async () => {
    await open({ options: { manage: 'support' } })
    await api.make(1)
    const [permission, role, roles, star] = [
      callerWith(['support']),
      callerWith([], { role: 'support' }),
      callerWith([], { roles: ['a', 'support'] }),
      callerWith(['*']),
    ]
    expect([await seen(permission), await seen(role), await seen(roles), await seen(star)]).toEqual([1, 1, 1, 1])
    expect([await seen(callerWith([])), await seen(callerWith(['other'], { role: 'other' }))]).toEqual([0, 0])
  })

  it('does not exist without the option, also for a caller with every permission', async () => {
    await open()
    await api.make(1)
    expect([await seen(callerWith(['*'])), await seen(callerWith(['undefined'], { role: undefined }))]).toEqual([0, 0])
  })
})

describe('a credential of another plugin', () => {
  const USER = { id: 1, organizationId: 1, role: 'editor', permissions: ['posts:read', 'posts.write', 'tokens'] }
  const openWith = async (caller: object, findUser?: FindUser) => {
    const credentials = ({ header }: { header: (name: string) => string | undefined }) =>
      header('x-oauth') === undefined ? undefined : { user: USER, tenant: { id: 1 }, id: 'grant', ...caller }
    await open({ plugins: [{ name: 'oauth', credentials }], ...findUser && { options: { findUser } } })
    return (path: string, body: object) => api.server.request('POST', `/api/apiTokens${path}`, { headers: { 'x-oauth': '1' }, body })
  }

  it('is compared with the owner once per request, in its organization', async () => {
    const findUser = vi.fn<FindUser>(() => USER)
    const post = await openWith({}, findUser)
    expect((await post('/bulk', { items: [{ name: 'one' }, { name: 'two' }, { name: 'three' }] })).status).toBe(200)
    expect(findUser.mock.calls).toEqual([['1', { event: expect.anything(), tenantId: '1' }]])
  })

  it('with every permission makes every token, and the owner is not asked for', async () => {
    const findUser = vi.fn<FindUser>(() => USER)
    const post = await openWith({ permissions: ['*'] }, findUser)
    expect((await post('', { name: 'x' })).status).toBe(201)
    expect(findUser).not.toHaveBeenCalled()
  })

  it('whose owner is not found makes only tokens with scopes that it has', async () => {
    const post = await openWith({}, () => null)
    const refused = await post('', { name: 'x' })
    expect([refused.status, refused.body.message, refused.body.data]).toEqual([
      403,
      'This credential can only make tokens with scopes.',
      { code: 'FORBIDDEN', scopes: [] },
    ])
    expect((await post('', { name: 'x', scopes: ['posts:read'] })).status).toBe(201)
  })

  it.each<[string, object, object, number]>([
    ['one of two roles of the owner', { role: 'editor', roles: ['admin'] }, { role: 'editor' }, 403],
    ['all roles of the owner', { role: 'editor', roles: ['admin'] }, { role: 'admin', roles: ['editor'] }, 201],
    ['a role, if the owner has none', { role: undefined }, { role: 'editor' }, 201],
    ['no role, if the owner has none', { role: undefined }, { role: undefined }, 201],
    ['all permissions of the owner and more', {}, { permissions: [...USER.permissions, 'more'] }, 201],
    ['one permission of the owner', {}, { permissions: ['tokens'] }, 403],
  ])('with %s can make a token without scopes, or not', async (_what, owner, user, status) => {
    const post = await openWith({ user: { ...USER, ...user } }, () => ({ ...USER, ...owner }))
    expect((await post('', { name: 'x' })).status).toBe(status)
  })
})

it('the route that rotates a token is documented with its condition, its idempotency and both responses', async () => {
  await open({ plugins: [openApi({ access: true })] })
  const { body } = await api.server.request('GET', '/api/_openapi.json', { caller: api.session(1) })
  const { post } = body.paths['/api/apiTokens/{id}/rotate']
  expect(post).toMatchObject({
    summary: 'Replace the secret of a token',
    description: 'The response is the record, with the new secret once.',
  })
  expect(post.parameters.find(({ name }: { name: string }) => name === 'If-Match')).toMatchObject({
    in: 'header',
    description: 'The entity tag of the record that the write expects.',
  })
  const [record, added] = post.responses['200'].content['application/json'].schema.allOf
  expect(record).toEqual(expect.objectContaining({ $ref: expect.stringContaining('/') }))
  expect(added).toEqual({ type: 'object', properties: { token: { type: 'string' }, tokenAlreadyIssued: { type: 'boolean' } } })
})

describe('other plugins', () => {
  it('can find the resource of the tokens', async () => {
    let found: unknown
    const finder: AutoApiPlugin = { name: 'finder', setup: server => void setImmediate(() => found = readFeatures(server).tokens) }
    await open({ plugins: [finder] })
    await vi.waitFor(() => expect(found).toEqual({ resource: 'apiTokens' }))
  })

  it('store no list of tokens, because the time of the last use is written without a report', async () => {
    await open({ plugins: [responseCache()] })
    await api.make(1)
    const list = async () => (await api.server.request('GET', '/api/apiTokens', { caller: api.session(1) })).headers.get('cache-status')
    expect([await list(), await list()]).toEqual(['auto-api; fwd=miss', 'auto-api; fwd=miss'])
  })
})
