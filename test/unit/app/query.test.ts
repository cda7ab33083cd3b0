/** The server parses what the client writes: each query is converted to text and back. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { toQuery, toRequest, UnaddressableError } from '../../../src/runtime/shared/query'
import { ROUTES } from '../../../src/runtime/shared/routes'
import { parseGroups } from '../../../src/runtime/server/core/parse/aggregate'
import { parseList } from '../../../src/runtime/server/core/parse/list'

const call = { api: { config: DEFAULT_CONFIG } } as never

/** Encodes a query as a URL does, and decodes it again. */
function travel(query: object) {
  const text = new URLSearchParams(toQuery(query)).toString()
  return { query: Object.fromEntries(new URLSearchParams(text)) } as never
}

const NOTHING = {
  position: { mode: 'offset', page: 1 },
  limit: 20,
  count: true,
  sort: [],
  cursorFields: [],
  filter: [],
  aggregates: [],
  include: new Map(),
  counts: [],
  trash: 'active',
}

describe('the query of a list', () => {
  it.each<[string, object, object]>([
    ['nothing', {}, {}],
    ['what is not set', { page: undefined, filter: undefined, sort: [], includeDeleted: false, fields: null }, {}],
    ['a page by number', { page: 3, limit: 5, count: 'none' }, { position: { mode: 'offset', page: 3 }, limit: 5, count: false }],
    ['the first page by cursor', { cursor: '' }, { position: { mode: 'cursor', cursor: '' } }],
    ['a later one', { cursor: 'a+b/c=' }, { position: { mode: 'cursor', cursor: 'a+b/c=' } }],
    [
      'an order',
      { sort: ['-a', 'b'], cursorFields: ['c'] },
      {
        sort: [
          { name: 'a', descending: true },
          { name: 'b', descending: false },
        ],
        cursorFields: [{ name: 'c', descending: false }],
      },
    ],
    ['an order by one field', { sort: '-a' }, { sort: [{ name: 'a', descending: true }] }],
    ['fields', { fields: ['a', 'b'] }, { fields: ['a', 'b'] }],
    ['the trash', { onlyDeleted: true }, { trash: 'trashed' }],
    [
      'conditions',
      { filter: { a: 'x & y, "z" = é', b: { $gt: 1, $null: false }, c: [1, 2], d: null, $or: [{ a: true }] } },
      {
        filter: [
          { name: 'a', operator: '$eq', value: 'x & y, "z" = é', text: false, at: 'filter' },
          { name: 'b', operator: '$gt', value: 1, text: false, at: 'filter' },
          { name: 'b', operator: '$null', value: false, text: false, at: 'filter' },
          { name: 'c', operator: '$in', value: [1, 2], text: false, at: 'filter' },
          { name: 'd', operator: '$eq', value: null, text: false, at: 'filter' },
          { branches: [[{ name: 'a', operator: '$eq', value: true, text: false, at: 'filter.$or[0]' }]] },
        ],
      },
    ],
    [
      'exact and dated values',
      { filter: { a: 9_007_199_254_740_993n, b: new Date(0) } },
      {
        filter: [
          { name: 'a', operator: '$eq', value: '9007199254740993', text: false, at: 'filter' },
          { name: 'b', operator: '$eq', value: '1970-01-01T00:00:00.000Z', text: false, at: 'filter' },
        ],
      },
    ],
    [
      'included relations',
      { include: { author: true, comments: { fields: ['id'], limit: 2, sort: '-id', include: { author: true } }, tags: false } },
      {
        include: new Map<string, object>([
          ['author', { include: new Map() }],
          [
            'comments',
            { fields: ['id'], limit: 2, sort: [{ name: 'id', descending: true }], include: new Map([['author', { include: new Map() }]]) },
          ],
        ]),
      },
    ],
    [
      'aggregates',
      { aggregate: ['count', 'sum(a)'] },
      {
        aggregates: [
          { function: 'count', alias: 'count' },
          { function: 'sum', field: 'a', alias: 'sum_a' },
        ],
      },
    ],
  ])('is parsed as the client intends: %s', (_, query, expected) => {
    expect(parseList(travel(query), call)).toEqual({ ...NOTHING, ...expected })
  })
})

describe('the query of an aggregate', () => {
  it('is parsed as the client intends', () => {
    expect(
      parseGroups(travel({ aggregate: ['count'], groupBy: ['a', 'b'], having: { count: { $gt: 1 } }, sort: '-count', page: 2 }), call),
    ).toMatchObject({
      aggregates: [{ function: 'count', alias: 'count' }],
      groupBy: ['a', 'b'],
      having: [{ alias: 'count', operator: '$gt', value: 1 }],
      sort: [{ name: 'count', descending: true }],
      page: 2,
    })
  })
})

describe('a route', () => {
  it.each(ROUTES.map(({ name }) => name))('is found by its unique name: %s', (name) => {
    expect(ROUTES.filter(route => route.name === name)).toHaveLength(1)
    const { method, path } = toRequest(name, { resource: 'posts', id: 1, relation: 'tags', table: 'post_tags', name: 'posts' })
    const route = ROUTES.find(route => route.name === name)!
    expect(method).toBe(route.method)
    expect(path.split('/')).toHaveLength(route.path.split('/').length)
  })

  it('encodes its parameters, and those of a composite key once', () => {
    expect(toRequest('get', { resource: 'posts', id: 'a/b?c,d' }).path).toBe('/posts/a%2Fb%3Fc%2Cd')
    expect(toRequest('get', { resource: 'posts', id: 'a%2Fb,c', composite: true }).path).toBe('/posts/a%2Fb,c')
  })
})

describe('a path', () => {
  /** What is sent where: by the URL parser that every browser and every server shares. */
  const requested = (route: (typeof ROUTES)[number]['name'], params: Parameters<typeof toRequest>[1]) =>
    new URL(`http://localhost/api${toRequest(route, params).path}`).pathname

  const HOSTILE = [
    '../users/1',
    'a/../../users/1',
    '..%2F..%2Fusers%2F1',
    '%2e%2e',
    '.%2e/users',
    '1?force=true',
    '1#x',
    '\\..\\users',
    'a//b',
    ' ',
    '\t..\n',
    '\u0000',
    'é',
    '%',
    '100%',
    'a b+c',
    ';x',
    'http://evil.example/',
  ]

  const ID_ROUTES = ROUTES.filter(({ path }) => path.includes(':id')).map(({ name }) => name)
  const asServed = (route: (typeof ROUTES)[number]['name'], resource: string, id: string, relation: string) =>
    `/api${ROUTES.find(({ name }) => name === route)!
      .path.replace(':resource', resource)
      .replace(':id', id)
      .replace(':relation', relation)}`

  it.each(HOSTILE)('is not changed by an id, a relation or the name of a resource: %j', (text) => {
    const encoded = encodeURIComponent(text)
    for (const route of ID_ROUTES)
      expect(requested(route, { resource: 'posts', id: text, relation: 'tags' })).toBe(asServed(route, 'posts', encoded, 'tags'))
    expect(requested('related', { resource: 'posts', id: 1, relation: text })).toBe(`/api/posts/1/relations/${encoded}`)
    expect(requested('list', { resource: text })).toBe(`/api/${encoded}`)
  })

  it.each(HOSTILE)('is not changed by a value of a composite key, decoded or encoded: %j', (text) => {
    const value = encodeURIComponent(text)
    for (const route of ID_ROUTES) {
      expect(requested(route, { resource: 'rates', id: `USD,${value}`, composite: true, relation: 'tags' })).toBe(
        asServed(route, 'rates', `USD,${value}`, 'tags'),
      )
      if (text.includes('%2') || text.includes(',')) continue
      expect(requested(route, { resource: 'rates', id: `USD,${text}`, composite: true, relation: 'tags' })).toBe(
        asServed(route, 'rates', `USD,${value}`, 'tags'),
      )
    }
  })

  it('is the same for an id that a route of the app has decoded', () => {
    expect(requested('delete', { resource: 'rates', id: 'USD,2023/../../users/1', composite: true })).toBe(
      '/api/rates/USD,2023%2F..%2F..%2Fusers%2F1',
    )
    expect(requested('get', { resource: 'rates', id: '..,..', composite: true })).toBe('/api/rates/..,..')
  })

  it.each<[string, Parameters<typeof toRequest>[1]]>([
    ['dots', { resource: 'posts', id: '..' }],
    ['one dot', { resource: 'posts', id: '.' }],
    ['nothing', { resource: 'posts', id: '' }],
    ['no id', { resource: 'posts' }],
    ['half a character', { resource: 'posts', id: '\uD800' }],
    ['dots as a composite key', { resource: 'rates', id: '..', composite: true }],
    ['encoded dots as a composite key', { resource: 'rates', id: '%2e%2E', composite: true }],
    ['half a character in a composite key', { resource: 'rates', id: 'a,\uD800', composite: true }],
    ['dots as a resource', { resource: '..', id: 1 }],
  ])('throws for an id that cannot be in a URL, and sends nothing: %s', (_, params) => {
    expect(() => toRequest('get', params)).toThrow(/^The `(?:id|resource)` ".*" cannot be a segment of a URL\.$/s)
    expect(() => toRequest('related', { ...params, relation: 'tags' })).toThrow(UnaddressableError)
  })

  it('throws for a relation named by dots', () => {
    for (const relation of ['..', '.', ''])
      expect(() => toRequest('related', { resource: 'posts', id: 1, relation })).toThrow(UnaddressableError)
  })
})
