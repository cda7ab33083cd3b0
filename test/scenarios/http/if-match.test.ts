/** Writes that name the tag of the record: `If-Match`, `ifMatch` in batches, and resources that require them. */
import { ne } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { toIfMatch } from '../../../src/runtime/server/core/parse/if-match'
import { CHIEF, CLERK, ITEMS_AUTH, openShop, type Shop, type ShopOptions } from './shop'

const OTHER = '"0000000000000000"'

let shop: Shop
const open = async (options?: ShopOptions) => {
  shop = await openShop(options)
}
const send = (method: string, path: string, ifMatch?: string, body?: unknown, caller = CLERK) =>
  shop.server.request(method, `/api/${path}`, { caller, body, headers: ifMatch === undefined ? {} : { 'if-match': ifMatch } })
const tagOf = async (path: string, caller = CLERK) => (await send('GET', path, undefined, undefined, caller)).headers.get('etag')!
const told = ({ status, body }: { status: number, body?: { data?: { code?: string } } }) =>
  status < 300 ? String(status) : `${status} ${body?.data?.code}`
const nameOf = (id: number) => (shop.get(`select name from items where id = ${id}`) as { name: string } | undefined)?.name

beforeEach(() => open())

/** Each write of one record, and the query of the tag before it. */
const WRITES: readonly [name: string, method: string, path: string, body: unknown, read: string][] = [
  ['an update', 'PATCH', 'items/1', { name: 'new' }, 'items/1'],
  ['an update without values', 'PATCH', 'items/1', {}, 'items/1'],
  ['a delete', 'DELETE', 'items/1', undefined, 'items/1'],
  ['a delete without trash', 'DELETE', 'notes/1', undefined, 'notes/1'],
  ['a purge', 'DELETE', 'items/2?force=true', undefined, 'items/2'],
  ['a restore', 'POST', 'items/3/restore', undefined, 'items/3?onlyDeleted=true'],
  ['a purge of a row in the trash', 'DELETE', 'items/3?force=true', undefined, 'items/3?includeDeleted=true'],
]

describe.each(WRITES)('If-Match of %s', (_name, method, path, body, read) => {
  beforeEach(() => shop.exec('update items set deleted_at = 1700000000000 where id = 3'))
  const write = (ifMatch?: string) => send(method, path, ifMatch, body)

  it('succeeds with the tag of a get, of a narrowed get and of a list of tags', async () => {
    const tag = await tagOf(read)
    const narrow = await tagOf(`${read}${read.includes('?') ? '&' : '?'}fields=id`)
    expect(narrow).toMatch(/^"[\w-]{16}\.[\w-]{16}"$/)
    for (const value of [`${OTHER}, ${tag}`, narrow, tag]) {
      await open()
      shop.exec('update items set deleted_at = 1700000000000 where id = 3')
      expect(told(await write(value))).toBe('200')
    }
  })

  it('succeeds with *', async () => {
    expect(told(await write('*'))).toBe('200')
  })

  it('returns 412 with any other tag, and writes nothing', async () => {
    const tag = await tagOf(read)
    for (const value of [OTHER, `W/${tag}`, '""', '"*"', `"${tag.slice(1, -2)}"`, `"x${tag.slice(1)}`, '"a.b"', `${OTHER}, W/${tag}`])
      expect(told(await write(value))).toBe('412 PRECONDITION_FAILED')
    expect(await tagOf(read)).toBe(tag)
  })

  it('returns 400 for anything that is no tag', async () => {
    const tag = await tagOf(read)
    for (const value of [tag.slice(1, -1), '"', '"a', 'a"', 'W/', 'w/"a"', '"a" "b"', '*, "a"', '"a", *', ',', '"a";', 'null']) {
      const response = await write(value)
      expect(told(response)).toBe('400 INVALID_VALUE')
      expect(response.body.data.parameter).toBe('If-Match')
    }
  })

  it('returns 404 before 412, and 400 before 404', async () => {
    const missing = path.replace(/\d/, '99')
    expect(told(await send(method, missing, OTHER, body))).toBe('404 NOT_FOUND')
    expect(told(await send(method, missing, '*', body))).toBe('404 NOT_FOUND')
    expect(told(await send(method, missing, 'none', body))).toBe('400 INVALID_VALUE')
  })
})

describe('If-Match', () => {
  it('returns 401 and 403 before 400', async () => {
    expect(told(await send('PATCH', 'items/1', 'none', { name: 'x' }, { user: null }))).toBe('401 UNAUTHENTICATED')
    expect(told(await send('PATCH', 'items/1', 'none', { name: 'x' }, { user: { id: 9, role: 'guest' } }))).toBe('403 FORBIDDEN')
  })

  it('fails before the hooks run', async () => {
    const hooked: unknown[] = []
    await open({ hooks: { beforeUpdate: id => void hooked.push(id), beforeDelete: id => void hooked.push(id) } })
    await send('PATCH', 'items/1', OTHER, { name: 'x' })
    await send('DELETE', 'items/1', OTHER)
    expect(hooked).toEqual([])
  })

  it('accepts the tag of the last write', async () => {
    let tag = (await send('POST', 'items', undefined, { name: 'cap' })).headers.get('etag')!
    for (const name of ['a', 'b', 'c']) {
      const { status, headers } = await send('PATCH', 'items/4', tag, { name })
      expect(status).toBe(200)
      tag = headers.get('etag')!
    }
    expect(told(await send('DELETE', 'items/4', tag))).toBe('200')
  })

  it('compares the fields that the caller can read, and no others', async () => {
    const [clerk, chief] = [await tagOf('items/1'), await tagOf('items/1', CHIEF)]
    shop.exec(`update items set secret = 'other' where id = 1`)
    expect(told(await send('PATCH', 'items/1', clerk, {}))).toBe('200')
    shop.exec('update items set cost = 9 where id = 1')
    expect(told(await send('PATCH', 'items/1', clerk, {}))).toBe('200')
    expect(told(await send('PATCH', 'items/1', chief, {}, CHIEF))).toBe('412 PRECONDITION_FAILED')
    // A tag belongs to the fields of its caller.
    expect(told(await send('PATCH', 'items/1', chief, {}))).toBe('412 PRECONDITION_FAILED')
  })

  it('returns 412 if the record changes while the hooks run', async () => {
    await open({ hooks: { beforeUpdate: () => shop.exec('update items set price = price + 1 where id = 1') } })
    expect(told(await send('PATCH', 'items/1', await tagOf('items/1'), { name: 'x' }))).toBe('412 PRECONDITION_FAILED')
    expect(nameOf(1)).toBe('pen')
  })

  it('detects a change of text behind a NUL character', async () => {
    await open({ hooks: { beforeUpdate: () => shop.exec(`update items set name = 'a' || char(0) || 'c' where id = 1`) } })
    shop.exec(`update items set name = 'a' || char(0) || 'b' where id = 1`)
    expect(told(await send('PATCH', 'items/1', await tagOf('items/1'), { price: 9 }))).toBe('412 PRECONDITION_FAILED')
  })

  it('does not fail if a field changes while the hooks run that the caller cannot read', async () => {
    await open({ hooks: { beforeUpdate: () => shop.exec(`update items set cost = cost + 1, secret = 'new' where id = 1`) } })
    expect(told(await send('PATCH', 'items/1', await tagOf('items/1'), { name: 'x' }))).toBe('200')
  })

  it('also works under `objectLevel`', async () => {
    await open({ auth: { ...ITEMS_AUTH, objectLevel: row => row.price > 2 } })
    const tag = await tagOf('items/2')
    expect(told(await send('PATCH', 'items/1', OTHER, { name: 'x' }))).toBe('404 NOT_FOUND')
    expect(told(await send('PATCH', 'items/2', OTHER, { name: 'x' }))).toBe('412 PRECONDITION_FAILED')
    expect(told(await send('PATCH', 'items/2', tag, { name: 'x' }))).toBe('200')
  })

  it('decides about dry runs too', async () => {
    expect(told(await send('PATCH', 'items/1?dryRun=true', OTHER, { name: 'x' }))).toBe('412 PRECONDITION_FAILED')
    expect(told(await send('DELETE', 'items/1?dryRun=true', OTHER))).toBe('412 PRECONDITION_FAILED')
    expect(told(await send('DELETE', 'items/1?dryRun=true', await tagOf('items/1')))).toBe('200')
    expect(nameOf(1)).toBe('pen')
  })

  it('also works if entity tags are off', async () => {
    const tag = await tagOf('items/1')
    await open({ config: { http: { ...DEFAULT_CONFIG.http, etag: false } } })
    expect(told(await send('PATCH', 'items/1', OTHER, { name: 'x' }))).toBe('412 PRECONDITION_FAILED')
    expect(told(await send('PATCH', 'items/1', tag, { name: 'x' }))).toBe('200')
  })

  it.each([
    ['POST', 'items', { name: 'x' }],
    ['POST', 'items/bulk', { items: [{ name: 'x' }] }],
    ['PATCH', 'items/bulk', { items: [{ id: 1, data: {} }] }],
    ['DELETE', 'items/bulk', { ids: [1] }],
    ['POST', 'items/bulk/restore', { ids: [1] }],
  ])('returns 400 on a route that does not compare it: %s %s', async (method, path, body) => {
    expect(told(await send(method, path, '*', body))).toBe('400 INVALID_VALUE')
  })
})

describe('a caller who can write, but not read', () => {
  const REMOVER = { user: { id: 4, role: 'remover' } }

  it('cannot find out values by guessing tags', async () => {
    const tag = await tagOf('items/1')
    await open({ auth: { ...ITEMS_AUTH, permissions: { ...ITEMS_AUTH.permissions, read: 'clerk' } } })
    expect(told(await send('DELETE', 'items/1', tag, undefined, REMOVER))).toBe('412 PRECONDITION_FAILED')
    expect(told(await send('DELETE', 'items/1', OTHER, undefined, REMOVER))).toBe('412 PRECONDITION_FAILED')
    expect(told(await send('DELETE', 'items/1', '*', undefined, REMOVER))).toBe('200')
  })

  it('cannot do so for single rows', async () => {
    const tag = await tagOf('items/1')
    const rules = [
      { listFilter: (table, { operation }) => (operation === 'read' ? ne(table.id, 1) : undefined) },
      { objectLevel: (row, { operation }) => operation !== 'read' || row.id !== 1 },
    ] as NonNullable<ShopOptions['auth']>[]
    for (const rule of rules) {
      await open({ auth: { ...ITEMS_AUTH, ...rule } })
      expect(told(await send('DELETE', 'items/1', tag))).toBe('412 PRECONDITION_FAILED')
      expect(told(await send('DELETE', 'items/2', await tagOf('items/2')))).toBe('200')
    }
  })

  it('cannot do so for rows in the trash', async () => {
    shop.exec('update items set deleted_at = 1700000000000 where id = 1')
    const tag = await tagOf('items/1?onlyDeleted=true')
    expect(told(await send('DELETE', 'items/1?force=true', tag, undefined, REMOVER))).toBe('412 PRECONDITION_FAILED')
    expect(told(await send('DELETE', 'items/2?force=true', await tagOf('items/2'), undefined, REMOVER))).toBe('200')
    expect(told(await send('DELETE', 'items/1?force=true', '*', undefined, REMOVER))).toBe('200')
  })
})

describe('`ifMatch` in a batch', () => {
  const bulk = (method: string, path: string, body: unknown) => send(method, path, undefined, body)

  it('updates the items whose tags match', async () => {
    const tags = [await tagOf('items/1'), await tagOf('items/2?fields=name')]
    expect(
      told(
        await bulk('PATCH', 'items/bulk', {
          items: [
            { id: 1, data: { name: 'a' }, ifMatch: tags[0] },
            { id: 2, data: { name: 'b' }, ifMatch: tags[1] },
            { id: 3, data: { name: 'c' } },
          ],
        }),
      ),
    ).toBe('200')
    expect([1, 2, 3].map(nameOf)).toEqual(['a', 'b', 'c'])
  })

  it('names every item that fails, and writes nothing', async () => {
    const { status, body } = await bulk('PATCH', 'items/bulk', {
      items: [
        { id: 1, data: { name: 'a' }, ifMatch: await tagOf('items/1') },
        { id: 2, data: { name: 'b' }, ifMatch: OTHER },
        { id: 99, data: { name: 'c' }, ifMatch: OTHER },
        { id: 3, data: { name: 'd' }, ifMatch: 'none' },
        { id: 4, data: { name: 7 }, ifMatch: 7 },
      ],
    })
    expect(status).toBe(412)
    expect(body.data.errors.map(({ index, id, statusCode, code }: Record<string, unknown>) => [index, id, statusCode, code])).toEqual([
      [1, 2, 412, 'PRECONDITION_FAILED'], [2, 99, 404, 'NOT_FOUND'], [3, 3, 400, 'INVALID_VALUE'], [4, 4, 400, 'VALIDATION_FAILED'],
    ])
    expect([1, 2, 3].map(nameOf)).toEqual(['pen', 'ink', 'pad'])
  })

  it('fails only single items if the batch is not transactional', async () => {
    await open({ config: { bulk: { ...DEFAULT_CONFIG.bulk, transactional: false } } })
    const { status, body } = await bulk('PATCH', 'items/bulk', {
      items: [
        { id: 1, data: { name: 'a' }, ifMatch: OTHER },
        { id: 2, data: { name: 'b' }, ifMatch: await tagOf('items/2') },
      ],
    })
    expect(status).toBe(200)
    expect(body.meta.errors).toEqual([expect.objectContaining({ index: 0, id: 1, statusCode: 412, code: 'PRECONDITION_FAILED' })])
    expect([1, 2].map(nameOf)).toEqual(['pen', 'b'])
  })

  it.each([
    ['a delete', 'DELETE', 'items/bulk'],
    ['a purge', 'DELETE', 'items/bulk?force=true'],
    ['a restore', 'POST', 'items/bulk/restore'],
  ])('compares the tags of %s', async (_name, method, path) => {
    if (method === 'POST') shop.exec('update items set deleted_at = 1700000000000')
    const read = method === 'POST' ? '?onlyDeleted=true' : ''
    const ids = [{ id: 1, ifMatch: await tagOf(`items/1${read}`) }, 2, { id: 3 }]
    const failed = await bulk(method, path, { ids: [...ids.slice(0, 2), { id: 3, ifMatch: OTHER }] })
    expect(told(failed)).toBe('412 BULK_FAILED')
    expect(failed.body.data.errors).toEqual([expect.objectContaining({ index: 2, id: 3, code: 'PRECONDITION_FAILED' })])
    expect(told(await bulk(method, path, { ids }))).toBe('200')
  })

  it('refuses an id that is repeated with a tag, and merges ids without tags', async () => {
    for (const ids of [
      [1, { id: 1, ifMatch: OTHER }],
      [{ id: 1, ifMatch: OTHER }, '1'],
      [
        { id: 1, ifMatch: OTHER },
        { id: 1, ifMatch: '*' },
      ],
    ])
      expect(told(await bulk('DELETE', 'items/bulk', { ids }))).toBe('400 INVALID_BODY')
    expect((await bulk('DELETE', 'items/bulk', { ids: [1, '1', { id: 1 }] })).body.meta.total).toBe(1)
  })

  it.each([[null], [[]], [{}], [{ ifMatch: '*' }], [{ id: null }], [{ id: {} }]])(
    'refuses an entry of `ids` without an id: %j',
    async (entry) => {
      expect(told(await bulk('DELETE', 'items/bulk', { ids: [entry] }))).toBe('400 INVALID_BODY')
    },
  )
})

describe('`requireIfMatch: true`', () => {
  beforeEach(() => open({ registration: { requireIfMatch: true } }))

  it('returns 428 for a write without a tag', async () => {
    for (const [method, path, body] of [
      ['PATCH', 'items/1', { name: 'x' }],
      ['DELETE', 'items/1'],
      ['DELETE', 'items/1?force=true'],
      ['POST', 'items/1/restore'],
    ] as const)
      expect(told(await send(method, path, undefined, body))).toBe('428 PRECONDITION_REQUIRED')
    for (const [method, path, body] of [
      ['PATCH', 'items/bulk', { items: [{ id: 1, data: {} }] }],
      ['DELETE', 'items/bulk', { ids: [1] }],
      ['DELETE', 'items/bulk?force=true', { ids: [{ id: 1 }] }],
      ['POST', 'items/bulk/restore', { ids: [1] }],
    ] as const)
      expect(told(await send(method, path, undefined, body))).toBe('428 BULK_FAILED')
    for (const [method, path] of [['POST', 'items/bulk/restore'], ['DELETE', 'items/bulk?force=true']] as const)
      expect(told(await send(method, path, undefined, { deletionId: 'none' }))).toBe('428 PRECONDITION_REQUIRED')
  })

  it('returns 428 for records that do not exist too, after 400 and before 404', async () => {
    expect(told(await send('PATCH', 'items/99', undefined, { name: 'x' }))).toBe('428 PRECONDITION_REQUIRED')
    expect(told(await send('PATCH', 'items/99', undefined, { name: 7 }))).toBe('400 VALIDATION_FAILED')
    expect(told(await send('PATCH', 'items/99', '*', { name: 'x' }))).toBe('404 NOT_FOUND')
    expect(
      (await send('DELETE', 'items/bulk', undefined, { ids: [1, 'x', { id: 2, ifMatch: 'none' }] })).body.data.errors.map(
        ({ statusCode }: { statusCode: number }) => statusCode,
      ),
    ).toEqual([428, 428, 400])
  })

  it('returns 401 and 403 before 428', async () => {
    expect(told(await send('DELETE', 'items/1', undefined, undefined, { user: null }))).toBe('401 UNAUTHENTICATED')
    expect(told(await send('DELETE', 'items/1', undefined, undefined, { user: { id: 9 } }))).toBe('403 FORBIDDEN')
  })

  it('allows writes with a tag or *, and creates', async () => {
    expect(told(await send('POST', 'items', undefined, { name: 'x' }))).toBe('201')
    expect(told(await send('PATCH', 'items/1', await tagOf('items/1'), { name: 'x' }))).toBe('200')
    expect(told(await send('PATCH', 'items/1', '*', { name: 'y' }))).toBe('200')
    expect(told(await send('DELETE', 'items/bulk', undefined, { ids: [{ id: 1, ifMatch: await tagOf('items/1') }] }))).toBe('200')
  })

  it('is refused at startup if entity tags are off', async () => {
    await expect(
      open({ registration: { requireIfMatch: true }, config: { http: { ...DEFAULT_CONFIG.http, etag: false } } }),
    ).rejects.toThrow('clients cannot get the tags')
  })
})

describe('the parser', () => {
  it('accepts exactly lists of tags', () => {
    const tag = fc.tuple(fc.constantFrom('', 'W/'), fc.stringMatching(/^[\w!#.*,;/-]{0,20}$/)).map(([weak, text]) => `${weak}"${text}"`)
    const space = fc.constantFrom('', ' ', '\t', '  ')
    const list = fc
      .tuple(fc.array(fc.tuple(space, fc.option(tag, { nil: '' }), space), { minLength: 1, maxLength: 5 }), tag)
      .map(([entries, last]) => [...entries.map(parts => parts.join('')), last].join(','))
    fc.assert(fc.property(list, text => void toIfMatch(text, 'x')))
    fc.assert(fc.property(list, fc.constantFrom('x', '"', '*', '""', 'W/'), (text, extra) => {
      expect(() => toIfMatch(`${text} ${extra}`, 'x')).toThrow()
    }))
  })

  it('needs linear time', () => {
    const start = performance.now()
    for (const text of [
      `${' '.repeat(1e6)}x`,
      `${','.repeat(1e5)}x`,
      `"${'a'.repeat(1e6)}`,
      `${'"a",'.repeat(1e5)}x`,
      `W/"${' '.repeat(1e6)}`,
    ])
      expect(() => toIfMatch(text, 'x')).toThrow()
    expect(performance.now() - start).toBeLessThan(5000)
  })
})
