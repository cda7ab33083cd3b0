/** What the API publishes on tracing channels, the header `Server-Timing`, and the log of slow statements. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { logSlowStatements } from '../../../src/runtime/server/core/process/slow-statements'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { CHIEF, CLERK, openShop } from '../http/shop'
import { collect } from './events'

let traced: ReturnType<typeof collect> | undefined
const trace = (...args: Parameters<typeof collect>) => traced = collect(...args)

afterEach(() => {
  traced?.stop()
  vi.restoreAllMocks()
})

describe('a request', () => {
  it('is published with its route, its status and what it cost', async () => {
    const { server } = await openShop()
    const { of } = trace()
    await server.request('GET', '/api/items?include={"notes":{}}', { caller: CLERK })
    const [request, ...others] = of('request')
    expect(others).toEqual([])
    expect(request).toMatchObject({ resource: 'items', operation: 'read', method: 'GET', route: 'list', status: 200 })
    const statements = of('statement')
    expect(request!.statements).toBe(statements.length)
    expect(request!.rows).toBe(statements.reduce((sum, { rows }) => sum + rows!, 0))
    expect(request!.rows).toBeGreaterThanOrEqual(5)
    expect(request!.times!.statement).toBeCloseTo(statements.reduce((sum, { duration }) => sum + duration!, 0), 5)
    expect(request!.duration).toBeGreaterThanOrEqual(request!.times!.statement)
  })

  it('has the events of Node\'s tracing channels in their order', async () => {
    const { server } = await openShop()
    const { events } = trace(['request', 'authorize'])
    await server.request('GET', '/api/items/1')
    expect(events.map(({ step, event }) => `${step} ${event}`)).toEqual([
      'request start', 'authorize start', 'authorize end', 'request end', 'request asyncStart', 'request asyncEnd',
    ])
  })

  it.each([
    ['GET', '/api/items/99', undefined, { status: 404, code: 'NOT_FOUND' }],
    ['DELETE', '/api/items/1', { user: { id: 9 } }, { status: 403, code: 'FORBIDDEN' }],
    ['DELETE', '/api/items/1', undefined, { status: 401, code: 'UNAUTHENTICATED' }],
    ['GET', '/api/items?filter={"nothing":1}', undefined, { status: 400, code: 'UNKNOWN_FIELD' }],
  ] as const)('that is refused has its status and code: %s %s', async (method, path, caller, expected) => {
    const { server } = await openShop()
    const { of, events } = trace()
    const { status } = await server.request(method, path, { ...caller && { caller: caller as never } })
    expect(status).toBe(expected.status)
    expect(of('request')).toMatchObject([expected])
    expect(events.filter(({ step, event }) => step === 'request' && event === 'error')).toHaveLength(1)
    if (expected.status === 401 || expected.status === 403) expect(of('authorize')).toMatchObject([{ operations: ['delete'], code: expected.code }])
  })

  it.each([new Error('a secret message'), null, undefined, 'text'])('that fails in a hook has the code of the response: %s', async (thrown) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { server, get } = await openShop({ hooks: { beforeCreate: () => {
      throw thrown
    } } })
    const { of } = trace()
    const { status } = await server.request('POST', '/api/items', { body: { name: 'cap' }, caller: CLERK })
    expect(status).toBe(500)
    expect(get('select count(*) as count from items')).toEqual({ count: 3 })
    expect(of('request')).toMatchObject([{ code: 'INTERNAL_ERROR' }])
    expect(of('hook')).toMatchObject([{ hook: 'beforeCreate', code: 'INTERNAL_ERROR' }])
  })

  it('is the scope in which subscribers keep their own context', async () => {
    const storage = new AsyncLocalStorage<string>()
    const request = tracingChannel<string, { method: string }>('auto-api.request')
    const seen: (string | undefined)[] = []
    const listen = () => void seen.push(storage.getStore())
    const statement = tracingChannel('auto-api.statement')
    request.start.bindStore(storage, ({ method }) => `span of ${method}`)
    statement.start.subscribe(listen)
    try {
      const { server } = await openShop()
      await Promise.all([server.request('GET', '/api/items'), server.request('POST', '/api/items', { body: { name: 'cap' }, caller: CLERK })])
    }
    finally {
      request.start.unbindStore(storage)
      statement.start.unsubscribe(listen)
    }
    expect(new Set(seen)).toEqual(new Set([undefined, 'span of GET', 'span of POST']))
  })
})

describe('a write', () => {
  it('publishes its hooks, its commit and the statements of the commit', async () => {
    const { server } = await openShop({ hooks: { beforeCreate: data => data, afterCreate: () => {} } })
    const { of } = trace()
    await server.request('POST', '/api/items', { body: { name: 'cap', price: 7 }, caller: CHIEF })
    expect(of('hook').map(({ hook, operation }) => `${hook} ${operation}`)).toEqual(['beforeCreate create', 'afterCreate create'])
    expect(of('commit')).toMatchObject([{ resource: 'items', operation: 'create', statements: 1, rows: 1 }])
    const [insert] = of('statement')
    expect(insert).toMatchObject({ resource: 'items', operation: 'create', rows: 1, statements: 1 })
    expect(insert!.text).toMatch(/^insert into "items" .*\?/)
    expect(of('request')).toMatchObject([{ operation: 'create', status: 201, statements: of('statement').length }])
  })

  it('that the database refuses publishes the commit with its code', async () => {
    const { server, exec } = await openShop()
    exec('create unique index one_name on items(name)')
    const { of } = trace()
    await server.request('POST', '/api/items', { body: { name: 'pen' }, caller: CLERK })
    expect(of('commit')).toMatchObject([{ code: 'INTERNAL_ERROR' }])
    expect(of('request')).toMatchObject([{ status: 409, code: 'CONFLICT' }])
  })
})

describe('messages', () => {
  const CANARIES = ['canaryname', '31337', 'canaryheader', 'canaryuser'] as const
  const requests: [string, string, unknown?][] = [
    ['GET', '/api/items?filter={"name":"canaryname","price":{"$gt":31337}}&sort=name'],
    ['GET', '/api/items?filter={"name":{"$like":"canaryname%"}}'],
    ['GET', '/api/items/31337'],
    ['POST', '/api/items', { name: 'canaryname', price: 31337 }],
    ['POST', '/api/items/bulk', { items: [{ name: 'canaryname', price: 31337 }, { name: 'canaryname 2', price: 31337 }] }],
    ['PATCH', '/api/items/1', { name: 'canaryname', price: 31337 }],
    ['PATCH', '/api/items/bulk', { items: [{ id: 1, price: 31337 }, { id: 2, name: 'canaryname' }] }],
    ['DELETE', '/api/items/1'],
    ['POST', '/api/items/1/restore'],
    ['DELETE', '/api/items/31337'],
    ['GET', '/api/items/aggregate?aggregate=sum(price)&groupBy=name&having={"sum(price)":{"$gt":31337}}'],
    ['GET', '/api/items?include={"notes":{"filter":{"body":"canaryname"}}}'],
    ['POST', '/api/items?onConflict=name', { name: 'canaryname', price: 31337 }],
    ['PATCH', '/api/items/1', { nothing: 'canaryname' }],
  ]

  it.each(requests)('contain no value: %s %s', async (method, path, body) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { server } = await openShop()
    const { events, of } = trace()
    await server.request(method, path, {
      ...body !== undefined && { body }, headers: { 'x-note': 'canaryheader' }, caller: { user: { id: 'canaryuser', role: 'chief' } },
    })
    expect(of('request')).toHaveLength(1)
    const text = JSON.stringify(events)
    for (const canary of CANARIES) expect(text).not.toContain(canary)
  })
})

describe('Server-Timing', () => {
  const config = { http: { ...DEFAULT_CONFIG.http, serverTiming: true } }
  const FORM = /^total;dur=[\d.]+, authorize;dur=[\d.]+, db;dur=[\d.]+;desc="(\d+) statements?, (\d+) rows?"(?:, hooks;dur=[\d.]+)?$/

  it('says what a response has cost', async () => {
    const { server } = await openShop({ config })
    const { headers } = await server.request('GET', '/api/items')
    expect(headers.get('server-timing')).toMatch(FORM)
    expect(FORM.exec(headers.get('server-timing')!)!.slice(1)).toEqual(['2', '4'])
  })

  it('is a header of errors too', async () => {
    const { server } = await openShop({ config })
    const { status, headers } = await server.request('GET', '/api/items/99')
    expect(status).toBe(404)
    expect(headers.get('server-timing')).toMatch(FORM)
  })

  it('counts the requests at the same time apart', async () => {
    const { server } = await openShop({ config, hooks: { beforeCreate: async (data) => {
      await new Promise(resolve => setTimeout(resolve, 20))
      return data
    } } })
    const create = () => server.request('POST', '/api/items', { body: { name: 'cap' }, caller: CLERK })
    const responses = await Promise.all([create(), server.request('GET', '/api/items/1'), create(), server.request('GET', '/api/items')])
    expect(responses.map(({ headers }) => FORM.exec(headers.get('server-timing')!)![1])).toEqual(['1', '1', '1', '2'])
  })

  it('is absent without the option', async () => {
    const { server } = await openShop()
    expect((await server.request('GET', '/api/items')).headers.has('server-timing')).toBe(false)
  })
})

describe('the log of slow statements', () => {
  it('has the text of a statement, without its values', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { server } = await openShop()
    const stop = logSlowStatements(0)
    await server.request('GET', '/api/items?filter={"name":"canaryname"}')
    stop()
    await server.request('GET', '/api/items')
    const lines = warn.mock.calls.map(([line]) => line as string)
    expect(lines).toHaveLength(2)
    const line = lines.find(text => !text.includes('count(*)'))
    expect(line).toMatch(/^\[auto-api\] A statement took \d+ ms \(items, read, 0 rows\): select .* from "items" where/)
    expect(line).not.toContain('canaryname')
  })

  it('leaves out statements that are fast enough', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { server } = await openShop()
    const stop = logSlowStatements(60_000)
    await server.request('GET', '/api/items')
    stop()
    expect(warn).not.toHaveBeenCalled()
  })
})
