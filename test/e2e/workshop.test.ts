/** The plugins `betterAuth` and `rateLimit` on two built servers, listed in the config, in a file and in both. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isReachable, REDIS } from '../support/services'
import type { ServerResponse } from './support/request'
import { errorBody } from '../support/versions/nuxt'
import { startWorkshop, type Member, type Way, type Workshop } from './workshop/server'

const WAYS: readonly Way[] = ['config', 'file', 'both']
const there = await isReachable(REDIS)

/** The fixture's limit of `aggregate`. */
const LIMIT = 20

const codeOf = ({ status, body }: ServerResponse) => ({ status, code: body.data?.code })

describe.runIf(there).each(WAYS)('plugins listed in: %s', (way) => {
  let workshop: Workshop
  beforeAll(async () => {
    workshop = await startWorkshop(way, 2)
  })
  afterAll(() => workshop?.stop())

  describe('a session of better-auth', () => {
    let ada: Member
    let ben: Member
    const textsOf = async (member: Member) =>
      (await member.request('GET', '/api/notes')).body.data.map(({ text }: { text: string }) => text)

    beforeAll(async () => {
      [ada, ben] = await Promise.all([workshop.join('Ada'), workshop.join('Ben')])
    })

    it('is required: anonymous callers are refused', async () => {
      expect(codeOf(await workshop.servers[0]!.request('/api/notes'))).toEqual({ status: 401, code: 'UNAUTHENTICATED' })
      expect(codeOf(await workshop.servers[0]!.request('/api/notes', { cookie: 'better-auth.session_token=made.up' }))).toEqual({
        status: 401,
        code: 'UNAUTHENTICATED',
      })
    })

    it('has no tenant without an active organisation, whatever tenant the request names', async () => {
      expect(codeOf(await ada.request('GET', '/api/notes'))).toEqual({ status: 403, code: 'TENANT_REQUIRED' })
      const named = await workshop.servers[0]!.request('/api/notes', { cookie: ada.cookie, headers: { 'x-tenant-id': 'elsewhere' } })
      expect(codeOf(named)).toEqual({ status: 403, code: 'TENANT_REQUIRED' })
    })

    it('sees and writes the rows of its active organisation, and no others', async () => {
      const { body: organization } = await ada.request('POST', '/api/auth/organization/create', { name: 'One', slug: 'one' })
      const { body: session } = await ada.request('GET', '/api/auth/get-session')
      const created = await ada.request('POST', '/api/notes', { text: 'first of one', organizationId: 'elsewhere' })
      expect(created).toMatchObject({
        status: 201,
        body: { text: 'first of one', organizationId: organization.id, createdBy: session.user.id },
      })
      expect(await textsOf(ada)).toEqual(['first of one'])
      expect(codeOf(await ada.request('GET', '/api/notes/1'))).toEqual({ status: 404, code: 'NOT_FOUND' })
      expect(codeOf(await ada.request('PATCH', '/api/notes/1', { text: 'taken' }))).toEqual({ status: 404, code: 'NOT_FOUND' })
    })

    it('cannot make an organisation active that the user does not belong to', async () => {
      const { body: { session } } = await ada.request('GET', '/api/auth/get-session')
      expect(
        (await ben.request('POST', '/api/auth/organization/set-active', { organizationId: session.activeOrganizationId })).status,
      ).toBe(403)
      expect(codeOf(await ben.request('GET', '/api/notes'))).toEqual({ status: 403, code: 'TENANT_REQUIRED' })
    })

    it('switches to another organisation, with the user\'s role there', async () => {
      const { body: own } = await ben.request('POST', '/api/auth/organization/create', { name: 'Two', slug: 'two' })
      const { body: { id } } = await ben.request('POST', '/api/notes', { text: 'first of two' })
      const { body: invitation } = await ada.request('POST', '/api/auth/organization/invite-member', {
        email: 'ben@example.com',
        role: 'member',
      })
      expect((await ben.request('POST', '/api/auth/organization/accept-invitation', { invitationId: invitation.id })).status).toBe(200)
      expect(await textsOf(ben)).toEqual(['first of one'])
      const [note] = (await ben.request('GET', '/api/notes')).body.data
      expect(codeOf(await ben.request('DELETE', `/api/notes/${note.id}`))).toEqual({ status: 403, code: 'FORBIDDEN' })
      await ben.request('POST', '/api/auth/organization/set-active', { organizationId: own.id })
      expect(await textsOf(ben)).toEqual(['first of two'])
      expect((await ben.request('DELETE', `/api/notes/${id}`)).status).toBe(200)
      await ben.request('POST', '/api/auth/organization/set-active', { organizationId: note.organizationId })
      expect(await textsOf(ben)).toEqual(['first of one'])
    })

    it('loses the organisation with the membership, although the session still names it', async () => {
      expect(await textsOf(ben)).toEqual(['first of one'])
      expect((await ada.request('POST', '/api/auth/organization/remove-member', { memberIdOrEmail: 'ben@example.com' })).status).toBe(200)
      const { body: { session } } = await ben.request('GET', '/api/auth/get-session')
      expect(session.activeOrganizationId).toEqual(expect.any(String))
      expect(codeOf(await ben.request('GET', '/api/notes'))).toEqual({ status: 403, code: 'TENANT_REQUIRED' })
    })

    it('reads its rows in a page that the server renders', async () => {
      expect((await ada.request('GET', '/')).body).toContain('first of one')
      expect((await workshop.servers[0]!.request('/')).body).not.toContain('first of one')
    })

    it('ends when the user signs out', async () => {
      const { cookie } = ada
      expect((await ada.request('POST', '/api/auth/sign-out', {})).status).toBe(200)
      expect(codeOf(await workshop.servers[0]!.request('/api/notes', { cookie }))).toEqual({ status: 401, code: 'UNAUTHENTICATED' })
    })
  })

  describe('a limit by address', () => {
    beforeEach(() => workshop.forget())

    const aggregate = (server: number, headers: Record<string, string> = {}) =>
      workshop.servers[server]!.request('/api/notes/aggregate', { headers })

    it('is shared by two servers: of many concurrent requests, exactly the allowed number succeeds', async () => {
      const answers = await Promise.all(Array.from({ length: 5 * LIMIT }, (_, index) => aggregate(index % 2)))
      expect(answers.filter(({ status }) => status !== 429)).toHaveLength(LIMIT)
    })

    it('counts down in each response, then returns 429 with Retry-After', async () => {
      const answers: ServerResponse[] = []
      for (let index = 0; index <= LIMIT; index++) answers.push(await aggregate(index % 2))
      const refused = answers.pop()!
      expect(answers.map(({ headers }) => /;r=(\d+);/.exec(headers.get('ratelimit')!)![1])).toEqual(
        Array.from({ length: LIMIT }, (_, index) => String(LIMIT - 1 - index)),
      )
      expect(refused).toMatchObject({ status: 429, body: { ...errorBody(429, 'Too Many Requests'), data: { code: 'RATE_LIMITED' } } })
      const seconds = Number(refused.headers.get('retry-after'))
      expect(seconds).toBeGreaterThan(50)
      expect(seconds).toBeLessThanOrEqual(60)
      expect(refused.body.data.retryAfter).toBe(seconds)
      expect(refused.headers.get('ratelimit-policy')).toBe(`"rate-limit-aggregate";q=${LIMIT};w=60`)
      expect(refused.headers.get('ratelimit')).toBe(`"rate-limit-aggregate";r=0;t=${seconds}`)
    })

    it('ignores headers that name another address with every request', async () => {
      const names = ['x-forwarded-for', 'cf-connecting-ip', 'x-real-ip', 'forwarded', 'true-client-ip', 'x-client-ip']
      const answers: ServerResponse[] = []
      for (let index = 0; index < LIMIT + 5; index++)
        answers.push(
          await aggregate(0, Object.fromEntries(names.map(name => [name, name === 'forwarded' ? `for=1.2.3.${index}` : `1.2.3.${index}`]))),
        )
      expect(answers.map(({ status }) => status === 429)).toEqual([
        ...Array.from({ length: LIMIT }, () => false),
        ...Array.from({ length: 5 }, () => true),
      ])
    })

    it('does not affect other operations', async () => {
      await Promise.all(Array.from({ length: LIMIT + 1 }, () => aggregate(0)))
      expect((await workshop.servers[0]!.request('/api/notes')).status).toBe(401)
      expect((await aggregate(0)).status).toBe(429)
    })

    it('counts the requests of server rendering for the client of the page', async () => {
      expect((await workshop.servers[0]!.request('/')).status).toBe(200)
      expect((await workshop.counted()).map(key => key.slice(key.indexOf('rate-limit:')))).toEqual(['rate-limit:rate-limit:*:ip:127.0.0.1'])
    })
  })
})
