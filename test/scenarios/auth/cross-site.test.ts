/** A page of another site cannot send writes with the caller's cookies. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../../../src/runtime/shared/routes'
import { ANN, NOBODY, openDesk, told, type Desk } from '../../support/desk'
import { foreign, FROM, HOSTS, ORIGINS, PROXIES } from '../../support/sites'

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

const pathOf = ({ name, path }: (typeof ROUTES)[number]) =>
  `/api${path
    .replace(':resource', 'articles')
    .replace(':id', name === 'restore' ? '4' : '1')
    .replace(':relation', 'tags')
    .replace(':table', 'article_tags')
    .replace(':name', 'articles')}`

const writes = ROUTES.filter(({ method }) => (method as string) !== 'GET')
const reads = ROUTES.filter(({ method }) => method === 'GET')

describe.each(writes)('$method $path', (route) => {
  beforeAll(async () => {
    desk = await openDesk({ config: { csrf: { origins: ORIGINS } } })
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
    expect(told(await desk.request(route.method, pathOf(route), { body: BODIES[route.name], headers: foreign, caller: NOBODY }))).toBe(
      '403 CROSS_SITE',
    )
  })
})

const write = (headers: Record<string, string>) => desk.request('POST', '/api/tags', { body: { name: 'a' }, headers, caller: ANN })

describe('the rule', () => {
  beforeAll(async () => {
    desk = await openDesk()
  })

  afterAll(() => desk.client.close())

  it.each(reads)('does not apply to reads: $path', async (route) => {
    const answer = await desk.request('GET', pathOf(route), { headers: foreign, caller: ANN })
    expect(told(answer)).toBe('200')
  })

  it.each(HOSTS)('compares the whole host with the origin where `Sec-Fetch-Site` is missing: %s, %s → %s', async (host, origin, passes) => {
    expect(told(await write({ ...host !== undefined && { host }, origin }))).toBe(passes ? '201' : '403 CROSS_SITE')
    expect(told(await write({ ...(host !== undefined && { host }), origin, 'sec-fetch-site': 'nonsense' }))).toBe(
      passes ? '201' : '403 CROSS_SITE',
    )
  })
})

describe('the rule, by the options and the routes of the app,', () => {
  afterEach(() => desk.client.close())

  it.each(writes)('is off with `csrf: false`: $method $path', async (route) => {
    desk = await openDesk({ config: { csrf: false } })
    expect(told(await desk.request(route.method, pathOf(route), { body: BODIES[route.name], headers: foreign, caller: ANN }))).toMatch(
      /^20[01]$/,
    )
  })

  it.each(PROXIES)(
    'reads X-Forwarded-Host only behind a proxy of the app: trustProxy %s, %s → %s',
    async (trustProxy, forwarded, passes) => {
      desk = await openDesk({ config: { trustProxy } })
      expect(told(await write({ 'host': '10.0.0.7:3000', 'x-forwarded-host': forwarded, 'origin': 'https://shop.example' }))).toBe(
        passes ? '201' : '403 CROSS_SITE',
      )
    },
  )

  it('applies to an endpoint of the app that writes, and not to one that reads', async () => {
    desk = await openDesk({ endpoints: async () => {
      const { createEndpoint } = await import('../../../src/runtime/server/utils/index')
      return { 'POST /own': createEndpoint({ handler: () => 'written' }), 'GET /own': createEndpoint({ handler: () => ['read'] }) }
    } })
    expect(told(await desk.request('POST', '/own', { headers: foreign }))).toBe('403 CROSS_SITE')
    expect(told(await desk.request('GET', '/own', { headers: foreign }))).toBe('200')
  })
})
