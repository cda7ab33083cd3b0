/** The tenant of a request: its sources in their order, staff of all tenants, and that a request cannot choose it. */
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { ContextExtender } from '../../../src/runtime/server/core/extensions/extensions'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { Caller } from '../../support/server'
import { ANN, HOMELESS, NOBODY, openDesk, told, VISITOR, type Desk, type DeskOptions } from '../../support/desk'

let desk: Desk

afterEach(() => desk.client.close())

/** A desk whose server plugin adds this to every context. */
async function openWith(extender: ContextExtender, options: DeskOptions = {}): Promise<Desk> {
  desk = await openDesk(options)
  const { addContextExtender } = await import('../../../src/runtime/server/utils/index')
  addContextExtender(extender)
  return desk
}

const ids = async (caller: Caller = ANN) => {
  const answer = await desk.request('GET', '/api/articles', { caller })
  return answer.status === 200 ? answer.body.data.map(({ id }: { id: number }) => id) : told(answer)
}

const OURS = [1, 2, 3]
const THEIRS = [11]

/** By hand: `ctx.tenant`, then `event.context.tenantId`, then the user's field; the first that is there. */
const SOURCES: [title: string, tenant: unknown, caller: Caller, seen: number[] | string][] = [
  ['ctx.tenant before the other two', { id: 2 }, { tenantId: 1, user: { id: 1, organizationId: 1 } }, THEIRS],
  ['the event\'s context before the user', undefined, { tenantId: 2, user: { id: 1, organizationId: 1 } }, THEIRS],
  ['the user\'s field at last', undefined, { user: { id: 1, organizationId: 2 } }, THEIRS],
  ['ctx.tenant for an anonymous caller', { id: 1 }, {}, OURS],
  ['text for a column of numbers', { id: '2' }, ANN, THEIRS],
  [
    'null in ctx.tenant: none, whatever the others say',
    { id: null },
    { tenantId: 1, user: { id: 1, organizationId: 1 } },
    '403 TENANT_REQUIRED',
  ],
  ['an empty string in ctx.tenant: none', { id: '' }, { tenantId: 1 }, '401 TENANT_REQUIRED'],
  ['an object in ctx.tenant: none', { id: { $ne: 0 } }, ANN, '403 TENANT_REQUIRED'],
  ['a list in ctx.tenant: none', { id: [1] }, ANN, '403 TENANT_REQUIRED'],
  ['text that fits no number: none', { id: 'acme' }, ANN, '403 TENANT_REQUIRED'],
  ['a number with more than a number: none', { id: '1 ' }, ANN, '403 TENANT_REQUIRED'],
  ['a fraction: none', { id: 1.5 }, ANN, '403 TENANT_REQUIRED'],
  ['a tenant without an id: none', {}, ANN, '403 TENANT_REQUIRED'],
]

describe('the tenant comes from', () => {
  it.each(SOURCES)('%s', async (_title, tenant, caller, seen) => {
    await openWith((ctx) => {
      if (tenant) ctx.tenant = tenant as never
    })
    expect(await ids(caller)).toEqual(seen)
  })

  it('the configured field of the user, and from no other', async () => {
    desk = await openDesk({ config: { multiTenancy: { ...DEFAULT_MULTI_TENANCY, userTenantField: 'team' } } })
    expect(await ids({ user: { id: 1, team: 2, organizationId: 1 } })).toEqual(THEIRS)
    expect(await ids(ANN)).toBe('403 TENANT_REQUIRED')
  })
})

describe('a tenant-scoped resource without a tenant', () => {
  const REQUESTS: [method: string, path: string, body?: unknown][] = [
    ['GET', ''],
    ['GET', '/1'],
    ['POST', '', { title: 'a' }],
    ['PATCH', '/1', { title: 'a' }],
    ['DELETE', '/1'],
    ['DELETE', '/1?force=true'],
    ['POST', '/4/restore'],
    ['GET', '/aggregate?aggregate=count'],
    ['POST', '/bulk', { items: [{ title: 'a' }] }],
    ['PATCH', '/bulk', { items: [{ id: 1, data: {} }] }],
    ['DELETE', '/bulk', { ids: [1] }],
    ['POST', '/bulk/restore', { ids: [4] }],
    ['POST', '/bulk/restore', { deletionId: 'd4' }],
    ['GET', '/1/relations/tags'],
    ['PUT', '/1/relations/tags', { ids: [] }],
    ['POST', '/1/relations/tags', { ids: [2] }],
    ['DELETE', '/1/relations/tags', { ids: [1] }],
    ['PUT', '/1/relations', { relations: { tags: { ids: [] } } }],
  ]

  it.each(REQUESTS)('refuses every caller: %s %s', async (method, path, body) => {
    desk = await openDesk()
    const before = desk.dump()
    const ask = async (caller: Caller) => told(await desk.request(method, `/api/articles${path}`, { body, caller }))
    expect([await ask(NOBODY), await ask(HOMELESS), await ask({ user: { id: 1, permissions: ['*'] } })]).toEqual([
      '401 TENANT_REQUIRED',
      '403 TENANT_REQUIRED',
      '403 TENANT_REQUIRED',
    ])
    expect(desk.dump()).toBe(before)
    expect(await ask(ANN)).toMatch(/^20[01]$/)
  })

  it('refuses includes and relations too', async () => {
    desk = await openDesk()
    for (const path of ['/api/tags?include=articles', '/api/tags/1/relations/articles']) {
      expect(told(await desk.request('GET', path, { caller: HOMELESS }))).toBe('403 TENANT_REQUIRED')
      expect(told(await desk.request('GET', path, { caller: ANN }))).toBe('200')
    }
  })
})

describe('resources', () => {
  const as = (multiTenancy: object): DeskOptions => ({ config: { multiTenancy: { ...DEFAULT_MULTI_TENANCY, ...multiTenancy } } })

  it('are scoped when they are listed, and the others are not', async () => {
    desk = await openDesk(as({ scopedResources: ['articles'] }))
    expect(await ids()).toEqual(OURS)
    expect((await desk.request('GET', '/api/writers')).body.meta.total).toBe(3)
  })

  it('are not scoped when they are excluded, and the others are', async () => {
    desk = await openDesk(as({ excludedResources: ['writers'] }))
    expect(await ids()).toEqual(OURS)
    expect((await desk.request('GET', '/api/writers')).body.meta.total).toBe(3)
  })

  it('fail the start when they are listed and have no tenant column', async () => {
    await expect(openDesk(as({ scopedResources: ['tags'] }))).rejects.toThrow(/tags/)
  })

  it('are not scoped when multi-tenancy is off', async () => {
    desk = await openDesk(as({ enabled: false }))
    expect(await ids(NOBODY)).toEqual([1, 2, 3, 11])
  })
})

describe('staff of all tenants', () => {
  const staff = (id: number | null) => openWith((ctx) => {
    ctx.tenant = { id, canAccessAllTenants: true }
  })

  it('reads, updates and deletes the rows of every tenant', async () => {
    await staff(null)
    expect(await ids()).toEqual([...OURS, ...THEIRS])
    expect((await desk.request('GET', '/api/articles/aggregate?aggregate=count', { caller: ANN })).body.data).toEqual([{ count: 4 }])
    expect(
      (await desk.request('PATCH', '/api/articles/11', { caller: ANN, body: { title: 'edited', organizationId: 1 } })).body,
    ).toMatchObject({ title: 'edited', organizationId: 2 })
    expect(told(await desk.request('DELETE', '/api/articles/11', { caller: ANN }))).toBe('200')
  })

  it('creates only with a tenant of its own', async () => {
    await staff(null)
    const before = desk.dump()
    for (const body of [{ title: 'a' }, { title: 'a', organizationId: 2 }]) {
      expect(told(await desk.request('POST', '/api/articles', { caller: ANN, body }))).toBe('403 TENANT_REQUIRED')
      expect(told(await desk.request('POST', '/api/articles', { body }))).toBe('401 TENANT_REQUIRED')
    }
    expect(desk.dump()).toBe(before)
    expect((await desk.request('GET', '/api/articles/permissions', { caller: ANN })).body).toMatchObject({
      canRead: true,
      canUpdate: true,
      canCreate: false,
    })
  })

  it('creates rows in the tenant that the context extender sets', async () => {
    await staff(2)
    expect((await desk.request('POST', '/api/articles', { caller: ANN, body: { title: 'a', organizationId: 1 } })).body).toMatchObject({
      organizationId: 2,
    })
    expect(await ids()).toEqual([1, 2, 3, 11, 12])
  })

  it.each([1, 'true', {}])('requires canAccessAllTenants to be true, not only truthy: %j', async (flag) => {
    await openWith((ctx) => {
      ctx.tenant = { id: 1, canAccessAllTenants: flag as never }
    })
    expect(await ids()).toEqual(OURS)
  })
})

describe('a request', () => {
  const name = fc.constantFrom(
    'x-tenant-id',
    'X-Tenant-Id',
    'tenantId',
    'tenant_id',
    'tenant',
    'organizationId',
    'organization_id',
    'x-organization-id',
    'ctx.tenant',
    'context.tenantId',
    'canAccessAllTenants',
    '__proto__',
  )
  const value = fc.oneof(
    fc.constantFrom('1', '2', '*', '', '1,2', 'null', 'true', '{"id":2,"canAccessAllTenants":true}'),
    fc.nat(20).map(String),
  )
  const naming = fc.record({
    headers: fc.dictionary(
      name.filter(it => /^[\w-]+$/.test(it)),
      value,
      { maxKeys: 3 },
    ),
    query: fc.array(fc.tuple(name, value), { maxLength: 3 }),
  })

  it('never chooses the tenant: not by a header, not by a parameter', async () => {
    desk = await openDesk()
    const expected = new Map<Caller, string[]>()
    const PATHS = [
      '/api/articles?limit=50',
      '/api/articles/1',
      '/api/articles/11',
      '/api/articles/aggregate?aggregate=count,sum(fee)',
      '/api/articles/permissions?ids=1,11',
      '/api/permissions?',
      '/api/tags?include=articles',
    ]
    const ask = async (caller: Caller, query = '', headers = {}) => Promise.all(PATHS.map(async (path) => {
      const { status, text } = await desk.request('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`, { caller, headers })
      return `${status} ${text}`
    }))
    // One after another: the caller of a test server is the last one that asked.
    for (const caller of [ANN, VISITOR, HOMELESS, NOBODY]) expected.set(caller, await ask(caller))
    await fc.assert(fc.asyncProperty(fc.constantFrom(...expected.keys()), naming, async (caller, { headers, query }) => {
      // An error contains the URL of its request; the rest must be the same.
      const answers = await ask(caller, String(new URLSearchParams(query)), headers)
      const withoutUrl = (texts: string[]) => texts.map(text => text.replace(/"url":"[^"]*"/, ''))
      expect(withoutUrl(answers)).toEqual(withoutUrl(expected.get(caller)!))
    }), { numRuns: 60 })
  })

  it('never chooses the tenant of a row it writes: not by a key of the body either', async () => {
    desk = await openDesk()
    const tenants = () => desk.client.prepare('select id, organization_id from articles where id <= 11').raw().all()
    const before = tenants()
    await fc.assert(
      fc.asyncProperty(
        naming,
        fc.oneof(fc.constantFrom<unknown>(1, 2, null, '2', { id: 2 }, [2])),
        async ({ headers, query }, organizationId) => {
          const params = String(new URLSearchParams(query))
          const options = { headers, caller: ANN }
          const made = await desk.request('POST', `/api/articles?${params}`, { ...options, body: { title: 'a', organizationId } })
          expect([made.status, made.body.organizationId]).toEqual([201, 1])
          const bulk = await desk.request('POST', `/api/articles/bulk?${params}`, {
            ...options,
            body: { items: [{ title: 'a', organizationId }] },
          })
          expect(bulk.body.data[0].organizationId).toBe(1)
          expect(
            (await desk.request('PATCH', `/api/articles/1?${params}`, { ...options, body: { title: 'b', organizationId } })).body
              .organizationId,
          ).toBe(1)
          expect(
            (await desk.request('PATCH', `/api/articles/11?${params}`, { ...options, body: { title: 'b', organizationId } })).status,
          ).toBe(404)
        },
      ),
      { numRuns: 30 },
    )
    expect(tenants()).toEqual(before)
    expect(desk.client.prepare('select count(*) from articles where organization_id <> 1').pluck().get()).toBe(1)
  })
})
