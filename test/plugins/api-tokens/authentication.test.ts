/** Requests with a token: which are accepted, what they can do, and that all others look the same. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiContext, AutoApiPlugin } from '../../../src/runtime/server/define'
import { createTokenFormat } from '../../../src/runtime/plugins/api-tokens/server/format'
import { rateLimit, requestMetadata } from '../../../src/runtime/plugins'
import { openTokenApi, settle, type TokenApi, type TokenApiOptions } from '../../support/api-tokens'
import { isFull, isRelease } from '../../support/tiers'

const DAY = 86_400_000
const UNLIMITED = { failures: { limit: 1_000_000 } }

let api: TokenApi
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await api?.close()
})
const open = async (options?: TokenApiOptions) => (api = await openTokenApi(options))
const exec = (sql: string) => void api.client.exec(sql)
const asUser = (id: number, method: string, path: string, body?: unknown) =>
  api.server.request(method, path, { caller: api.session(id), body })

/** Headers without the date. */
const headersOf = (headers: Headers) => Object.fromEntries([...headers].filter(([name]) => name !== 'date'))

/** The ways in which a token is not valid. Each returns the secret that a client sends. */
const INVALID: Readonly<Record<string, () => Promise<string>>> = {
  'unknown': async () => createTokenFormat('aat').create(),
  'expired': async () => {
    const { id, token } = await api.make(1)
    exec(`update api_tokens set expires_at = ${Date.now() - 1} where id = '${id}'`)
    return token
  },
  'revoked': async () => {
    const { id, token } = await api.make(1)
    expect((await asUser(1, 'DELETE', `/api/apiTokens/${id}`)).status).toBe(200)
    return token
  },
  'trashed': async () => {
    const { id, token } = await api.make(1)
    exec(`update api_tokens set deleted_at = ${Date.now()} where id = '${id}'`)
    return token
  },
  'purged': async () => {
    const { id, token } = await api.make(1)
    exec(`delete from api_tokens where id = '${id}'`)
    return token
  },
  'replaced by a rotation, after the grace period': async () => {
    const { id, token } = await api.make(1)
    exec(`update api_tokens set previous_hash = token_hash, token_hash = 'other', previous_until = ${Date.now() - 1} where id = '${id}'`)
    return token
  },
}
/** The ways in which the owner is not valid. */
const INVALID_OWNER: Readonly<Record<string, () => Promise<string>>> = {
  'of a missing owner': async () => {
    const { token } = await api.make(1)
    exec('delete from users where id = 1')
    return token
  },
  'of a banned owner': async () => {
    const { token } = await api.make(1)
    exec('update users set banned = 1 where id = 1')
    return token
  },
  'of an owner in another organization': async () => {
    const { token } = await api.make(1)
    exec('update users set organization_id = 2 where id = 1')
    return token
  },
}
const MALFORMED: Readonly<Record<string, () => Promise<string>>> = {
  'with a wrong checksum': async () => (await api.make(1)).token.replace(/.$/, last => last === '0' ? '1' : '0'),
  'that is cut': async () => (await api.make(1)).token.slice(0, -1),
  'with more characters': async () => `${(await api.make(1)).token}x`,
  'that is only the prefix': async () => 'aat_',
  'with other letters': async () => `aat_${'é'.repeat(49)}`,
  'twice': async () => {
    const { token } = await api.make(1)
    return `${token}, Bearer ${token}`
  },
}

describe('an invalid token', () => {
  it('has one response, whatever is wrong with it, and never that of a session or of an anonymous caller', async () => {
    await open({ options: UNLIMITED })
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const answers: object[] = []
    for (const [what, create] of Object.entries({ ...INVALID, ...INVALID_OWNER, ...MALFORMED })) {
      exec(
        'update users set organization_id = 1, banned = 0 where id = 1; insert or ignore into users values (1, 1, \'editor\', \'["posts:read","posts.write","tokens"]\', 0)',
      )
      const token = await create()
      for (const caller of [{}, api.session(4)]) for (const path of ['/api/notes', '/api/posts', '/api/permissions', '/api/apiTokens']) {
        const { status, text, headers } = await api.ask(encodeURI(token) === token ? token : encodeURI(token), 'GET', path, { caller })
        answers.push({ what, status, text, headers: headersOf(headers) })
      }
    }
    const [first] = answers as { status: number, text: string, headers: Record<string, string> }[]
    expect(first).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
    expect(JSON.parse(first!.text)).toEqual({
      error: true,
      statusCode: 401,
      statusMessage: 'Unauthorized',
      message: 'The token is not valid.',
      data: { code: 'INVALID_TOKEN' },
    })
    for (const answer of answers) expect(answer).toEqual({ ...first, what: expect.any(String) })
  })

  it('runs the same statements, or none with a wrong checksum', async () => {
    await open({ options: UNLIMITED })
    const run = async (create: () => Promise<string>) => {
      const token = encodeURI(await create())
      api.statements()
      await api.ask(token, 'GET', '/api/posts')
      await settle()
      return api.statements()
    }
    const [first, ...others] = await Promise.all([[]]).then(async () => {
      const all = []
      for (const create of Object.values(INVALID)) all.push(await run(create))
      return all
    })
    expect(first).toHaveLength(1)
    for (const statements of others) expect(statements).toEqual(first)
    for (const create of Object.values(MALFORMED)) expect(await run(create)).toEqual([])
  })

  it('looks the same for 10 000 random tokens, after one statement, or none with a wrong checksum', async () => {
    await open({ options: UNLIMITED })
    const { create } = createTokenFormat('aat')
    const count = isFull ? 10_000 : 300
    const [responses, statements] = [new Set<string>(), new Map<string, number>()]
    const rows = [await INVALID.expired!(), await INVALID.revoked!(), await INVALID.trashed!(), await INVALID.purged!()]
    api.statements()
    for (let index = 0; index < count; index++) {
      const kind = index % 3
      const token = kind === 0 ? `${create().slice(0, -6)}000000` : kind === 1 ? create() : rows[index % rows.length]!
      const { status, text, headers } = await api.ask(token, 'GET', '/api/posts')
      responses.add(JSON.stringify([status, text, headersOf(headers)]))
      const run = `${kind === 0 ? 'wrong checksum' : 'right checksum'}: ${api.statements().join()}`
      statements.set(run, (statements.get(run) ?? 0) + 1)
    }
    console.info(`${count} invalid tokens: ${responses.size} response, ${statements.size} kinds of statements`)
    expect(responses.size).toBe(1)
    expect([...statements.keys()].sort()).toEqual([expect.stringMatching(/^right checksum: select [^,]/), 'wrong checksum: '])
  })

  it('is refused in every form of the header', async () => {
    await open({ options: UNLIMITED })
    const { token } = await api.make(1)
    const statusOf = async (authorization: string) =>
      (await api.server.request('GET', '/api/posts', { headers: { authorization }, caller: api.session(4) })).status
    for (const valid of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}  `])
      expect({ valid, status: await statusOf(valid) }).toEqual({ valid, status: 200 })
    for (const invalid of [token, `Token ${token}`, `Basic ${token}`, `Bearer\u00A0${token}`, `Bearer ${token} x`, `Bearer "${token}"`])
      expect({ invalid, status: await statusOf(invalid) }).toEqual({ invalid, status: 401 })
  })

  it('is no token of this API with another prefix', async () => {
    await open({ options: { ...UNLIMITED, prefix: 'acme' } })
    const { token } = await api.make(1)
    expect(token).toMatch(/^acme_[0-9A-Za-z]{49}$/)
    expect((await api.ask(token, 'GET', '/api/posts')).status).toBe(200)
    expect((await api.ask(createTokenFormat('aat').create(), 'GET', '/api/posts', { caller: api.session(1) })).status).toBe(200)
  })
})

describe('the caller of a token', () => {
  const mirror: AutoApiPlugin = {
    name: 'mirror',
    routes: [
      {
        method: 'GET',
        path: '/whoami',
        handler: ({ user, permissions, tenant, credential }: AutoApiContext) => ({ user, permissions, tenant, credential }),
      },
    ],
  }

  it('is its owner, with the rights of now and the organization of the token', async () => {
    await open({ plugins: [mirror] })
    const { id, token } = await api.make(1)
    const whoAmI = async () => (await api.ask(token, 'GET', '/api/whoami', { caller: api.session(4) })).body
    expect(await whoAmI()).toMatchObject({
      user: { id: 1, role: 'editor' },
      permissions: ['posts:read', 'posts.write', 'tokens'],
      tenant: { id: 1, canAccessAllTenants: false },
      credential: { id, scopes: null },
    })
    exec('update users set permissions = \'["posts:read"]\', role = \'none\' where id = 1')
    expect(await whoAmI()).toMatchObject({ user: { role: 'none' }, permissions: ['posts:read'] })
    expect((await api.ask(token, 'POST', '/api/posts', { body: { title: 'x' } })).status).toBe(403)
    expect((await api.ask(token, 'DELETE', '/api/posts/1')).status).toBe(403)
  })

  it('has no roles and only the permissions of its scopes, if it has scopes', async () => {
    await open({ plugins: [mirror] })
    const { id, token } = await api.make(1, { scopes: ['posts:read', 'posts:delete', 'editor'] })
    const { body } = await api.ask(token, 'GET', '/api/whoami')
    expect(body).toEqual({
      user: { id: 1, organizationId: 1, permissions: ['posts:read', 'editor'], banned: false },
      permissions: ['posts:read', 'editor'],
      tenant: { id: 1, canAccessAllTenants: false },
      credential: { id, scopes: ['posts:read', 'posts:delete', 'editor'] },
    })
  })

  it('is never one who can access all tenants', async () => {
    await open({ plugins: [mirror, { name: 'staff', extendContext: (ctx: { tenant?: object }) => {
      ctx.tenant = { id: 1, canAccessAllTenants: true }
    } }], options: { findUser: () => ({ id: 4, organizationId: 1, permissions: ['*'], tenant: { canAccessAllTenants: true } }) } })
    const { token } = await api.make(4)
    expect((await api.ask(token, 'GET', '/api/whoami')).body.tenant).toEqual({ id: 1, canAccessAllTenants: false })
    expect((await api.ask(token, 'GET', '/api/posts')).body.meta.total).toBe(2)
  })

  it('is revoked by the next request on another instance', async () => {
    await open()
    const other = await openTokenApi({ client: api.client })
    const { id, token } = await api.make(1)
    const statuses = async () => [(await api.ask(token, 'GET', '/api/posts')).status, (await other.ask(token, 'GET', '/api/posts')).status]
    expect(await statuses()).toEqual([200, 200])
    expect((await asUser(1, 'DELETE', `/api/apiTokens/${id}`)).status).toBe(200)
    expect(await statuses()).toEqual([401, 401])
  })

  it('can write from any site, because a browser does not send the token by itself', async () => {
    await open()
    const { token } = await api.make(1)
    const { status } = await api.ask(token, 'POST', '/api/posts', {
      body: { title: 'x' },
      headers: { 'origin': 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    })
    expect(status).toBe(201)
  })

  it('is refused and logged if findUser returns another user', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    await open({ options: { findUser: () => ({ id: 4, permissions: ['*'] }) } })
    const { token } = await api.make(1)
    expect((await api.ask(token, 'GET', '/api/posts')).body.data.code).toBe('INVALID_TOKEN')
    expect(logged.mock.calls.flat().join()).toContain('`findUser` returned a user with another id')
  })
})

describe('the scopes of a token', () => {
  const probe = async (token: string) => {
    const statusOf = async (method: string, path: string, body?: object) => (await api.ask(token, method, path, { body })).status
    return {
      list: await statusOf('GET', '/api/posts'),
      create: await statusOf('POST', '/api/posts', { title: 'x' }),
      update: await statusOf('PATCH', '/api/posts/1', { title: 'x' }),
      delete: await statusOf('DELETE', '/api/posts/2'),
      notes: await statusOf('GET', '/api/notes'),
      makeNote: await statusOf('POST', '/api/notes', { body: 'x' }),
      updateNote: await statusOf('PATCH', '/api/notes/1', { body: 'x' }),
    }
  }
  const NOTHING = { list: 403, create: 403, update: 403, delete: 403, notes: 403, makeNote: 403, updateNote: 403 }

  it.each<[string, string[], object]>([
    ['nothing', [], {}],
    ['an operation with a string rule', ['posts:read'], { list: 200 }],
    ['the permission that a rule requires', ['posts.write'], { create: 201 }],
    ['the role that a rule requires', ['editor'], { update: 200, delete: 404 }],
    ['an operation that everybody has', ['notes:read', 'notes:create'], { notes: 200, makeNote: 201 }],
    ['an operation that a function decides', ['notes:update'], { updateNote: 200 }],
    ['an operation of another resource', ['users:read', 'apiTokens:read'], {}],
  ])('allow only what they name: %s', async (_what, scopes, allowed) => {
    await open()
    exec('update users set permissions = \'["posts:read","posts.write","tokens","users"]\'')
    const { token } = await api.make(1, { scopes })
    expect(await probe(token)).toEqual({ ...NOTHING, ...allowed })
    const { permissions } = (await api.ask(token, 'GET', '/api/permissions')).body
    expect(permissions.posts).toMatchObject({
      canRead: 'list' in allowed,
      canCreate: 'create' in allowed,
      canUpdate: 'update' in allowed,
      canDelete: 'delete' in allowed,
    })
    expect(permissions.notes).toMatchObject({
      canRead: 'notes' in allowed,
      canCreate: 'makeNote' in allowed,
      canUpdate: 'updateNote' in allowed,
    })
  })

  it('do not allow what the owner has lost', async () => {
    await open()
    const { token } = await api.make(1, { scopes: ['posts:read', 'posts:create', 'posts.write', 'editor', 'notes:read'] })
    exec('update users set permissions = \'[]\', role = \'none\' where id = 1')
    expect(await probe(token)).toEqual({ ...NOTHING, notes: 200 })
  })

  it('reduce what rules about rows and fields see, in both directions', async () => {
    await open({ auth: { posts: {
      permissions: { read: true },
      // An intern sees less than somebody without a role.
      listFilter: (table, ctx) => ctx.user?.role === 'writer' ? (table as unknown as { id: never }).id && undefined : undefined,
      objectLevel: (row, ctx) => ctx.user?.role !== 'writer' || row.authorId === ctx.user.id,
      fields: { secret: { read: ctx => ctx.user?.role !== 'writer' } },
    } } })
    const { token } = await api.make(2, { scopes: ['posts:read'] })
    const { body } = await api.ask(token, 'GET', '/api/posts')
    expect(body.data.map(({ id }: { id: number }) => id)).toEqual([2])
    expect(body.data[0]).not.toHaveProperty('secret')
  })

  it('decide about fields: a rule that requires a role needs the scope', async () => {
    await open()
    const fieldsFor = async (scopes: string[]) =>
      (await api.ask((await api.make(1, { scopes })).token, 'GET', '/api/posts')).body.data.map((post: object) => 'secret' in post)
    expect(await fieldsFor(['posts:read'])).toEqual([false])
    expect(await fieldsFor(['posts:read', 'editor'])).toEqual([true])
  })

  it('of a super-admin are limits too', async () => {
    await open()
    const { token } = await api.make(4, { scopes: ['posts:read', 'users:read'] })
    expect(await probe(token)).toEqual({ ...NOTHING, list: 200 })
    expect((await api.ask(token, 'GET', '/api/users')).status).toBe(200)
  })
})

describe('a token in the URL', () => {
  it.each([
    ['a parameter', (token: string) => `/api/posts?token=${token}`],
    ['a parameter of a filter', (token: string) => `/api/posts?filter=${encodeURIComponent(JSON.stringify({ title: token }))}`],
    ['a repeated parameter', (token: string) => `/api/posts?x=1&x=${token}`],
    ['the name of a parameter', (token: string) => `/api/posts?${token}`],
    ['an encoded parameter', (token: string) => `/api/posts?token=%61${token.slice(1)}`],
    ['the path', (token: string) => `/api/posts/${token}`],
  ])('is refused: %s', async (_what, pathOf) => {
    await open()
    const { token } = await api.make(1)
    const { status, body, text } = await api.server.request('GET', pathOf(token), { caller: api.session(1) })
    expect({ status, code: body.data.code }).toEqual({ status: 400, code: 'INVALID_QUERY' })
    expect(text).not.toContain(token)
  })
})

describe('many invalid tokens', () => {
  it('block their address before the next token is looked up', async () => {
    await open({ options: { failures: { limit: 3, window: 60 } }, config: { trustProxy: true } })
    const { token } = await api.make(1)
    const from = (address: string, sent: string) => api.ask(sent, 'GET', '/api/posts', { headers: { 'x-forwarded-for': address } })
    const statuses = []
    for (let index = 0; index < 4; index++) statuses.push((await from('1.1.1.1', createTokenFormat('aat').create())).status)
    expect(statuses).toEqual([401, 401, 401, 429])
    api.statements()
    const refused = await from('1.1.1.1', token)
    expect({ status: refused.status, wait: Number(refused.headers.get('retry-after')) }).toEqual({
      status: 429,
      wait: expect.closeTo(60, -1),
    })
    expect(api.statements()).toEqual([])
    expect((await from('2.2.2.2', token)).status).toBe(200)
    expect(
      (await api.server.request('GET', '/api/posts', { caller: api.session(1), headers: { 'x-forwarded-for': '1.1.1.1' } })).status,
    ).toBe(200)
  })
})

describe('lastUsedAt', () => {
  it('is written after the response, and at most once a minute', async () => {
    await open()
    const { id, token } = await api.make(1)
    const used = () =>
      (api.client.prepare('select last_used_at from api_tokens where id = ?').get(id) as { last_used_at: number | null }).last_used_at
    api.statements()
    await Promise.all(Array.from({ length: 200 }, () => api.ask(token, 'GET', '/api/notes')))
    await settle()
    const writes = () => api.statements().filter(text => text.startsWith('update'))
    expect(writes()).toHaveLength(1)
    const first = used()!
    expect(Math.abs(first - Date.now())).toBeLessThan(10_000)
    vi.useFakeTimers({ toFake: ['Date'], now: first + 59_000 })
    await api.ask(token, 'GET', '/api/notes')
    await settle()
    expect(writes()).toHaveLength(0)
    vi.setSystemTime(Date.now() + 2000)
    await api.ask(token, 'GET', '/api/notes')
    await settle()
    expect(writes()).toHaveLength(1)
    expect(used()).toBeGreaterThan(first)
  })

  it('is written once a minute under 1 000 requests per second', { timeout: 900_000 }, async () => {
    await open()
    const { token } = await api.make(1)
    const [start, minutes] = [Date.now(), isRelease ? 2 : 1]
    // Before a release, the requests stand for those of a tenth of the seconds.
    const step = isRelease ? 1 : 100
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    api.statements()
    const times: number[] = []
    let requests = 0
    for (let time = 0; time < minutes * 60_000; time += step, requests++) {
      vi.setSystemTime(start + time)
      await api.ask(token, 'GET', '/api/notes')
      if (requests % 50 === 0) await settle()
      if (api.statements().some(text => text.startsWith('update'))) times.push(time)
    }
    await settle()
    console.info(`${requests} requests in ${minutes} minutes: ${times.length} writes, at ${times.join(', ')} ms`)
    expect(times.length).toBe(minutes)
  })

  it('does not change a record\'s updatedAt, and never makes a request fail', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    await open()
    const { id, token, updatedAt } = await api.make(1)
    await api.ask(token, 'GET', '/api/notes')
    await settle()
    expect((await asUser(1, 'GET', `/api/apiTokens/${id}`)).body.updatedAt).toBe(updatedAt)
    const next = await api.make(1)
    exec('create trigger refuse before update of last_used_at on api_tokens begin select raise(abort, \'no\'); end')
    expect((await api.ask(next.token, 'GET', '/api/notes')).status).toBe(200)
    await settle()
    expect(logged.mock.calls.flat().join()).toContain(`tokenId=${next.id}`)
    expect(logged.mock.calls.flat().join()).not.toContain(next.token)
  })
})

describe('with other plugins', () => {
  it('log lines have the id of the token, never the secret', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    await open({ plugins: [requestMetadata(), { name: 'failing', routes: [{ method: 'GET', path: '/failing', handler: () => {
      throw new Error('broken')
    } }] }] })
    const { id, token } = await api.make(1)
    await api.ask(token, 'GET', '/api/failing')
    const text = logged.mock.calls.flat().join()
    expect(text).toContain(`tokenId=${id}`)
    expect(text).not.toContain(token.slice(0, 8))
  })

  it('a rate limit can count by token', async () => {
    await open({ plugins: [rateLimit({ by: 'token', limit: 2 })] })
    const tokens = [(await api.make(1)).token, (await api.make(1)).token]
    const statuses = []
    for (const token of [tokens[0]!, tokens[0]!, tokens[1]!, tokens[0]!]) statuses.push((await api.ask(token, 'GET', '/api/notes')).status)
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  it('a plugin that stores responses never sees the secret, and a stored response says that it was issued', async () => {
    let stored: object | undefined
    await open({
      plugins: [
        {
          name: 'store',
          around: async (_ctx: unknown, next: () => Promise<object>) =>
            stored ? { ...stored, headers: { 'Idempotent-Replayed': 'true' } } : (stored = await next()),
        },
      ],
    })
    const { token, id } = await api.make(1)
    expect(JSON.stringify(stored)).toContain(id)
    expect(JSON.stringify(stored)).not.toContain(token)
    const replayed = await asUser(1, 'POST', '/api/apiTokens', { name: 'a token' })
    expect(replayed.body).toMatchObject({ id, tokenAlreadyIssued: true })
    expect(replayed.body).not.toHaveProperty('token')
  })

  it('expires with the time', async () => {
    await open()
    const { token } = await api.make(1, { expiresAt: new Date(Date.now() + DAY).toISOString() })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY + 1 })
    expect((await api.ask(token, 'GET', '/api/posts')).status).toBe(401)
  })
})
