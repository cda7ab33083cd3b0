/** What the client writes is what the server reads: each query goes to text and back. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/config'
import { toQuery, toRequest } from '../../../src/runtime/shared/query'
import { ROUTES } from '../../../src/runtime/shared/routes'
import { parseGroups } from '../../../src/runtime/server/core/parse/aggregate'
import { parseList } from '../../../src/runtime/server/core/parse/list'

const call = { api: { config: DEFAULT_CONFIG } } as never

/** As it travels: form-encoded, and taken apart again. */
function travel(query: object) {
  const text = new URLSearchParams(toQuery(query)).toString()
  return { query: Object.fromEntries(new URLSearchParams(text)) } as never
}

const NOTHING = { place: { mode: 'offset', page: 1 }, limit: 20, count: true, sort: [], cursorFields: [], filter: { conditions: [] }, aggregates: [], include: new Map(), trash: 'active' }

describe('a list\'s query', () => {
  it.each<[string, object, object]>([
    ['nothing', {}, {}],
    ['what is not set', { page: undefined, filter: undefined, sort: [], includeDeleted: false, fields: null }, {}],
    ['a page by number', { page: 3, limit: 5, count: 'none' }, { place: { mode: 'offset', page: 3 }, limit: 5, count: false }],
    ['the first page by cursor', { cursor: '' }, { place: { mode: 'cursor', cursor: '' } }],
    ['a later one', { cursor: 'a+b/c=' }, { place: { mode: 'cursor', cursor: 'a+b/c=' } }],
    ['an order', { sort: ['-a', 'b'], cursorFields: ['c'] }, { sort: [{ name: 'a', descending: true }, { name: 'b', descending: false }], cursorFields: [{ name: 'c', descending: false }] }],
    ['an order by one field', { sort: '-a' }, { sort: [{ name: 'a', descending: true }] }],
    ['fields', { fields: ['a', 'b'] }, { fields: ['a', 'b'] }],
    ['the trash', { onlyDeleted: true }, { trash: 'trashed' }],
    ['conditions', { filter: { a: 'x & y, "z" = é', b: { $gt: 1, $null: false }, c: [1, 2], d: null, $or: [{ a: true }] } }, { filter: {
      conditions: [
        { name: 'a', operator: '$eq', value: 'x & y, "z" = é', text: false },
        { name: 'b', operator: '$gt', value: 1, text: false },
        { name: 'b', operator: '$null', value: false, text: false },
        { name: 'c', operator: '$in', value: [1, 2], text: false },
        { name: 'd', operator: '$eq', value: null, text: false },
      ],
      or: [[{ name: 'a', operator: '$eq', value: true, text: false }]],
    } }],
    ['exact and dated values', { filter: { a: 9_007_199_254_740_993n, b: new Date(0) } }, { filter: { conditions: [
      { name: 'a', operator: '$eq', value: '9007199254740993', text: false },
      { name: 'b', operator: '$eq', value: '1970-01-01T00:00:00.000Z', text: false },
    ] } }],
    ['included relations', { include: { author: true, comments: { fields: ['id'], limit: 2, sort: '-id', include: { author: true } }, tags: false } }, { include: new Map<string, object>([
      ['author', { include: new Map() }],
      ['comments', { fields: ['id'], limit: 2, sort: [{ name: 'id', descending: true }], include: new Map([['author', { include: new Map() }]]) }],
    ]) }],
    ['aggregates', { aggregate: ['count', 'sum(a)'] }, { aggregates: [{ function: 'count', alias: 'count' }, { function: 'sum', field: 'a', alias: 'sum_a' }] }],
  ])('is read as it was meant: %s', (_, query, expected) => {
    expect(parseList(travel(query), call)).toEqual({ ...NOTHING, ...expected })
  })
})

describe('an aggregate\'s query', () => {
  it('is read as it was meant', () => {
    expect(parseGroups(travel({ aggregate: ['count'], groupBy: ['a', 'b'], having: { count: { $gt: 1 } }, sort: '-count', page: 2 }), call)).toMatchObject({
      aggregates: [{ function: 'count', alias: 'count' }], groupBy: ['a', 'b'], having: [{ alias: 'count', operator: '$gt', value: 1 }], sort: [{ name: 'count', descending: true }], page: 2,
    })
  })
})

describe('a route', () => {
  it.each(ROUTES.map(({ name }) => name))('is found by its name, which no other has: %s', (name) => {
    expect(ROUTES.filter(route => route.name === name)).toHaveLength(1)
    const { method, path } = toRequest(name, { resource: 'posts', id: 1, relation: 'tags' })
    const route = ROUTES.find(route => route.name === name)!
    expect(method).toBe(route.method)
    expect(path.split('/')).toHaveLength(route.path.split('/').length)
  })

  it('has its parameters encoded, those of a composite key once', () => {
    expect(toRequest('get', { resource: 'posts', id: 'a/b?c,d' }).path).toBe('/posts/a%2Fb%3Fc%2Cd')
    expect(toRequest('get', { resource: 'posts', id: 'a%2Fb,c', composite: true }).path).toBe('/posts/a%2Fb,c')
  })
})
