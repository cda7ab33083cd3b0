/** What a query may look like: one order from `sort` and `cursorFields`, lists with empty entries, paths without empty segments, flags. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callerOf, openNewsdata, type Newsdata } from '../../support/newsdata/server'

const caller = callerOf({ tenant: 1, permissions: ['hr', 'drafts'] })

let server: Newsdata

beforeAll(async () => {
  server = await openNewsdata()
})

afterAll(() => server.client.close())

const get = async (path: string) => (await server.request('GET', `/api/${path}`, { caller })).body
const ids = async (query: string) => (await get(`articles?limit=100&${query}`)).data.map(({ id }: { id: unknown }) => id)

describe('an order', () => {
  it.each([
    ['cursorFields=-status', 'sort=-status'],
    ['cursorFields=status', 'sort=status'],
    ['sort=status&cursorFields=-words', 'sort=status,-words'],
    ['sort=-status&cursorFields=words', 'sort=-status,words'],
    ['cursorFields=-id', 'sort=-id'],
  ])('is the same whether its fields are in cursorFields or in sort: %s and %s', async (fields, sort) => {
    expect(await ids(fields)).toEqual(await ids(sort))
    expect(await ids(`cursor=&${fields}`)).toEqual(await ids(`cursor=&${sort}`))
  })

  it('ends in the primary key in the direction of its last field', async () => {
    const rows = (await get('articles?limit=100&cursorFields=-status&fields=id,status')).data as { id: number, status: string }[]
    const ties = rows.flatMap((row, index) => index > 0 && rows[index - 1]!.status === row.status ? [rows[index - 1]!.id > row.id] : [])
    expect([ties.length > 0, new Set(ties)]).toEqual([true, new Set([true])])
  })
})

describe('a path of relations', () => {
  it.each([
    'author..articlesByAuthor',
    '.author',
    'author.',
    'author. .articlesByAuthor',
    'tags,author.',
    '.',
    'author[id].',
    'tags{limit:1}..articles',
  ])('with an empty segment is a 400: %s', async (include) => {
    const { statusCode, data } = await get(`articles?${new URLSearchParams({ include })}`)
    expect([statusCode, data]).toEqual([400, { code: 'INVALID_QUERY', parameter: 'include' }])
  })
})

describe('a comma list', () => {
  it.each([
    ['include=,author,,tags,', 'include=author,tags'],
    ['include=author[,id,,name,]', 'include=author[id,name]'],
    ['include=tags{,limit:1,,sort:-id,}', 'include=tags{limit:1,sort:-id}'],
    ['fields=,id,,title,', 'fields=id,title'],
    ['sort=,-words,,id,', 'sort=-words,id'],
    ['cursorFields=,-words,,id', 'cursorFields=-words,id'],
    ['aggregate=,count,,max(id),', 'aggregate=count,max(id)'],
    ['groupBy=,status,', 'groupBy=status'],
    ['filter[id][$in]=,1,,2,', 'filter[id][$in]=1,2'],
  ])('may have empty entries, which are ignored: %s', async (empty, full) => {
    const [one, other] = await Promise.all([get(`articles?${empty}`), get(`articles?${full}`)])
    expect(one.data.length).toBeGreaterThan(0)
    expect(one).toEqual(other)
  })
})

describe('a flag', () => {
  it.each(['1', '0', '', 'TRUE', 'True', 'yes', ' true', 'true,true'])('is true or false: %j returns 400', async (value) => {
    for (const path of [
      `articles?includeDeleted=${value}`,
      `articles?onlyDeleted=${value}`,
      `articles/1?includeDeleted=${value}`,
      `articles/aggregate?onlyDeleted=${value}`,
      `articles/1/relations/tags?includeMetadata=${value}`,
    ]) {
      expect([path, (await get(path)).data]).toEqual([path, { code: 'INVALID_QUERY', parameter: expect.any(String) }])
    }
  })

  it('returns 400 if repeated, after the permission check if one of the values is true', async () => {
    const statuses = await Promise.all(
      ['true&includeDeleted=false', 'false&includeDeleted=true', 'false&includeDeleted=false'].map(
        async twice => (await get(`articles?includeDeleted=${twice}`)).statusCode,
      ),
    )
    expect(statuses).toEqual([403, 403, 400])
  })
})
