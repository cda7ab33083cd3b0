/** Entity tags of responses, and conditional reads. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { defineAutoApiPlugin } from '../../../src/runtime/server/define'
import { hashText } from '../../../src/runtime/server/core/plan/revision'
import { isNoneMatch } from '../../../src/runtime/server/http/etag'
import { CHIEF, CLERK, openShop, type Shop, type ShopOptions } from './shop'

const PLAIN = /^"[\w-]{16}"$/
const WITH_HASH = /^"[\w-]{16}\.[\w-]{16}"$/
const revisionOf = (etag: string | null) => /^"([\w-]{16})[."]/.exec(etag ?? '')?.[1]

let shop: Shop
const open = async (options?: ShopOptions) => {
  shop = await openShop(options)
}
const send = (method: string, path: string, headers: Record<string, string> = {}, caller = CLERK, body?: unknown) =>
  shop.server.request(method, `/api/${path}`, { headers, caller, body })
const etagOf = async (path: string, caller = CLERK) => (await send('GET', path, {}, caller)).headers.get('etag')

beforeEach(() => open())
afterEach(() => vi.restoreAllMocks())

describe('the tag of a record', () => {
  it('is the revision alone for a plain get', async () => {
    expect(await etagOf('items/1')).toMatch(PLAIN)
  })

  it.each(['items/1?fields=id,name', 'items/1?include=notes', 'items/1?fields=name&include=notes'])(
    'has the same revision and a hash of the body for %s',
    async (path) => {
      const plain = await etagOf('items/1')
      const other = await etagOf(path)
      expect(other).toMatch(WITH_HASH)
      expect(revisionOf(other)).toBe(revisionOf(plain))
    },
  )

  it('has the same revision if `afterGet` changes the record', async () => {
    const plain = await etagOf('items/1')
    await open({ hooks: { afterGet: record => ({ ...record, label: 'new' }) } })
    const changed = await etagOf('items/1')
    expect(changed).toMatch(WITH_HASH)
    expect(revisionOf(changed)).toBe(revisionOf(plain))
    await open({ hooks: { afterGet: () => undefined } })
    expect(await etagOf('items/1')).toBe(plain)
  })

  it.each(['GET', 'PATCH'])('does not let a caller guess the values that `afterGet` hides: %s', async (method) => {
    const hide = (record: object) => ({ ...record, price: null })
    await open({ secret: 'a'.repeat(32), hooks: { afterGet: hide, afterUpdate: hide } as never })
    const response = await send(method, 'items/1', {}, CLERK, method === 'PATCH' ? { name: 'pen' } : undefined)
    expect(response.body.price).toBeNull()
    const tag = response.headers.get('etag')!
    const guess = hashText(JSON.stringify({ ...response.body, price: 2 }))
    expect(tag).not.toContain(guess)
    expect((await send('PATCH', 'items/1', { 'if-match': `"${guess}"` }, CLERK, { name: 'x' })).status).toBe(412)
    expect(revisionOf(await etagOf('items/1?fields=id'))).toBe(revisionOf(tag))
    expect((await send('PATCH', 'items/1', { 'if-match': tag }, CLERK, { name: 'x' })).status).toBe(200)
  })

  it('is accepted by a write from the previous secret while it is set, and each new one is made with the new secret', async () => {
    const [old, current] = ['o'.repeat(32), 'n'.repeat(32)]
    const hooks = { afterGet: (record: object) => ({ ...record, price: null }) } as never
    const tagWith = async (secrets: Pick<ShopOptions, 'secret' | 'previousSecret'>) => {
      await open({ hooks, ...secrets })
      return (await etagOf('items/1'))!
    }
    const write = async (tag: string) => (await send('PATCH', 'items/1', { 'if-match': tag }, CLERK, { name: 'x' })).status
    const before = await tagWith({ secret: old })
    const after = await tagWith({ secret: current })
    expect(await write(before)).toBe(412)
    expect(await tagWith({ secret: current, previousSecret: old })).toBe(after)
    // A 304 would confirm the old tag, which no response has any more.
    expect((await send('GET', 'items/1', { 'if-none-match': before })).status).toBe(200)
    expect(await write(before)).toBe(200)
    expect(await write(before)).toBe(412)
    expect(await write((await etagOf('items/1'))!)).toBe(200)
  })

  it('causes a warning at startup if `afterGet` can hide values and the app has no secret', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const warnings = async (options: ShopOptions) => {
      warn.mockClear()
      await open(options)
      return warn.mock.calls
        .flat()
        .filter(text => String(text).includes('NUXT_AUTO_API_SECRET'))
        .map(text => /`(\w+)`/.exec(String(text))![1])
    }
    const afterGet = (record: object) => ({ ...record, price: null })
    const ofPlugin = { name: 'mask', hooks: { '*': { afterGet } } }
    expect(await warnings({ hooks: { afterGet } as never })).toEqual(['items'])
    expect(await warnings({ plugins: [Promise.resolve(ofPlugin)] })).toEqual(await warnings({ plugins: [ofPlugin] }))
    expect(await warnings({ plugins: [ofPlugin] })).toEqual(['items', 'notes'])
    expect(await warnings({ hooks: { afterGet } as never, secret: 'a'.repeat(32) })).toEqual([])
    expect(await warnings({ hooks: { afterGet } as never, config: { http: { ...DEFAULT_CONFIG.http, etag: false } } })).toEqual([])
    expect(
      await warnings({
        hooks: { afterGet } as never,
        plugins: [{ name: 'fixed', disables: { items: ['update', 'delete', 'restore', 'purge'] } }],
      }),
    ).toEqual([])
    expect(await warnings({ hooks: { afterList: (records: object[]) => records } as never })).toEqual([])
  })

  it('is a hash of the body, if `afterGet` can hide values, no request changes the resource, and the app has no secret', async () => {
    await open({
      hooks: { afterGet: (record: object) => ({ ...record, price: null }) } as never,
      plugins: [{ name: 'fixed', disables: { items: ['update', 'delete', 'restore', 'purge'] } }],
    })
    const { headers, text, body } = await send('GET', 'items/1')
    expect(body.price).toBeNull()
    expect(headers.get('etag')).toBe(`"${hashText(text)}"`)
  })

  it('changes with every field that the caller can read, whichever fields the response contains', async () => {
    const [plain, narrow] = [await etagOf('items/1'), await etagOf('items/1?fields=name')]
    shop.exec('update items set price = 9 where id = 1')
    expect(await etagOf('items/1')).not.toBe(plain)
    expect(await etagOf('items/1?fields=name')).not.toBe(narrow)
  })

  it('does not change with fields that the caller cannot read', async () => {
    const [clerk, chief] = [await etagOf('items/1'), await etagOf('items/1', CHIEF)]
    expect(clerk).not.toBe(chief)
    shop.exec(`update items set secret = 'other' where id = 1`)
    expect([await etagOf('items/1'), await etagOf('items/1', CHIEF)]).toEqual([clerk, chief])
    shop.exec('update items set cost = 9 where id = 1')
    expect(await etagOf('items/1')).toBe(clerk)
    expect(await etagOf('items/1', CHIEF)).not.toBe(chief)
  })

  it('changes with included records, but its revision does not', async () => {
    const before = await etagOf('items/1?include=notes')
    shop.exec(`update notes set body = 'changed' where id = 1`)
    const after = await etagOf('items/1?include=notes')
    expect(after).not.toBe(before)
    expect(revisionOf(after)).toBe(revisionOf(before))
  })

  it('is that of a get after a create, an update and a restore', async () => {
    const created = await send('POST', 'items', {}, CLERK, { name: 'cap' })
    expect(created.status).toBe(201)
    expect(created.headers.get('etag')).toBe(await etagOf(`items/${created.body.id}`))
    const updated = await send('PATCH', 'items/1', {}, CHIEF, { name: 'pencil' })
    expect(updated.headers.get('etag')).toBe(await etagOf('items/1', CHIEF))
    expect((await send('DELETE', 'items/1')).headers.get('etag')).toBeNull()
    const restored = await send('POST', 'items/1/restore')
    expect(restored.headers.get('etag')).toBe(await etagOf('items/1'))
  })

  it('has a hash of the body if an after-hook of the write changes the record', async () => {
    await open({ hooks: { afterUpdate: record => ({ ...record, label: 'new' }) } })
    const { headers } = await send('PATCH', 'items/1', {}, CLERK, { name: 'pencil' })
    expect(headers.get('etag')).toMatch(WITH_HASH)
    expect(revisionOf(headers.get('etag'))).toBe(revisionOf(await etagOf('items/1')))
  })

  it('is absent from the write of a caller who cannot read the resource', async () => {
    await open({ auth: { permissions: { read: 'clerk', update: 'writer' } } })
    const { status, headers } = await send('PATCH', 'items/1', {}, { user: { id: 3, role: 'writer' } }, { name: 'pencil' })
    expect([status, headers.get('etag')]).toEqual([200, null])
  })

  it('covers the fields of a get, also if the field rules depend on the operation', async () => {
    await open({
      auth: {
        permissions: { read: true, update: true },
        fields: { cost: { read: ctx => ctx.operation === 'read' }, price: { read: ctx => ctx.operation !== 'read' } },
      },
    })
    const { body, headers } = await send('PATCH', 'items/1', {}, CLERK, { name: 'pencil' })
    expect(Object.keys(body)).not.toContain('cost')
    expect(revisionOf(headers.get('etag'))).toBe(revisionOf(await etagOf('items/1')))
  })
})

describe('the tag of other reads', () => {
  it.each([
    'items',
    'items?limit=1',
    'items?groupBy=name&aggregate=count',
    'items/aggregate?aggregate=count',
    'items/1/relations/notes',
    'items/permissions',
    'permissions',
    '_schema',
  ])('is a hash of the body: %s', async (path) => {
    const first = await send('GET', path)
    expect(first.headers.get('etag')).toMatch(PLAIN)
    expect(first.headers.get('content-type')).toBe('application/json')
    expect(await etagOf(path)).toBe(first.headers.get('etag'))
    expect(first.text).toBe(JSON.stringify(first.body))
  })

  it('changes with the body', async () => {
    const before = [await etagOf('items'), await etagOf('items?fields=id')]
    shop.exec('update items set price = 9 where id = 1')
    expect(await etagOf('items')).not.toBe(before[0])
    expect(await etagOf('items?fields=id')).toBe(before[1])
  })

  it('is absent from dry runs', async () => {
    const { status, headers } = await send('PATCH', 'items/1?dryRun=true', {}, CLERK, { name: 'x' })
    expect([status, headers.get('etag')]).toEqual([200, null])
  })

  it('is absent from errors, deletions and bulk responses', async () => {
    for (const [method, path, body] of [
      ['GET', 'items/99'],
      ['DELETE', 'items/1'],
      ['PATCH', 'items/bulk', { items: [{ id: 2, data: { name: 'x' } }] }],
    ] as const)
      expect((await send(method, path, {}, CLERK, body)).headers.get('etag')).toBeNull()
  })
})

describe('If-None-Match', () => {
  it.each(['items/1', 'items/1?fields=name', 'items', 'items/aggregate?aggregate=count', 'items/1/relations/notes'])(
    'returns 304 with the headers of the response but without a body: %s',
    async (path) => {
      const { headers } = await send('GET', path)
      const etag = headers.get('etag')!
      for (const method of ['GET', 'HEAD']) {
        for (const value of [etag, `W/${etag}`, `"other", ${etag}`, `"a",W/"b",${etag}, "c"`, '*', ` ${etag} `]) {
          const response = await send(method, path, { 'if-none-match': value })
          expect([response.status, response.text]).toEqual([304, ''])
          expect(response.headers.get('etag')).toBe(etag)
          expect(response.headers.get('cache-control')).toBe(headers.get('cache-control'))
          expect(response.headers.get('vary')).toBe(headers.get('vary'))
        }
      }
    },
  )

  it.each(['"other"', 'W/"other"', '', 'other', '"', '"a", "b"', '"*"', '**'])('returns the whole response for %s', async (value) => {
    expect((await send('GET', 'items/1', { 'if-none-match': value })).status).toBe(200)
  })

  it('does not match a tag of another form', async () => {
    const plain = (await etagOf('items/1'))!
    const narrow = (await etagOf('items/1?fields=name'))!
    expect((await send('GET', 'items/1?fields=name', { 'if-none-match': plain })).status).toBe(200)
    expect((await send('GET', 'items/1', { 'if-none-match': narrow })).status).toBe(200)
    expect((await send('GET', 'items/1', { 'if-none-match': plain.slice(1, -1) })).status).toBe(200)
  })

  it('returns the whole response after a change', async () => {
    const etag = (await etagOf('items'))!
    shop.exec('update items set price = 9 where id = 1')
    expect((await send('GET', 'items', { 'if-none-match': etag })).status).toBe(200)
  })

  it('returns 403 and 404 before 304', async () => {
    await open({ auth: { permissions: { read: 'clerk' } } })
    expect((await send('GET', 'items/1', { 'if-none-match': '*' }, { user: { id: 3 } })).status).toBe(403)
    expect((await send('GET', 'items/1', { 'if-none-match': '*' }, { user: null })).status).toBe(401)
    expect((await send('GET', 'items/99', { 'if-none-match': '*' })).status).toBe(404)
  })

  it('compares long lists of tags in linear time', () => {
    const start = performance.now()
    isNoneMatch('"'.repeat(1e6), '"a"')
    isNoneMatch(`${'"a,'.repeat(3e5)}"b"`, '"b"')
    expect(performance.now() - start).toBeLessThan(5000)
  })
})

describe('HEAD', () => {
  it.each(['items/1', 'items', 'items/1?include=notes'])('has the tag and the length of the GET response: %s', async (path) => {
    const [get, head] = [await send('GET', path), await send('HEAD', path)]
    expect(head.text).toBe('')
    for (const name of ['etag', 'content-type', 'cache-control', 'vary']) expect(head.headers.get(name)).toBe(get.headers.get(name))
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)))
  })
})

describe('`http.etag: false`', () => {
  beforeEach(() => open({ config: { http: { ...DEFAULT_CONFIG.http, etag: false } } }))

  it('sends no tags and never returns 304', async () => {
    for (const path of ['items', 'items/1', 'items/1?fields=name']) {
      const { status, headers } = await send('GET', path, { 'if-none-match': '*' })
      expect([status, headers.get('etag')]).toEqual([200, null])
    }
    expect((await send('PATCH', 'items/1', {}, CLERK, { name: 'x' })).headers.get('etag')).toBeNull()
  })
})

describe('plugins', () => {
  it('can set the tag themselves', async () => {
    await open({
      plugins: [defineAutoApiPlugin({ name: 'own', around: async (_ctx, next) => ({ ...(await next()), headers: { etag: '"own"' } }) })],
    })
    expect(await etagOf('items/1')).toBe('"own"')
  })

  it('that change the body change the tag, but not the revision', async () => {
    const plain = await etagOf('items/1')
    await open({ plugins: [defineAutoApiPlugin({ name: 'wrap', around: async (_ctx, next) => {
      const response = await next()
      return { ...response, body: { ...response.body as object, extra: 1 } }
    } })] })
    expect(await etagOf('items/1')).toMatch(WITH_HASH)
    expect(revisionOf(await etagOf('items/1'))).toBe(revisionOf(plain))
  })

  it('send text and streams without a tag', async () => {
    await open({ plugins: [defineAutoApiPlugin({ name: 'text', around: async (_ctx, next) => ({ ...await next(), body: 'text' }) })] })
    expect(await etagOf('items/1')).toBeNull()
  })
})
