/** A limit of an operation counts every request with this operation, in each of its forms. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RateLimitOptions } from '../../../src/runtime/plugins'
import type { IncomingRequest } from '../../../src/runtime/server/core/extensions/listeners'
import type { Operation } from '../../../src/runtime/shared/operations'
import { CHIEF, openDesk, told, type Desk } from '../../support/desk'

let desk: Desk

// The requests of these tests come from no address.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}))

afterEach(() => {
  desk.client.close()
  vi.restoreAllMocks()
})

const limited = (options: RateLimitOptions) => async () => (await import('../../../src/runtime/plugins')).rateLimit(options)

type Asked = readonly [method: string, path: string, body?: object]

/** Each way of doing an operation, and all that it is counted as. */
const WAYS: readonly [request: Asked, counted: readonly Operation[]][] = [
  [['GET', '/articles'], ['read']],
  [['GET', '/articles?include=writer,comments'], ['read']],
  [['GET', '/articles?groupBy=status'], ['read', 'aggregate']],
  [['GET', '/articles?groupBy='], ['read', 'aggregate']],
  [['GET', '/articles?aggregate=count'], ['read', 'aggregate']],
  [['GET', '/articles?aggregate=count&groupBy=status&onlyDeleted=true'], ['read', 'aggregate', 'viewDeleted']],
  [['GET', '/articles?includeDeleted=true'], ['read', 'viewDeleted']],
  [['GET', '/articles/1?includeDeleted=true'], ['read', 'viewDeleted']],
  [['GET', '/articles/aggregate'], ['aggregate']],
  [['GET', '/articles/aggregate?onlyDeleted=true'], ['aggregate', 'viewDeleted']],
  [['HEAD', '/articles?groupBy=status'], ['read', 'aggregate']],
  [['DELETE', '/articles/3'], ['delete']],
  [['DELETE', '/articles/3?force=true'], ['purge', 'delete']],
  [['DELETE', '/articles/bulk?force=true', { ids: [4] }], ['purge', 'delete']],
  [['DELETE', '/articles/bulk?force=true', { deletionId: 'd4' }], ['purge', 'delete']],
  [['POST', '/articles/4/restore'], ['restore']],
  [['POST', '/articles/bulk/restore', { ids: [4] }], ['restore']],
  [['GET', '/articles/1/relations/tags'], ['read']],
  [['POST', '/articles/1/relations/tags', { ids: [2] }], ['update', 'create']],
  [['DELETE', '/articles/1/relations/tags', { ids: [1] }], ['update', 'delete']],
  [['PUT', '/articles/1/relations/tags', { ids: [2] }], ['update', 'create', 'delete']],
  [['PUT', '/articles/1/relations', { relations: { tags: { ids: [2] } } }], ['update', 'create', 'delete']],
  [['POST', '/articles?onConflict=slug', { slug: 'new', title: 'x' }], ['create', 'update']],
  [['POST', '/articles/bulk?onConflict=slug', { items: [{ slug: 'new', title: 'x' }] }], ['create', 'update']],
  // Whether there is such a relation is not told.
  [['POST', '/articles/1/relations/nothing', { ids: [2] }], ['update', 'create']],
]

describe.each(WAYS)('%j', ([method, path, body], counted) => {
  it(`is a request of ${counted.join(', ')} for plugins and limits`, async () => {
    const seen: IncomingRequest[] = []
    desk = await openDesk({ plugins: [{ name: 'spy', onRequest: (request: IncomingRequest) => void seen.push(request) }] })
    await desk.request(method, `/api${path}`, { body, caller: CHIEF })
    expect(seen.map(({ operation, operations }) => ({ operation, operations }))).toEqual([{ operation: counted[0], operations: counted }])
  })

  it.each(counted)('is refused by the limit of one of its operations, which other requests have used up: %s', async (operation) => {
    desk = await openDesk({ plugins: [limited({ limit: 100, operations: { [operation]: { limit: 1 } } })] })
    const ask = () => desk.request(method, `/api${path}`, { body, caller: CHIEF })
    expect((await ask()).status).not.toBe(429)
    const before = desk.dump()
    const second = await ask()
    expect(second.status).toBe(429)
    if (method !== 'HEAD') expect(told(second)).toBe('429 RATE_LIMITED')
    expect(second.headers.get('ratelimit-policy')).toContain(`"rate-limit-${operation}";q=1;w=60`)
    expect(desk.dump()).toBe(before)
  })
})

it('counts a request of several operations once in each limit of these operations', async () => {
  desk = await openDesk({ plugins: [limited({ limit: 3, operations: { aggregate: { limit: 2 }, viewDeleted: false } })] })
  const left = async (path: string) => (await desk.request('GET', `/api/articles${path}`, { caller: CHIEF })).headers.get('ratelimit')
  expect(await left('?groupBy=status')).toBe('"rate-limit";r=2;t=60, "rate-limit-aggregate";r=1;t=60')
  expect(await left('?includeDeleted=true')).toBe('"rate-limit";r=1;t=60')
  expect(await left('/aggregate')).toBe('"rate-limit-aggregate";r=0;t=60')
})

it('removing the limit of one operation keeps that of another', async () => {
  desk = await openDesk({ plugins: [limited({ limit: 1, operations: { read: false } })] })
  const statuses = []
  for (const path of ['', '', '?groupBy=status', '?groupBy=status', ''])
    statuses.push((await desk.request('GET', `/api/articles${path}`, { caller: CHIEF })).status)
  expect(statuses).toEqual([200, 200, 200, 429, 200])
})

it('a permission to purge is enough to purge', async () => {
  desk = await openDesk({ auth: { articles: { permissions: { purge: true, delete: false } } } })
  expect((await desk.request('DELETE', '/api/articles/3?force=true', { caller: { user: { id: 1, organizationId: 1 } } })).status).toBe(200)
})
