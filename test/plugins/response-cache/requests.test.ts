/** What the response cache does with each request: which it stores, which wait for each other, and which writes outdate everything. */
import { createError } from 'h3'
import { createServices } from '../../../src/runtime/server/core/extensions/services'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError, notFound } from '../../../src/runtime/server/core/error'
import { tagBody } from '../../../src/runtime/server/http/etag'
import { BusyError } from '../../../src/runtime/server/engines/engine'
import { invalidateResponses } from '../../../src/runtime/server/plugin/invalidation'
import { ROUTES } from '../../../src/runtime/shared/routes'
import { COLLAPSED, createGate, createItems, HIT, MISS, openCache, respond, STORED } from './open-cache'

// A response that nobody resolves must not hold up the other tests.
vi.setConfig({ testTimeout: 2_000 })

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const READS = ['list', 'aggregate', 'get', 'related']
const WRITES = [
  'create', 'bulk-create', 'bulk-update', 'bulk-delete', 'bulk-restore', 'update', 'delete', 'restore', 'relation-replace', 'relation-add',
  'relation-remove', 'relations-replace',
]
const OTHERS = [
  'resource-permissions',
  'permissions',
  'schema',
  'm2m-junctions',
  'm2m-is-junction',
  'm2m-detect',
  'export: GET /posts/export',
  'endpoint: GET /posts',
]
const fail = (error: unknown) => async () => {
  throw error
}

describe('a route', () => {
  it.each(READS)('that reads is stored: %s', async (route) => {
    const { read } = openCache()
    expect([await read({}, {}, route), await read({}, {}, route)]).toEqual([STORED, HIT])
  })

  it.each([...WRITES, ...OTHERS])('that does not read has the response of the API: %s', async (route) => {
    const { send, createContext } = openCache()
    for (let count = 0; count < 2; count++) {
      const response = respond()
      expect(await send(createContext(), async () => response, route)).toBe(response)
    }
  })

  it.each([...READS, ...WRITES, ...OTHERS])('that fails without saying why outdates everything if it writes: %s', async (route) => {
    const { read, send, createContext } = openCache()
    await read()
    await expect(send(createContext({ resource: 'tags' }), fail(new Error('lost')), route)).rejects.toThrow('lost')
    expect(await read()).toBe(WRITES.includes(route) ? STORED : HIT)
  })

  it('is one of these', () => {
    expect([...READS, ...WRITES, ...OTHERS]).toEqual(expect.arrayContaining(ROUTES.map(({ name }) => name)))
  })
})

describe('a dry run', () => {
  it('of a read is not stored', async () => {
    const { send, createContext, read } = openCache()
    const response = respond()
    expect(await send(createContext({ dryRun: true }), async () => response)).toBe(response)
    expect(await read()).toBe(STORED)
    expect(await send(createContext({ dryRun: true }), async () => response)).toBe(response)
  })

  it('of a write outdates nothing, even if it fails', async () => {
    const { read, send, createContext } = openCache()
    await read()
    await expect(send(createContext({ dryRun: true }), fail(new Error('lost')), 'update')).rejects.toThrow('lost')
    expect(await read()).toBe(HIT)
  })
})

/** An error of h3 2. */
class HTTPError extends Error {
  override readonly name = 'HTTPError'
  constructor(readonly status: number) {
    super()
  }
}

describe('a write that fails', () => {
  const readAfter = async (error: unknown) => {
    const { read, send, createContext } = openCache()
    await read()
    const thrown = await Promise.resolve(send(createContext({ resource: 'tags' }), fail(error), 'update')).catch((error: unknown) => ({
      error,
    }))
    expect(thrown).toEqual({ error })
    return read()
  }

  it.each<[string, unknown]>([
    ['an error of the API', notFound()],
    ['an error of the API for a conflict', new ApiError('CONFLICT', '')],
    ['a busy database', new BusyError('')],
    ['an error of h3 1', createError({ status: 403 })],
    ['an error of h3 2', new HTTPError(422)],
    ['the last status of a client', new HTTPError(499)],
  ])('outdates nothing if it is refused with %s', async (_what, error) => {
    expect(await readAfter(error)).toBe(HIT)
  })

  it.each<[string, unknown]>([
    ['any error', new Error('lost')], ['any error with a status', Object.assign(new Error('lost'), { status: 400, statusCode: 400 })],
    ['an object with a status', { status: 400 }], ['an error of the API for the server', new ApiError('BUSY', '')],
    ['an error of h3 1 for the server', createError({ status: 503 })], ['an error of h3 2 for the server', new HTTPError(500)],
    ['nothing', undefined], ['null', null], ['a text', 'lost'],
  ])('outdates everything if it throws %s', async (_what, error) => {
    expect(await readAfter(error)).toBe(STORED)
  })
})

describe('the option `resources`', () => {
  it('leaves the responses of other resources as they are', async () => {
    const { send, createContext, read } = openCache({ resources: new Set(['tags']) })
    const response = respond()
    for (let count = 0; count < 2; count++) expect(await send(createContext(), async () => response)).toBe(response)
    expect([await read({ resource: 'tags' }), await read({ resource: 'tags' })]).toEqual([STORED, HIT])
  })
})

describe('a response', () => {
  it('is stored with the text and the tag of its body', async () => {
    const { send, createContext } = openCache()
    const body = { data: [{ id: 1 }] }
    const first = await send(createContext(), async () => respond({ body }))
    const second = await send(createContext(), async () => respond())
    expect([first.body, second.body, second.reads]).toEqual([body, body, ['posts']])
    expect(tagBody(second)).toEqual(tagBody({ status: 200, body }))
  })

  it.each<[string, object, Partial<Parameters<typeof respond>[0]>]>([
    ['does not say what it was read from', {}, { reads: undefined }], ['has another status', {}, { status: 201 }],
  ])('that %s is not stored', async (_what, changes, response) => {
    const { read } = openCache()
    expect([await read(changes, response), await read(changes, response)]).toEqual([MISS, MISS])
  })

  it('of a resource with a read hook is not stored, unless `reads` lists the resource', async () => {
    const hooked = openCache({ hooked: ['posts'] })
    expect([await hooked.read(), await hooked.read()]).toEqual([MISS, MISS])
    const declared = openCache({ hooked: ['posts'], reads: { posts: [] } })
    expect([await declared.read(), await declared.read()]).toEqual([STORED, HIT])
  })

  it('is not stored if code sets a header on the event meanwhile', async () => {
    const { send, createContext, read } = openCache()
    const headers: Record<string, string> = { 'x-before': 'a' }
    const event = { node: { res: { getHeaders: () => ({ ...headers }) } } }
    expect([await read({ event }), await read({ event })]).toEqual([STORED, HIT])
    const other = { event, query: { limit: '1' } }
    await send(createContext(other), async () => {
      headers['x-after'] = 'b'
      return respond()
    })
    expect([await read(other), await read(other)]).toEqual([STORED, HIT])
  })

  it('keeps its own headers if it is not stored', async () => {
    const { send, createContext } = openCache()
    const { headers } = await send(createContext(), async () => respond({ status: 203, headers: { 'X-A': 'b' } }))
    expect(headers).toEqual({ 'X-A': 'b', 'Cache-Status': MISS })
    const own = await send(createContext(), async () => respond({ status: 203, headers: { 'Cache-Status': 'own' } }))
    expect(own.headers).toEqual({ 'Cache-Status': 'own' })
  })

  it('of a context that no key can contain is not stored', async () => {
    const { read } = openCache()
    for (let count = 0; count < 2; count++) expect(await read({ plan: 'pro' })).toBe('auto-api; fwd=bypass; detail=context')
  })

  it('reads no rows that a replica lacks', async () => {
    const { read, requireCurrent } = openCache()
    await read()
    expect(requireCurrent).toHaveBeenCalledOnce()
    await read()
    expect(requireCurrent).toHaveBeenCalledOnce()
  })

  it('ends after `ttl`', async () => {
    const { read } = openCache({ ttl: 2 })
    await read()
    await vi.advanceTimersByTimeAsync(1_999)
    expect(await read()).toBe(HIT)
    await vi.advanceTimersByTimeAsync(1)
    expect([await read(), await read()]).toEqual([STORED, HIT])
  })
})

describe('a hit', () => {
  it('in memory needs no promise', async () => {
    const { send, createContext, read } = openCache()
    await read()
    expect(send(createContext(), fail(new Error('read again')))).not.toBeInstanceOf(Promise)
  })

  it.each([[1, 0, true], [2, 0, false], [1, 1, false], [2, 1, false]])(
    'is shared by requests only if no other plugin receives it: %i around, %i for responses', async (around, onResponse, isShared) => {
      const { send, createContext, read } = openCache({ around, onResponse })
      await read()
      const hit = () => send(createContext(), fail(new Error('read again')))
      expect(hit() === hit()).toBe(isShared)
    },
  )
})

describe('requests at the same time', () => {
  it('wait for the first one, and get its response', async () => {
    const { send, createContext, read } = openCache()
    const gate = createGate()
    const next = vi.fn(async () => {
      await gate.opened
      return respond({ body: { data: [1] } })
    })
    const first = send(createContext(), next)
    const others = [read(), read()]
    gate.open()
    expect((await first).headers!['Cache-Status']).toBe(STORED)
    expect(await Promise.all(others)).toEqual([COLLAPSED, COLLAPSED])
    expect(next).toHaveBeenCalledOnce()
  })

  it('do not wait for a request with another key', async () => {
    const { send, createContext, read } = openCache()
    const gate = createGate()
    const first = send(createContext(), () => gate.opened.then(() => respond()))
    expect(await read({ query: { limit: '1' } })).toBe(STORED)
    gate.open()
    await first
  })

  it.each<[string, () => Promise<ReturnType<typeof respond>>]>([
    ['is not stored', async () => respond({ status: 203 })], ['fails', fail(new Error('broken'))],
  ])('read for themselves if the first one %s', async (_what, run) => {
    const { send, createContext, read } = openCache()
    const gate = createGate()
    const first = Promise.resolve(send(createContext(), () => gate.opened.then(run))).catch(() => {})
    const other = read()
    gate.open()
    await first
    expect(await other).toBe(MISS)
    // The next one waits for none of them.
    expect([await read(), await read()]).toEqual([STORED, HIT])
  })

  it('that begin after a write do not wait for one that began before it', async () => {
    const { cache, send, createContext, read } = openCache()
    const gate = createGate()
    const early = send(createContext(), () => gate.opened.then(() => respond({ body: 'early' })))
    await cache.onCommit([{ resource: 'posts', table: 'posts', kind: 'update', id: '1' }])
    expect([await read(), await read()]).toEqual([STORED, HIT])
    gate.open()
    await early
    expect(await read()).toBe(HIT)
  })
})

describe('in a storage, requests at the same time', () => {
  it('do not wait until the response of the first one is stored', async () => {
    const { storage } = createItems()
    // Creates the generations.
    await openCache({ storage }).read()
    const [rows, stored] = [createGate(), createGate()]
    const { send, createContext, read } = openCache({ storage: { ...storage, set: () => stored.opened } })
    const request = { query: { limit: '1' } }
    let isDone = false
    const first = Promise.resolve(send(createContext(request), () => rows.opened.then(() => respond()))).finally(() => isDone = true)
    const other = read(request)
    await vi.advanceTimersByTimeAsync(10)
    rows.open()
    expect(await other).toBe(COLLAPSED)
    expect(isDone).toBe(false)
    stored.open()
    expect((await first).headers!['Cache-Status']).toBe(STORED)
  })

  it('get the response of the first one, even if they looked for it just before it was stored', async () => {
    const { items, storage } = createItems()
    const { read } = openCache({ storage })
    await read({ query: { limit: '1' } })
    const values = (keys: readonly string[]) => keys.map(key => items.get(key) ?? null)
    const gate = createGate()
    let found: readonly (string | null)[] = []
    vi.mocked(storage.getAll).mockImplementationOnce(async keys => values(keys)).mockImplementationOnce(async (keys) => {
      found = values(keys)
      await gate.opened
      return found
    })
    const first = read()
    const other = read()
    expect(await first).toBe(STORED)
    gate.open()
    expect(await other).toBe(COLLAPSED)
    expect(found[0]).toBeNull()
  })

  it('read for themselves without the storage', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { storage } = createItems()
    const { read } = openCache({ storage: { ...storage, getAll: async () => Promise.reject(new Error('down')) } })
    expect(await Promise.all([read(), read()])).toEqual(Array(2).fill('auto-api; fwd=bypass; detail=storage'))
  })
})

describe('servers with one storage', () => {
  it('share responses, and know the tables of all resources and of no resource', async () => {
    const { items, storage } = createItems()
    const [one, other] = [openCache({ storage }), openCache({ storage })]
    const linked = { reads: ['posts', 'table:links'] }
    expect([await one.read({}, linked), await other.read({}, linked)]).toEqual([STORED, HIT])
    const generations = [...items.keys()].filter(key => key.startsWith('generation:')).sort()
    expect(generations).toEqual(['*', '**', 'posts', 'table:links', 'tags'].map(name => `generation:${name}`))
    await other.cache.onCommit([{ table: 'links', kind: 'link', id: '1,1' }])
    expect(await one.read({}, linked)).toBe(STORED)
  })

  it('of different builds do not share responses', async () => {
    const { storage } = createItems()
    const [one, same, other] = [openCache({ storage, build: 'a' }), openCache({ storage, build: 'a' }), openCache({ storage, build: 'b' })]
    expect([await one.read(), await same.read(), await other.read()]).toEqual([STORED, HIT, STORED])
  })
})

describe('a response is outdated', () => {
  const change = { table: 't', kind: 'update', id: '1' } as const

  it('by changes to what it was read from, and by no others', async () => {
    const { cache, read } = openCache()
    const both = { reads: ['tags', 'table:links'] }
    await read()
    await read({ resource: 'tags' }, both)
    await cache.onCommit([{ ...change, resource: 'tags' }, { ...change, resource: 'tags' }])
    expect([await read(), await read({ resource: 'tags' }, both)]).toEqual([HIT, STORED])
    await cache.onCommit([{ ...change, table: 'links' }])
    expect([await read(), await read({ resource: 'tags' }, both)]).toEqual([HIT, STORED])
    await cache.onCommit([change, { ...change, resource: 'posts', table: 'links' }])
    expect([await read(), await read({ resource: 'tags' }, both)]).toEqual([STORED, HIT])
  })

  it('by names that the app invalidates in the API of the plugin', async () => {
    const { services, read } = openCache()
    await read()
    await invalidateResponses(services, ['tags'])
    await invalidateResponses(createServices(), ['posts'])
    expect(await read()).toBe(HIT)
    await invalidateResponses(services, ['tags', 'posts'])
    expect(await read()).toBe(STORED)
  })

  it('by every change, and every name that the app invalidates, if its rules can read any table', async () => {
    const { cache, services, read } = openCache({ reads: { posts: ['*'] } })
    await read()
    await cache.onCommit([{ ...change, resource: 'tags' }])
    expect([await read(), await read()]).toEqual([STORED, HIT])
    await invalidateResponses(services, ['tags'])
    expect(await read()).toBe(STORED)
  })
})
