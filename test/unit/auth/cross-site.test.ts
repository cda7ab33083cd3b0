/** A page of another site cannot send writes with the caller's cookies. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../../../src/runtime/shared/routes'
import { ANN, NOBODY, openDesk, told, type Desk } from './desk'

let desk: Desk

const BODIES: Readonly<Record<string, unknown>> = {
  'create': { title: 'a' },
  'bulk-create': { items: [{ title: 'a' }] },
  'bulk-update': { items: [{ id: 1, data: { title: 'a' } }] },
  'bulk-delete': { ids: [1] },
  'bulk-restore': { ids: [4] },
  'update': { title: 'a' },
  'relation-replace': { ids: [2] },
  'relation-add': { ids: [2] },
  'relation-remove': { ids: [1] },
  'relations-replace': { relations: { tags: { ids: [2] } } },
}

const pathOf = ({ name, path }: typeof ROUTES[number]) => `/api${path.replace(':resource', 'articles').replace(':id', name === 'restore' ? '4' : '1').replace(':relation', 'tags').replace(':table', 'article_tags').replace(':name', 'articles')}`

const writes = ROUTES.filter(({ method }) => (method as string) !== 'GET')
const reads = ROUTES.filter(({ method }) => method === 'GET')

const foreign = { 'sec-fetch-site': 'cross-site', 'origin': 'https://evil.example' }

/** Cases by hand: further headers of a request, and whether it can write. */
const FROM: [title: string, headers: Record<string, string>, passes: boolean][] = [
  ['another site', foreign, false],
  ['another site that tells no origin', { 'sec-fetch-site': 'cross-site' }, false],
  ['a listed origin', { ...foreign, origin: 'https://admin.example' }, true],
  ['a listed origin, spelled with a slash', { ...foreign, origin: 'https://admin.example/' }, false],
  ['an origin that begins like a listed one', { ...foreign, origin: 'https://admin.example.evil.example' }, false],
  ['another site with a bearer token', { ...foreign, authorization: 'Bearer abc' }, true],
  ['another site with a bearer token in small letters', { ...foreign, authorization: 'bearer abc' }, true],
  ['another site with a password', { ...foreign, authorization: 'Basic abc' }, false],
  ['another site that says bearer elsewhere', { ...foreign, authorization: 'Basic bearer abc' }, false],
  ['a page of a sibling host', { 'sec-fetch-site': 'same-site' }, true],
  ['a page of its own', { 'sec-fetch-site': 'same-origin' }, true],
  ['no page at all', { 'sec-fetch-site': 'none' }, true],
  ['a client that is no browser', {}, true],
  ['an older browser on a page of its own', { host: 'app.example', origin: 'https://app.example' }, true],
  ['an older browser on another site', { host: 'app.example', origin: 'https://evil.example' }, false],
  ['an older browser on a listed origin', { host: 'app.example', origin: 'https://admin.example' }, true],
  ['an older browser on another site with a bearer token', { host: 'app.example', origin: 'https://evil.example', authorization: 'Bearer abc' }, true],
  ['an older browser in a sandboxed frame', { host: 'app.example', origin: 'null' }, false],
  ['an older browser on a sibling host', { host: 'app.example', origin: 'https://blog.app.example' }, false],
]

/** By hand: the host that a request without `Sec-Fetch-Site` was sent to, and whether a page of this origin is its own. */
const HOSTS: [host: string | undefined, origin: string, passes: boolean][] = [
  ['app.example', 'http://app.example', true],
  ['APP.example', 'https://app.example', true],
  ['app.example:443', 'https://app.example', true],
  ['app.example:80', 'http://app.example', true],
  ['app.example', 'https://app.example:8443', false],
  ['app.example:8443', 'https://app.example', false],
  ['localhost:3000', 'http://localhost:3000', true],
  ['localhost:3000', 'http://localhost:3001', false],
  ['127.0.0.1:3000', 'http://localhost:3000', false],
  ['[::1]:3000', 'http://[::1]:3000', true],
  ['app.example', 'https://app.example.evil.example', false],
  ['app.example', 'https://evil.example/app.example', false],
  ['app.example', 'https://app.example@evil.example', false],
  ['app.example@evil.example', 'https://evil.example', false],
  ['app.example', 'https://app.example, https://evil.example', false],
  ['app.example', 'app.example', false],
  ['app.example', '', false],
  ['app.example', 'file://', false],
  ['app.example', 'capacitor://app.example', false],
  [undefined, 'https://app.example', false],
]

describe.each(writes)('$method $path', (route) => {
  beforeAll(async () => {
    desk = await openDesk({ config: { csrf: { origins: ['https://admin.example'] } } })
  })

  afterAll(() => desk.client.close())

  it.each(FROM)('from %s', async (_title, headers, passes) => {
    const before = desk.dump()
    const answer = await desk.request(route.method, pathOf(route), { body: BODIES[route.name], headers, caller: ANN })
    if (passes) {
      // Repeated deletes and restores find nothing: what matters is that the rule let them through.
      expect(told(answer)).not.toBe('403 CROSS_SITE')
      expect([200, 201, 404]).toContain(answer.status)
    }
    else {
      expect(told(answer)).toBe('403 CROSS_SITE')
      expect(desk.dump()).toBe(before)
    }
  })

  it('is refused before the caller is resolved', async () => {
    expect(told(await desk.request(route.method, pathOf(route), { body: BODIES[route.name], headers: foreign, caller: NOBODY }))).toBe('403 CROSS_SITE')
  })
})

describe('the rule', () => {
  afterEach(() => desk.client.close())

  it.each(reads)('does not apply to reads: $path', async (route) => {
    desk = await openDesk()
    const answer = await desk.request('GET', pathOf(route), { headers: foreign, caller: ANN })
    expect(told(answer)).toBe('200')
  })

  it.each(writes)('is off with `csrf: false`: $method $path', async (route) => {
    desk = await openDesk({ config: { csrf: false } })
    expect(told(await desk.request(route.method, pathOf(route), { body: BODIES[route.name], headers: foreign, caller: ANN }))).toMatch(/^20[01]$/)
  })

  const write = (headers: Record<string, string>) => desk.request('POST', '/api/tags', { body: { name: 'a' }, headers, caller: ANN })

  it.each(HOSTS)('compares the whole host with the origin where `Sec-Fetch-Site` is missing: %s, %s → %s', async (host, origin, passes) => {
    desk = await openDesk()
    expect(told(await write({ ...host !== undefined && { host }, origin }))).toBe(passes ? '201' : '403 CROSS_SITE')
    expect(told(await write({ ...host !== undefined && { host }, origin, 'sec-fetch-site': 'nonsense' }))).toBe(passes ? '201' : '403 CROSS_SITE')
  })

  it.each<[trustProxy: boolean | number, forwarded: string, passes: boolean]>([
    [true, 'shop.example', true],
    [1, 'evil.example, shop.example', true],
    [1, 'shop.example, inner.example', false],
    [2, 'shop.example, inner.example', true],
    [true, 'inner.example', false],
    [false, 'shop.example', false],
  ])('reads X-Forwarded-Host only behind a proxy of the app: trustProxy %s, %s → %s', async (trustProxy, forwarded, passes) => {
    desk = await openDesk({ config: { trustProxy } })
    expect(told(await write({ 'host': '10.0.0.7:3000', 'x-forwarded-host': forwarded, 'origin': 'https://shop.example' }))).toBe(passes ? '201' : '403 CROSS_SITE')
  })

  it('applies to an endpoint of the app that writes, and not to one that reads', async () => {
    desk = await openDesk({ endpoints: async () => {
      const { createEndpoint } = await import('../../../src/runtime/server/utils/index')
      return { 'POST /own': createEndpoint({ handler: () => 'written' }), 'GET /own': createEndpoint({ handler: () => ['read'] }) }
    } })
    expect(told(await desk.request('POST', '/own', { headers: foreign }))).toBe('403 CROSS_SITE')
    expect(told(await desk.request('GET', '/own', { headers: foreign }))).toBe('200')
  })
})
