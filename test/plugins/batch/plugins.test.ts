/** What other plugins make of a batch: the audit log and its feed, cached responses, API tokens. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { activityFeed, auditLog, batch, responseCache } from '../../../src/runtime/plugins'
import { auditLogTable } from '../../../src/runtime/plugins/schema-sqlite'
import { openTokenApi } from '../../support/api-tokens'
import { CLERK, create, openShop, ref, remove, TABLES, update } from './shop'

afterEach(() => vi.restoreAllMocks())

describe('the audit log', () => {
  const openLogged = () => openShop({
    tables: { ...TABLES, auditLog: auditLogTable() } as never,
    plugins: [auditLog(), activityFeed({ actor: { resource: 'labels', label: 'name' }, labels: { orders: 'number' } }), batch()],
  })
  const entries = (shop: Awaited<ReturnType<typeof openLogged>>, columns: string) =>
    shop.rows(`select ${columns} from audit_log order by id`)

  it('has one entry for each step with one request, and the images that each step has found and left', async () => {
    const shop = await openLogged()
    const { status } = await shop.request('POST', '/api/batch', { caller: CLERK, headers: { 'x-request-id': 'r-1' }, body: { steps: [
      create('orders', { number: 'B1' }, 'order'), create('lines', { orderId: ref('order.id'), text: 'x' }),
      update('orders', 1, { note: 'first' }), update('orders', 1, { note: 'second' }), update('orders', ref('order.id'), { note: 'new' }),
      remove('lines', 1),
    ] } })
    expect(status).toBe(200)
    const rows = entries(shop, 'kind, resource, record_id, before, after') as [string, string, string, string | null, string | null][]
    const noteOf = (image: string | null) => (JSON.parse(image ?? 'null') as { note?: unknown } | null)?.note ?? null
    const found = rows.map(([kind, resource, id, before, after]) => [kind, resource, id, noteOf(before), noteOf(after)])
    expect(found).toHaveLength(6)
    expect(found).toEqual(expect.arrayContaining([
      ['create', 'orders', '4', null, null], ['create', 'lines', '2', null, null], ['update', 'orders', '1', null, 'first'],
      ['update', 'orders', '1', 'first', 'second'], ['update', 'orders', '4', null, 'new'],
    ]))
    expect([new Set(entries(shop, 'request_id')).size, new Set(entries(shop, 'at')).size]).toEqual([1, 1])
    const feed = await shop.request('GET', '/api/activity', { caller: { user: { id: 2 }, permissions: ['activity:read'] } })
    const count = feed.body.data.reduce((sum: number, entry: { count: number }) => sum + entry.count, 0)
    // The removed line is not visible any more.
    expect([feed.status, count]).toEqual([200, 5])
  })

  it('has no entry of a refused batch, and none of a dry run', async () => {
    const shop = await openLogged()
    const steps = [update('orders', 1, { note: 'x' }), create('orders', { number: 'A2' })]
    expect((await shop.send('POST', 'batch', { steps }, CLERK)).status).toBe(409)
    expect((await shop.send('POST', 'batch?dryRun=true', { steps: [steps[0]] }, CLERK)).status).toBe(200)
    expect(entries(shop, 'id')).toEqual([])
  })
})

it('outdates the cached responses of every resource that it writes', async () => {
  const shop = await openShop({ plugins: [responseCache({ ttl: 60 }), batch()] })
  const read = async (path: string) => (await shop.send('GET', path, undefined, CLERK)).headers.get('cache-status')?.includes('hit')
  const state = async () => [await read('orders'), await read('lines'), await read('seats')]
  await state()
  expect(await state()).toEqual([true, true, true])
  await shop.send('POST', 'batch', { steps: [create('orders', { number: 'B1' }, 'order'), create('lines', { orderId: ref('order.id'), text: 'x' })] }, CLERK)
  expect(await state()).toEqual([false, false, true])
  expect((await shop.send('GET', 'lines', undefined, CLERK)).body.data.at(-1)).toMatchObject({ text: 'x' })
})

describe('an API token', () => {
  it('needs the scope of each step', async () => {
    const api = await openTokenApi({ plugins: [batch()] })
    const steps = [{ resource: 'posts', operation: 'update', id: 1, data: { title: 'x' } }, { resource: 'posts', operation: 'create', data: { title: 'y' } }]
    const titles = () => api.client.prepare('select title from posts order by id').pluck().all()
    const send = async (scopes: readonly string[]) => api.ask((await api.make(1, { scopes })).token, 'POST', '/api/batch', { body: { steps } })
    const before = titles()
    const refused = await send(['posts:update'])
    expect([refused.status, refused.body.data.errors, titles()]).toEqual([403, [expect.objectContaining({ step: 1, code: 'FORBIDDEN' })], before])
    expect((await send(['posts:update', 'posts:create'])).status).toBe(200)
    expect(titles()).not.toEqual(before)
    api.close()
  })

  it('is made by no batch, which has no place for its secret once', async () => {
    const api = await openTokenApi({ plugins: [batch()] })
    const { status, text } = await api.server.request('POST', '/api/batch', { caller: api.session(1), body: { steps: [
      { resource: 'apiTokens', operation: 'create', data: { name: 'deploy' } },
    ] } })
    expect([status >= 400, text.includes('token"'), api.client.prepare('select count(*) from api_tokens').pluck().get()]).toEqual([true, false, 0])
    api.close()
  })
})
