/** A field that the caller cannot read is treated like an unknown field, in every parameter. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CALLER, openArticlesServer, type ArticlesServer } from './articles-server.ts'

let world: ArticlesServer
beforeAll(async () => {
  world = await openArticlesServer()
})
afterAll(() => world.client.close())

const get = (path: string, caller = CALLER) => world.server.request('GET', path, { caller })
const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString()
const condition = (name: string) => JSON.stringify({ [name]: { $gt: 1 } })

/** Every parameter of a query that takes a field name. */
const PLACES: Record<string, (name: string) => string> = {
  'filter as JSON': name => `articles?${query({ filter: condition(name) })}`,
  'a plain condition': name => `articles?${query({ filter: JSON.stringify({ [name]: 'x' }) })}`,
  'a condition for NULL': name => `articles?${query({ filter: JSON.stringify({ [name]: null }) })}`,
  'a condition of another type': name => `articles?${query({ filter: JSON.stringify({ [name]: { $like: 'x' } }) })}`,
  'filter in brackets': name => `articles?${query({ [`filter[${name}][$gt]`]: '1' })}`,
  '$or': name => `articles?${query({ filter: `{"$or":[{"views":1},${condition(name)}]}` })}`,
  '$or in brackets': name => `articles?${query({ [`filter[$or][0][${name}]`]: '1' })}`,
  'sort': name => `articles?sort=${name}`,
  'sort, descending': name => `articles?sort=views,-${name}`,
  'fields': name => `articles?fields=id,${name}`,
  'fields of one record': name => `articles/2?fields=${name}`,
  'cursorFields': name => `articles?cursor=&cursorFields=${name}`,
  'aggregate': name => `articles?aggregate=max(${name})`,
  'aggregate on its own route': name => `articles/aggregate?aggregate=sum(${name})`,
  'counting a field': name => `articles/aggregate?aggregate=count(${name})`,
  'groupBy': name => `articles/aggregate?groupBy=${name}`,
  'groupBy on the list': name => `articles?groupBy=status,${name}`,
  'having': name => `articles/aggregate?aggregate=count&${query({ having: JSON.stringify({ [`max_${name}`]: { $gt: 1 } }) })}`,
  'sort of groups': name => `articles/aggregate?groupBy=status&sort=${name}`,
  'fields of an include': name => `authors?include=articles[${name}]`,
  'sort of an include': name => `authors?${query({ include: `articles{sort:-${name}}` })}`,
  'filter of an include': name => `authors?${query({ include: `articles{filter:${condition(name)}}` })}`,
  'an include as JSON': name => `authors?${query({ include: JSON.stringify({ articles: { fields: [name] } }) })}`,
  'an include of an include': name =>
    `authors?${query({ include: JSON.stringify({ articles: { include: { author: { include: { articles: { sort: name } } } } } }) })}`,
  'a related list': name => `labels/1/relations/articles?sort=${name}`,
}

/** Parameters that take only the names of computed values. */
const KNOWN: Record<string, () => string> = {
  'having': () => `articles/aggregate?aggregate=max(views)&${query({ having: '{"max_views":{"$gt":1}}' })}`,
  'sort of groups': () => 'articles/aggregate?groupBy=views&sort=views',
}

describe.each(Object.entries(PLACES))('%s', (place, path) => {
  it.each([
    ['hidden', 'secret'],
    ['unreadable', 'salary'],
    ['inherited by every object', 'constructor'],
    ['a prototype', '__proto__'],
  ])('treats a name that is %s like an unknown name', async (_reason, name) => {
    const unknown = await get(`/api/${path('nothing')}`)
    const hidden = await get(`/api/${path(name)}`)
    expect(unknown.status).toBe(400)
    expect(unknown.body.data.code).toBe('UNKNOWN_FIELD')
    expect([hidden.status, hidden.text.replaceAll(name, 'nothing')]).toEqual([unknown.status, unknown.text])
  })

  it('accepts a known name', async () => {
    const answer = await get(`/api/${KNOWN[place]?.() ?? path('views')}`)
    expect(answer.text).not.toContain('UNKNOWN_FIELD')
  })
})

describe('any query', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.json({ maxDepth: 8 }),
    fc.constantFrom(
      '',
      '-1',
      '0',
      '01',
      '1e9',
      '9'.repeat(40),
      'NaN',
      '-',
      ',,,',
      '[',
      '{',
      '{}',
      '[]',
      '{"$or":[]}',
      '{"$or":[{}]}',
      '{"id":{"$in":[]}}',
      '{"title":{"$like":"%\\\\"}}',
      'author[',
      'author{',
      'author{limit:0}',
      'author.boss.boss.boss',
      'a[b]{c:d}.e',
      'count,sum(x',
      'sum()',
      'avg(title)',
      '__proto__',
      'constructor',
      '{"__proto__":{"$eq":1}}',
      `${'['.repeat(3000)}`,
      `{"a":${'{"a":'.repeat(50)}1${'}'.repeat(51)}`,
      'W10',
      '%',
      '\0',
      '\uD800',
    ),
  )
  const names = fc.oneof(
    fc.constantFrom(
      'page',
      'limit',
      'cursor',
      'cursorFields',
      'sort',
      'filter',
      'fields',
      'include',
      'aggregate',
      'groupBy',
      'having',
      'count',
      'includeDeleted',
      'onlyDeleted',
      'includeMetadata',
      'ids',
      'filter[id]',
      'filter[id][$in]',
      'filter[$or][0][title][$like]',
      'filter[__proto__][x]',
      'filter[a][b][c][d][e]',
      'filter[',
      'filter[]',
    ),
    fc.string({ maxLength: 8 }),
  )
  const paths = fc.constantFrom(
    'articles',
    'articles/1',
    'articles/aggregate',
    'articles/permissions',
    'authors',
    'notes',
    'notes/1,1',
    'labels/1/relations/articles',
    'permissions',
    '_schema',
    '_m2m/junctions',
  )

  it('never returns a 5xx or logs an unexpected error, for 10 000 hostile query strings', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await fc.assert(fc.asyncProperty(paths, fc.array(fc.tuple(names, texts), { minLength: 1, maxLength: 4 }), async (path, parameters) => {
      const text = parameters
        .map(([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`)
        .join('&')
      const { status } = await get(`/api/${path}?${text}`)
      expect(status).toBeLessThan(500)
    }), { numRuns: 10_000 })
    expect(log.mock.calls).toEqual([])
    log.mockRestore()
  }, 120_000)

  it('returns 400 for a cursor that was edited, cut, extended, or made for another order or resource', async () => {
    const { nextCursor } = (await get('/api/articles?cursor=&limit=3&sort=views')).body.meta as { nextCursor: string }
    expect((await get(`/api/articles?limit=3&sort=views&cursor=${nextCursor}`)).status).toBe(200)
    const broken = [...nextCursor]
      .flatMap((_, index) => [
        nextCursor.slice(0, index),
        `${nextCursor.slice(0, index)}${nextCursor[index] === 'A' ? 'B' : 'A'}${nextCursor.slice(index + 1)}`,
      ])
      .filter(cursor => cursor !== '')
    for (const cursor of [...broken, `${nextCursor}A`, `${nextCursor}=`, 'e30']) {
      const { status, body } = await get(`/api/articles?limit=3&sort=views&cursor=${encodeURIComponent(cursor)}`)
      expect([cursor, status, body.data.code]).toEqual([cursor, 400, 'INVALID_CURSOR'])
    }
    for (const other of ['articles?sort=-views', 'articles?', 'articles?sort=views,title', 'labels?sort=name']) {
      const { status, body } = await get(`/api/${other}&cursor=${nextCursor}`)
      expect([other, status, body.data?.code]).toEqual([other, 400, 'INVALID_CURSOR'])
    }
  })
})
