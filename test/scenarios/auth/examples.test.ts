/** The documentation's examples, as they are shown, in a running API. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import type { Caller } from '../../support/server'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { openDesk, told, type Desk } from '../../support/desk'
import { articlesAuth } from './examples/articles.auth'
import config from './examples/nuxt.config'

let desk: Desk

const READER: Caller = { user: { id: 1, organizationId: 1 } }
const WRITER: Caller = { user: { id: 1, organizationId: 1, permissions: ['articles:write'] } }
const PUBLISHER: Caller = { user: { id: 2, organizationId: 1, permissions: ['articles:publish'] } }

beforeEach(async () => {
  desk = await openDesk({ auth: { articles: articlesAuth as ResourceAuth }, endpoints: async () => ({
    'POST /publish/:id': (await import('./examples/publish.post')).default,
    'GET /expensive': (await import('./examples/expensive.get')).default,
    'POST /move-fee': (await import('./examples/move-fee.post')).default,
    'POST /undo/:deletionId': (await import('./examples/undo.post')).default,
    'GET /may-write': (await import('./examples/may-write.get')).default,
  }) })
})

afterEach(() => desk.client.close())

const ask = async (method: string, path: string, caller: Caller, body?: unknown) => told(await desk.request(method, path, { caller, body }))
const one = (sql: string) => desk.client.prepare(sql).pluck().get()

describe('the docs page endpoints', () => {
  it('a named gate decides the operation it declares', async () => {
    expect([
      await ask('POST', '/publish/1', WRITER),
      await ask('POST', '/publish/1', { tenantId: 1 }),
      await ask('POST', '/publish/11', PUBLISHER),
    ]).toEqual(['403 FORBIDDEN', '401 UNAUTHENTICATED', '404 NOT_FOUND'])
    expect((await desk.request('POST', '/publish/1', { caller: PUBLISHER })).body).toEqual({ published: 1 })
    expect(one('select status from articles where id = 1')).toBe('published')
  })

  it('a query of one\'s own stays within the caller\'s rows', async () => {
    expect((await desk.request('GET', '/expensive?min=20', { caller: READER })).body).toEqual([
      { id: 2, title: 'two' },
      { id: 3, title: 'three' },
    ])
    expect(await ask('GET', '/expensive?min=much', READER)).toBe('400 VALIDATION_FAILED')
  })

  it('statements are committed together, after the rows were judged', async () => {
    expect(await ask('POST', '/move-fee', WRITER, { from: 1, to: 2, amount: 5 })).toBe('204')
    expect([one('select fee from articles where id = 1'), one('select fee from articles where id = 2')]).toEqual([5, 25])
    const before = desk.dump()
    expect([
      await ask('POST', '/move-fee', WRITER, { from: 1, to: 11, amount: 5 }),
      await ask('POST', '/move-fee', WRITER, { from: 1, to: 2, amount: -5 }),
    ]).toEqual(['404 NOT_FOUND', '400 VALIDATION_FAILED'])
    expect(desk.dump()).toBe(before)
  })

  it('statements of a dry run are checked and rolled back', async () => {
    const before = desk.dump()
    expect(await ask('POST', '/move-fee?dryRun=true', WRITER, { from: 1, to: 2, amount: 5 })).toBe('204')
    expect(await ask('POST', '/move-fee?dryRun=true', WRITER, { from: 1, to: 11, amount: 5 })).toBe('404 NOT_FOUND')
    expect(await ask('POST', '/move-fee?dryRun=yes', WRITER, { from: 1, to: 2, amount: 5 })).toBe('400 INVALID_QUERY')
    expect(desk.dump()).toBe(before)
  })

  it('a batch comes back by the caller\'s own rights', async () => {
    expect(await ask('POST', '/undo/d4', READER)).toBe('403 FORBIDDEN')
    expect(await ask('POST', '/undo/d4', WRITER)).toBe('200')
    expect(one('select deleted_at from articles where id = 4')).toBe(null)
  })

  it('an ordinary event handler asks for a permission', async () => {
    expect((await desk.request('GET', '/may-write', { caller: WRITER })).body).toEqual({ editor: 1 })
    expect([await ask('GET', '/may-write', READER), await ask('GET', '/may-write', { tenantId: 1 })]).toEqual([
      '403 FORBIDDEN',
      '401 UNAUTHENTICATED',
    ])
  })
})

describe('the docs page tenancy', () => {
  it('a context extender checks the organization that a caller chooses, and lets support staff see all', async () => {
    const { addTenants } = await import('./examples/plugin')
    addTenants()
    const idsIn = async (organization: string, user?: Record<string, unknown>) => {
      const answer = await desk.request('GET', '/api/articles', {
        caller: user ? { user } : {},
        headers: { 'x-organization': organization },
      })
      return answer.status === 200 ? answer.body.data.map(({ id }: { id: number }) => id) : told(answer)
    }
    expect([await idsIn('1', { id: 1 }), await idsIn('2', { id: 1 }), await idsIn('2', { id: 2 })]).toEqual([[1, 2, 3], [11], [11]])
    expect([
      await idsIn('1', { id: 2 }),
      await idsIn('', { id: 1 }),
      await idsIn('1', { id: 3, organizationId: 1 }),
      await idsIn('1'),
    ]).toEqual(['403 TENANT_REQUIRED', '403 TENANT_REQUIRED', '403 TENANT_REQUIRED', '401 TENANT_REQUIRED'])
    expect(await idsIn('', { id: 9, role: 'support' })).toEqual([1, 2, 3, 11])
  })
})

describe('the docs page authorization', () => {
  it('an evaluator decides permissions of its own kind', async () => {
    expect(await ask('DELETE', '/api/articles/1', READER)).toBe('403 FORBIDDEN')
    const { addPlans } = await import('./examples/plugin')
    addPlans()
    expect([
      await ask('DELETE', '/api/articles/1', READER),
      await ask('DELETE', '/api/articles/1', { user: { id: 1, organizationId: 1, plan: 'pro' } }),
    ]).toEqual(['403 FORBIDDEN', '200'])
  })
})

it('the options of the docs page tenancy separate the rows of two organizations', async () => {
  const { multiTenancy } = (config as { autoApi: { multiTenancy: object } }).autoApi
  const tenants = await openDesk({ config: { multiTenancy: { ...DEFAULT_MULTI_TENANCY, ...multiTenancy } } })
  const statusFor = async (organizationId: number) =>
    (await tenants.request('GET', '/api/articles/1', { caller: { user: { id: 1, organizationId } } })).status
  expect([await statusFor(1), await statusFor(2)]).toEqual([200, 404])
  tenants.client.close()
})
