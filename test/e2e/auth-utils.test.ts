/** Users sign in with nuxt-auth-utils: the API takes the caller, the permissions and the tenant from the session only. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNotebook, type Notebook } from './auth-utils/server'

let notebook: Notebook

beforeAll(async () => {
  notebook = await startNotebook()
})

afterAll(() => notebook?.stop())

const textsOf = async (cookie?: string) => {
  const { status, body } = await notebook.request('/api/notes', { cookie })
  return status === 200 ? body.data.map(({ text }: { text: string }) => text) : { status, code: body.data.code }
}

it('has no OpenAPI document in production, because the app does not say who can read it', async () => {
  const cookie = await notebook.signIn('ben')
  for (const path of ['/api/_openapi.json', '/api/_reference']) {
    const { status, headers, body } = await notebook.request(path, { cookie })
    expect([status, headers.get('content-type'), body.data.code]).toEqual([404, 'application/json', 'NOT_FOUND'])
  }
})

describe('a caller without a session', () => {
  it.each([
    ['GET', '/api/notes'],
    ['POST', '/api/notes', { text: 'mine' }],
    ['GET', '/api/notes/1'],
    ['PATCH', '/api/notes/1', { text: 'mine' }],
    ['DELETE', '/api/notes/1'],
  ])('is refused: %s %s', async (method, path, body?: object) => {
    const answer = await notebook.request(path, { method, body })
    expect({ status: answer.status, code: answer.body.data.code }).toEqual({ status: 401, code: 'UNAUTHENTICATED' })
    expect(await textsOf(await notebook.signIn('ben'))).toEqual(['first of one', 'second of one'])
  })

  it('receives no session cookie from an API request', async () => {
    expect((await notebook.request('/api/notes')).cookie).toBeUndefined()
  })

  it.each(['nuxt-session=', 'nuxt-session=nonsense', 'nuxt-session=Fe26.2**a*b*c*d**e*f'])(
    'is refused with an invalid session cookie: %s',
    async (cookie) => {
      expect(await textsOf(cookie)).toEqual({ status: 401, code: 'UNAUTHENTICATED' })
    },
  )

  it.each([
    ['a wrong password', { email: 'ada@example.com', password: 'wrong' }, 401],
    ['an unknown address', { email: 'nobody@example.com', password: 'correct horse' }, 401],
    ['a user without an organisation', { email: 'dora@example.com', password: 'correct horse' }, 401],
    ['no password', { email: 'ada@example.com' }, 400],
  ])('cannot sign in with %s', async (_, body, expected) => {
    const { status, cookie } = await notebook.request('/api/login', { method: 'POST', body })
    expect({ status, cookie }).toEqual({ status: expected, cookie: undefined })
  })
})

describe('an API token', () => {
  const withToken = (token: string, path: string, options: { method?: string, body?: object, cookie?: string } = {}) =>
    notebook.request(path, { ...options, headers: { authorization: `Bearer ${token}` } })

  it('has the rights of its owner in the organisation in which it was made, and is revoked', async () => {
    const cookie = await notebook.signIn('ada')
    const {
      status,
      body: { id, token },
    } = await notebook.request('/api/apiTokens', {
      method: 'POST',
      cookie,
      body: { name: 'deploy', scopes: ['notes:read', 'notes:create', 'notes:write'] },
    })
    expect(status).toBe(201)
    const other = await notebook.signIn('cleo')
    const notes = await withToken(token, '/api/notes', { cookie: other })
    expect(notes.body.data.map(({ organizationId }: { organizationId: number }) => organizationId)).toEqual([1, 1])
    expect((await withToken(token, '/api/notes/1', { method: 'DELETE' })).status).toBe(403)
    expect((await notebook.request('/api/tokens/introspect', { method: 'POST', cookie, body: { token } })).body).toMatchObject({
      active: true,
      scope: 'notes:read notes:create notes:write',
      sub: '1',
      tenant: '1',
      jti: id,
    })
    expect((await notebook.request('/api/tokens/introspect', { method: 'POST', cookie: other, body: { token } })).body).toEqual({
      active: false,
    })
    const rotated = await notebook.request(`/api/apiTokens/${id}/rotate`, { method: 'POST', cookie })
    expect((await withToken(rotated.body.token, '/api/permissions')).body.permissions.notes).toMatchObject({
      canRead: true,
      canCreate: true,
      canDelete: false,
    })
    expect((await notebook.request('/api/apiTokens', { cookie })).body.data).toMatchObject([
      { id, start: rotated.body.start, lastUsedAt: expect.any(String) },
    ])
    expect((await notebook.request(`/api/apiTokens/${id}`, { method: 'DELETE', cookie })).status).toBe(200)
    for (const secret of [token, rotated.body.token]) {
      const refused = await withToken(secret, '/api/notes', { cookie })
      expect({ status: refused.status, code: refused.body.data.code, cookie: refused.cookie }).toEqual({
        status: 401,
        code: 'INVALID_TOKEN',
        cookie: undefined,
      })
    }
  })
})

describe('a caller with a session', () => {
  it('lists and creates rows of its own organisation, and is stored as their creator', async () => {
    const cookie = await notebook.signIn('cleo')
    expect(await textsOf(cookie)).toEqual(['first of two'])
    const created = await notebook.request('/api/notes', {
      method: 'POST',
      cookie,
      body: { text: 'second of two', organizationId: 1, createdBy: 1 },
    })
    expect(created).toMatchObject({ status: 201, body: { text: 'second of two', organizationId: 2, createdBy: 3 } })
    expect(await textsOf(cookie)).toEqual(['first of two', 'second of two'])
    expect(await textsOf(await notebook.signIn('ben'))).toEqual(['first of one', 'second of one'])
  })

  it.each([['GET'], ['PATCH', { text: 'taken' }], ['DELETE']])(
    'receives 404 for a row of another organisation: %s',
    async (method, body?: object) => {
      const editor = await notebook.signIn('cleo')
      const answer = await notebook.request('/api/notes/1', { method, body, cookie: editor, headers: { 'x-tenant-id': '1' } })
      expect({ status: answer.status, code: answer.body.data.code }).toEqual({ status: 404, code: 'NOT_FOUND' })
      expect(await notebook.request('/api/notes/1', { cookie: await notebook.signIn('ben') })).toMatchObject({
        status: 200,
        body: { text: 'first of one' },
      })
    },
  )

  it('has the permissions of its role in the organisation', async () => {
    const [editor, member] = [await notebook.signIn('ada'), await notebook.signIn('ben')]
    const { body: { id } } = await notebook.request('/api/notes', { method: 'POST', cookie: member, body: { text: 'short-lived' } })
    const remove = (cookie: string) => notebook.request(`/api/notes/${id}`, { method: 'DELETE', cookie })
    expect(await remove(member)).toMatchObject({ status: 403, body: { data: { code: 'FORBIDDEN' } } })
    expect((await notebook.request(`/api/notes/${id}`, { cookie: member })).status).toBe(200)
    expect((await remove(editor)).status).toBe(200)
    expect((await notebook.request(`/api/notes/${id}`, { cookie: member })).status).toBe(404)
  })

  it('switches only to an organisation it belongs to, with its role there', async () => {
    const [first, ben] = [await notebook.signIn('ada'), await notebook.signIn('ben')]
    const go = (cookie: string | undefined, organizationId: number) =>
      notebook.request('/api/organization', { method: 'PUT', cookie, body: { organizationId } })
    const { status, cookie: second } = await go(first, 2)
    expect(status).toBe(200)
    expect(await textsOf(second)).toContain('first of two')
    expect(await textsOf(second)).not.toContain('first of one')
    expect((await notebook.request('/api/notes/3', { method: 'DELETE', cookie: second })).status).toBe(403)
    expect(await go(ben, 2)).toMatchObject({ status: 404, cookie: undefined })
    expect((await go(undefined, 2)).status).toBe(401)
  })

  it('is replaced completely when another user signs in', async () => {
    const ada = await notebook.signIn('ada')
    const { cookie } = await notebook.request('/api/login', {
      method: 'POST',
      cookie: ada,
      body: { email: 'cleo@example.com', password: 'correct horse' },
    })
    expect((await notebook.request('/api/_auth/session', { cookie })).body.user).toEqual({ id: 3, name: 'Cleo', organizationId: 2 })
    expect(await textsOf(cookie)).toContain('first of two')
    expect(await textsOf(cookie)).not.toContain('first of one')
  })

  it('sees its rows in a page that the server renders', async () => {
    const [named, unnamed] = await Promise.all([await notebook.signIn('ben'), undefined].map(cookie => notebook.request('/', { cookie })))
    expect(named!.body).toContain('Signed in as Ben')
    expect(named!.body).toContain('second of one')
    expect(unnamed!.body).toContain('Not signed in')
    expect(unnamed!.body).not.toContain('second of one')
  })

  it('cannot write from a page of another site', async () => {
    const cookie = await notebook.signIn('ben')
    const answer = await notebook.request('/api/notes', {
      method: 'POST',
      cookie,
      body: { text: 'forged' },
      headers: { 'sec-fetch-site': 'cross-site', 'origin': 'https://evil.example' },
    })
    expect({ status: answer.status, code: answer.body.data.code }).toEqual({ status: 403, code: 'CROSS_SITE' })
    expect(await textsOf(cookie)).not.toContain('forged')
  })

  it('is anonymous after signing out', async () => {
    const cookie = await notebook.signIn('ben')
    const { status, headers } = await notebook.request('/api/_auth/session', { method: 'DELETE', cookie })
    const left = headers.getSetCookie().map(set => set.split(';', 1)[0])
    expect({ status, left }).toEqual({ status: 200, left: ['nuxt-session='] })
    expect(await textsOf(left[0])).toEqual({ status: 401, code: 'UNAUTHENTICATED' })
  })

  // The last test, because Ben loses his membership.
  it('loses every permission with the membership, although the session continues', async () => {
    const cookie = await notebook.signIn('ben')
    expect(await textsOf(cookie)).toEqual(['first of one', 'second of one'])
    expect(await notebook.request('/_memberships?user=2', { method: 'DELETE' })).toMatchObject({ status: 200, body: 1 })
    expect((await notebook.request('/api/_auth/session', { cookie })).body.user.name).toBe('Ben')
    expect(await textsOf(cookie)).toEqual({ status: 401, code: 'UNAUTHENTICATED' })
  })
})
