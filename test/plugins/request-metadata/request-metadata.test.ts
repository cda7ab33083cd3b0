/** `ctx.metadata`: what a client can set in it, and what it cannot. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiContext, AutoApiPlugin } from '../../../src/runtime/server/define'
import { toAddress, toAddressPrefix } from '../../../src/runtime/server/core/request/ip-address'
import { requestMetadata, type RequestMetadataOptions } from '../../../src/runtime/plugins'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { createServer } from '../../support/server'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull() })
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const TRACE = '0af7651916cd43dd8448eb211c80319c'

let client: Database.Database
afterEach(() => {
  client?.close()
  vi.restoreAllMocks()
})

const failing = () => {
  throw new Error('broken')
}
const mirror: AutoApiPlugin = {
  name: 'mirror',
  routes: [
    { method: 'GET', path: '/metadata', handler: (ctx: AutoApiContext) => ctx.metadata },
    { method: 'GET', path: '/failing', handler: failing },
  ],
}

async function open(options?: RequestMetadataOptions, config: Partial<AutoApiConfig> = {}) {
  client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, title text not null); insert into posts values (1, \'first\')')
  const permissions = { read: true, create: failing, update: 'editor', delete: true }
  return createServer({
    db: drizzle({ client }),
    registrations: [
      {
        name: 'posts',
        schema: posts,
        authorization: { permissions, objectLevel: (_row, ctx) => ctx.operation === 'read' || failing() },
        hooks: { afterList: () => {} },
      },
    ],
    plugins: [requestMetadata(options), mirror],
    config,
  })
}

describe('without a proxy', () => {
  it.each<[string, Record<string, string>]>([
    ['X-Forwarded-For', { 'x-forwarded-for': '1.2.3.4' }],
    ['other headers with an address', { 'x-real-ip': '1.2.3.4', 'forwarded': 'for=1.2.3.4', 'true-client-ip': '1.2.3.4' }],
    [
      'headers of Cloudflare',
      { 'cf-connecting-ip': '1.2.3.4', 'cf-ipcountry': 'PT', 'cf-ipcity': 'Lisboa', 'cf-timezone': 'UTC', 'cf-ray': '1' },
    ],
    ['headers of Vercel', { 'x-vercel-ip-country': 'PT', 'x-vercel-ip-city': 'Lisboa', 'x-vercel-forwarded-for': '1.2.3.4' }],
    ['X-Request-Id', { 'x-request-id': 'chosen-by-the-client' }],
    ['a traceparent of another version', { traceparent: `ff-${TRACE}-b7ad6b7169203331-01` }],
    ['a traceparent of zeros', { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` }],
    ['a traceparent with a parent of zeros', { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` }],
    ['a traceparent in capital letters', { traceparent: `00-${TRACE.toUpperCase()}-b7ad6b7169203331-01` }],
    ['a traceparent that is too long', { traceparent: `00-${TRACE}-b7ad6b7169203331-01-more` }],
    ['two traceparents', { traceparent: `00-${TRACE}-b7ad6b7169203331-01, 00-${TRACE}-b7ad6b7169203331-01` }],
    ['a traceparent that is text', { traceparent: '\'; drop table posts' }],
  ])('%s changes nothing', async (_what, headers) => {
    const { body, headers: answered } = await (await open()).request('GET', '/api/metadata', { headers })
    expect(body).toEqual({ requestId: expect.stringMatching(UUID), ip: null, userAgent: null })
    expect(answered.get('x-request-id')).toBe(body.requestId)
  })

  it.each([
    ['a method that a path does not have', 'PUT', '/api/posts', 405],
    ['a method that a plugin route does not have', 'POST', '/api/metadata', 405],
    ['a path that does not exist', 'GET', '/api/nothing/here', 404],
    ['a list', 'GET', '/api/posts', 200],
    ['the methods of a path', 'OPTIONS', '/api/posts', 204],
    ['a record that does not exist', 'GET', '/api/posts/9', 404],
    ['an invalid query', 'GET', '/api/posts?limit=x', 400],
  ])('the response to %s has an id', async (_what, method, path, status) => {
    const answer = await (await open()).request(method, path)
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([status, expect.stringMatching(UUID)])
  })

  it('each request has its own id', async () => {
    const server = await open()
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => (await server.request('GET', '/api/posts')).headers.get('x-request-id')),
    )
    expect(new Set(ids).size).toBe(5)
  })

  it('traceparent gives the trace id, also that of a later version', async () => {
    const server = await open()
    for (const traceparent of [`00-${TRACE}-b7ad6b7169203331-01`, `cc-${TRACE}-b7ad6b7169203331-01-what-the-future-adds`])
      expect((await server.request('GET', '/api/metadata', { headers: { traceparent } })).body.traceId).toBe(TRACE)
  })

  it('the user agent has at most 512 characters', async () => {
    const { body } = await (await open()).request('GET', '/api/metadata', { headers: { 'user-agent': 'x'.repeat(10_000) } })
    expect(body.userAgent).toBe('x'.repeat(512))
  })

  it('a plugin or an endpoint cannot replace it', async () => {
    const seen: unknown[] = []
    client = new Database(':memory:')
    const server = await createServer({
      db: drizzle({ client }),
      registrations: [{ name: 'posts', schema: posts }],
      plugins: [
        requestMetadata(),
        {
          name: 'other',
          extendContext: (ctx: object) => {
            expect(() => Object.assign(ctx, { metadata: {} })).toThrow(TypeError)
          },
        },
        {
          name: 'mirror',
          routes: [{ method: 'GET', path: '/metadata', handler: (ctx: AutoApiContext) => void seen.push(Object.isFrozen(ctx.metadata)) }],
        },
      ],
    })
    expect((await server.request('GET', '/api/metadata')).status).toBe(204)
    expect(seen).toEqual([true])
  })
})

describe('behind a proxy', () => {
  it('the address and the request id are those of the proxy', async () => {
    const server = await open({}, { trustProxy: true })
    const { body, headers } = await server.request('GET', '/api/metadata', {
      headers: { 'x-forwarded-for': '6.6.6.6, 1.2.3.4', 'x-request-id': 'from_the-proxy-1' },
    })
    expect(body).toEqual({ requestId: 'from_the-proxy-1', ip: '1.2.3.4', userAgent: null })
    expect(headers.get('x-request-id')).toBe('from_the-proxy-1')
  })

  it.each(['short', 'x'.repeat(129), 'has space in it', 'line\u00E9breaking', 'a,b,c,d,e,f', '../../etc/passwd', '<script>alert(1)', ''])(
    '%j is no request id',
    async (sent) => {
      const { body } = await (await open({}, { trustProxy: true })).request('GET', '/api/metadata', { headers: { 'x-request-id': sent } })
      expect(body.requestId).toMatch(UUID)
    },
  )
})

describe('the option ip', () => {
  it.each([
    ['full', '1.2.3.4', '1.2.3.4'],
    ['prefix', '1.2.3.4', '1.2.3.0/24'],
    ['prefix', '2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    [false, '1.2.3.4', null],
  ] as const)('%j shows %s as %s', async (ip, address, shown) => {
    const { body } = await (
      await open({ ip }, { trustProxy: true })
    ).request('GET', '/api/metadata', { headers: { 'x-forwarded-for': address } })
    expect(body.ip).toBe(shown)
  })

  it('an address prefix has no bits of the host', () => {
    expect(['::1', '::ffff:1.2.3.4', 'fe80::1'].map(text => toAddressPrefix(toAddress(text)!))).toEqual([
      '0:0:0::/48',
      '1.2.3.0/24',
      'fe80:0:0::/48',
    ])
  })
})

describe('the request id', () => {
  it.each([
    ['GET', '/api/posts', undefined, 200],
    ['GET', '/api/posts/9', undefined, 404],
    ['GET', '/api/posts?filter[no]=1', undefined, 400],
    ['PATCH', '/api/posts/1', { title: 'x' }, 401],
    ['GET', '/api/failing', undefined, 500],
  ] as const)('is in the response of %s %s', async (method, path, body, status) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const answer = await (await open()).request(method, path, { body })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('x-request-id')).toMatch(UUID)
  })

  it.each([
    ['an unexpected error', 'GET', '/api/failing', undefined],
    ['a permission that throws', 'POST', '/api/posts', { title: 'x' }],
    ['an object-level rule that throws', 'DELETE', '/api/posts/1', undefined],
  ] as const)('is in the log line of %s', async (_what, method, path, body) => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { headers } = await (await open()).request(method, path, { body })
    expect(logged).toHaveBeenCalled()
    for (const [line] of logged.mock.calls) expect(line).toContain(`[auto-api] requestId=${headers.get('x-request-id')}`)
  })
})
