/** Who the caller is, and to which tenant it belongs, as the request itself claims. */
import { ids, outcome, type Attempt, type Case } from '../case'

const cause = 'an identity from the request'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

export const IDENTITIES: readonly Case[] = [
  {
    id: 'a tenant in a header', system: 'Supabase, Appwrite, Strapi', cause,
    what: 'The tenant came from a header, a parameter or the body.',
    requests: [
      {
        path: '/posts?tenantId=2', headers: { 'x-tenant-id': '2', 'x-organization-id': '2', 'x-user-id': '3', 'cookie': 'organizationId=2' },
        is: '200', pick: ids, equals: [1, 2],
      },
      { path: '/posts?filter[organizationId]=2', is: '200', pick: ids, equals: [] },
      { as: 'anonymous', path: '/posts?organizationId=1', headers: { 'x-tenant-id': '1' }, is: '401 TENANT_REQUIRED' },
    ],
    control: { as: 'eve', path: '/posts', is: '200', pick: ids, equals: [4] },
  },
  {
    id: 'CVE-2025-61928', system: 'better-auth', cause,
    what: 'The owner of a new API key came from the body.',
    requests: [
      { as: 'anonymous', method: 'POST', path: '/apiTokens', body: { name: 'x', userId: 1 }, is: '401 UNAUTHENTICATED' },
    ],
    control: {
      method: 'POST', path: '/apiTokens', body: { name: 'x', userId: '4', organizationId: '2', tokenHash: 'x' }, is: '201',
      pick: ({ body }) => [body.userId, body.organizationId], equals: ['1', '1'],
    },
  },
  {
    id: 'CVE-2024-28238', system: 'Directus', cause,
    what: 'A token in the address ended up in logs.',
    async play(world) {
      const { token } = await world.makeToken()
      const paths = [`/drafts?access_token=${token}`, `/drafts?token=${token}`, `/drafts?apiKey=${token}`]
      const answers = []
      for (const path of paths) answers.push(outcome(await world.send({ as: 'anonymous', path })))
      return [...answers, (await world.send({ as: 'anonymous', path: '/drafts', headers: bearer(token) })).status]
    },
    equals: ['400 INVALID_QUERY', '400 INVALID_QUERY', '400 INVALID_QUERY', 200],
    writes: true,
  },
  {
    id: 'GHSA-56p6-qw3c-fq2g', system: 'Directus', cause,
    what: 'The token of a suspended user stayed valid.',
    async play(world) {
      const { token } = await world.makeToken()
      const read = async () => outcome(await world.send({ as: 'anonymous', path: '/drafts', headers: bearer(token) }))
      const before = await read()
      world.users.delete(1)
      return [before, await read()]
    },
    equals: ['200', '401 INVALID_TOKEN'],
    writes: true,
  },
  {
    id: 'CVE-2026-30228', system: 'Parse Server', cause,
    what: 'A key for reading could create and delete files.',
    async play(world) {
      const { token } = await world.makeToken({ scopes: ['posts:read'] })
      const before = world.dump()
      const write = async (method: string, path: string, body?: unknown, raw?: string, type = 'application/json') =>
        outcome(await world.send({ as: 'anonymous', method, path, body, raw, headers: { ...bearer(token), 'content-type': type } }))
      return [
        await write('PATCH', '/posts/1', { title: 'x' }),
        await write('DELETE', '/posts/1'),
        await write('POST', '/batch', { steps: [{ resource: 'posts', operation: 'update', id: 1, data: { title: 'x' } }] }),
        await write('POST', '/posts/import', undefined, 'title\r\nx\r\n', 'text/csv'),
        await write('POST', '/posts/1/upload/cover?name=a.txt', undefined, 'text', 'text/plain'),
        await write('POST', '/apiTokens', { name: 'wider' }),
        await write('GET', '/people'),
        (await world.send({ as: 'anonymous', path: '/posts', headers: bearer(token) })).status,
        world.files().length,
        // Only the time of the last use may change.
        world.client.prepare('select title from posts where id = 1').pluck().get(), before === '' ? 'no rows' : 'rows',
      ]
    },
    equals: [
      '403 FORBIDDEN', '403 FORBIDDEN', '403 BULK_FAILED', '403 FORBIDDEN', '403 FORBIDDEN', '403 FORBIDDEN', '403 FORBIDDEN', 200, 0,
      'first', 'rows',
    ],
    writes: true,
  },
  {
    id: 'a token that makes tokens', system: 'better-auth', cause,
    what: 'A stolen key, or the one that replaced it, could make keys that its owner did not know.',
    async play(world) {
      const scopes = ['apiTokens:create']
      const [full, narrow] = [await world.makeToken(), await world.makeToken({ scopes })]
      const make = async ({ token }: { readonly token: string }, body: object) =>
        outcome(await world.send({ as: 'anonymous', method: 'POST', path: '/apiTokens', body: { name: 'x', ...body }, headers: bearer(token) }))
      const before = [await make(full, {}), await make(full, { scopes }), await make(narrow, {}), await make(narrow, { scopes })]
      const { body } = await world.send({ method: 'POST', path: `/apiTokens/${narrow.id}/rotate` })
      return [...before, await make(narrow, { scopes }), await make(body as { token: string }, { scopes })]
    },
    equals: ['403 FORBIDDEN', '403 FORBIDDEN', '403 FORBIDDEN', '201', '403 FORBIDDEN', '201'],
    writes: true,
  },
  {
    id: 'CVE-2025-4643', system: 'Payload', cause,
    what: 'A token stayed valid after the sign-out.',
    async play(world) {
      const { id, token } = await world.makeToken()
      const read = async () => outcome(await world.send({ as: 'anonymous', path: '/drafts', headers: bearer(token) }))
      const before = await read()
      const removed = (await world.send({ method: 'DELETE', path: `/apiTokens/${id}` })).status
      return [before, removed, await read()]
    },
    equals: ['200', 200, '401 INVALID_TOKEN'],
    writes: true,
  },
  {
    id: 'CVE-2023-22893', system: 'Strapi', cause,
    what: 'A token without a signature was accepted.',
    requests: [
      ...[`${base64({ alg: 'none' })}.${base64({ sub: 4, id: 4, role: 'admin' })}.`, 'undefined', 'null', '1', '', 'x'.repeat(5_000)].map((token): Attempt =>
        ({ path: '/drafts', as: 'anonymous', headers: bearer(token), is: '401 UNAUTHENTICATED' })),
      // In the form of a token of this API.
      ...[`aat_${'x'.repeat(49)}`, `aat_${'A'.repeat(48)}=`].map((token): Attempt =>
        ({ path: '/drafts', as: 'anonymous', headers: bearer(token), is: '401 INVALID_TOKEN' })),
    ],
  },
  {
    id: 'a token beside a session', system: 'Parse Server, Directus', cause,
    what: 'A request with two identities got the rights of both.',
    async play(world) {
      const { token } = await world.makeToken({ scopes: ['posts:read'] })
      const answer = await world.send({ as: 'admin', path: '/posts?limit=9', headers: bearer(token) })
      const people = await world.send({ as: 'admin', path: '/people', headers: bearer(token) })
      return [ids(answer), outcome(people)]
    },
    equals: [[1, 2], '403 FORBIDDEN'],
    writes: true,
  },
  {
    id: 'CVE-2025-64526', system: 'Strapi', cause,
    what: 'A value of the body chose the counter of the rate limit.',
    options: { limit: 3 },
    async play(world) {
      const answers = []
      for (const email of ['a', 'b', 'c', 'd', 'e'])
        answers.push(outcome(await world.send({
          method: 'PATCH', path: '/posts/4', body: { title: email }, headers: { 'x-user-id': email, 'x-forwarded-for': email },
        })))
      return answers
    },
    equals: ['404 NOT_FOUND', '404 NOT_FOUND', '404 NOT_FOUND', '429 RATE_LIMITED', '429 RATE_LIMITED'],
  },
  {
    id: 'CVE-2026-45364', system: 'better-auth', cause,
    what: 'The spellings of one IPv6 address, and the addresses of one network, had counters of their own.',
    tested: ['test/unit/server/core/request/ip-address.test.ts', 'IPv6 by its first 64 bits'],
  },
  {
    id: 'an address from a header', system: 'Express, Rails, Laravel', cause,
    what: 'A header of the client became its address.',
    tested: ['test/unit/server/core/request/ip-address.test.ts', 'the address is that of the connection, with any X-Forwarded-For'],
  },
]
