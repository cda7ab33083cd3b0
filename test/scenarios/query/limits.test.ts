/** Where a query becomes too much or too vague: the last one that is answered, and the first one that is not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callerOf, openNewsdata, type Newsdata } from '../../support/newsdata/server'
import { MODEL } from '../../support/oracle/model'

const caller = callerOf({ tenant: 1, permissions: ['hr', 'drafts'] })

let server: Newsdata
let small: Newsdata

beforeAll(async () => {
  small = await openNewsdata({
    config: {
      relations: { maxDepth: 3, maxIncludes: 20, maxRows: 10, maxBytes: 1e6 },
      objectLevelMaxRows: 20,
      pagination: { default: 'cursor', defaultLimit: 3, maxLimit: 12 },
      aggregations: { enabled: true, maxGroupByFields: 2 },
    },
  })
  server = await openNewsdata({ config: { filters: { extended: false } } })
})

afterAll(() => [server, small].forEach(({ client }) => client.close()))

const query = (parameters: Record<string, string>) => String(new URLSearchParams(parameters))
const filter = (value: object) => query({ filter: JSON.stringify(value) })
const list = (length: number, item: (index: number) => unknown = index => index) => Array.from({ length }, (_, index) => item(index))

/** A tree of so many relations, no deeper than three. */
function tree(count: number): string {
  interface Node { resource: string, include: Record<string, { include: Node['include'] }>, depth: number }
  const root: Node = { resource: 'articles', include: {}, depth: 0 }
  let left = count
  for (const queue = [root]; left > 0 && queue.length > 0;) {
    const { resource, include, depth } = queue.shift()!
    for (const [name, { target }] of Object.entries(MODEL[resource]!.relations)) {
      if (left === 0 || depth === 3) break
      left--
      include[name] = { include: {} }
      queue.push({ resource: target, include: include[name].include, depth: depth + 1 })
    }
  }
  return query({ limit: '1', include: JSON.stringify(root.include) })
}

/** What is answered, and one more, which is not. */
const BOUNDS: readonly (readonly [rule: string, path: (more: 0 | 1) => string, code?: string])[] = [
  ['500 values of $in', more => `articles?${filter({ id: { $in: list(500 + more) } })}`],
  ['500 values of $nin', more => `articles?${filter({ id: { $nin: list(500 + more) } })}`],
  ['500 values of a plain list', more => `articles?${filter({ id: list(500 + more) })}`],
  ['500 values of $in in brackets, as a comma list', more => `articles?${query({ 'filter[id][$in]': list(500 + more).join() })}`],
  ['500 values of $in in brackets, repeated', more => `articles?${list(500 + more, index => `filter[id][$in]=${index}`).join('&')}`],
  [
    '500 values of $in in an include',
    more => `articles?${query({ include: JSON.stringify({ tags: { filter: { id: list(500 + more) } } }) })}`,
  ],
  ['20 branches of $or', more => `articles?${filter({ $or: list(20 + more, id => ({ id })) })}`],
  ['20 branches of $or in brackets', more => `articles?${list(20 + more, index => `filter[$or][${index}][id]=${index}`).join('&')}`],
  ['includes three deep', more => `articles?limit=1&include=author.articlesByAuthor.tags${more ? '.articles' : ''}`],
  [
    'a filter three relations deep',
    more => `articles?${filter({ author: { articlesByAuthor: { section: more ? { articles: { id: 1 } } : { name: 'x' } } } })}`,
  ],
  [
    'a filter three relations deep in brackets',
    more => `articles?${query({ [`filter[author][articlesByAuthor][section]${more ? '[articles]' : ''}[${more ? 'id' : 'name'}]`]: '1' })}`,
  ],
  [
    '20 relations in filters',
    more =>
      `articles?${filter({ author: { name: 'x' }, $or: list(20, index => (index < 18 + more ? { author: { name: 'x' } } : { id: 1 })), editor: { name: 'x' } })}`,
  ],
  [
    '20 relations in filters, those of includes among them',
    more =>
      `articles?${query({ filter: JSON.stringify({ $or: list(19, () => ({ author: { name: 'x' } })) }), include: JSON.stringify({ articles: { filter: { author: { name: 'x' }, ...(more && { editor: null }) } } }) })}`,
  ],
  ['20 includes', more => `articles?${tree(20 + more)}`],
  [
    'five fields of groupBy',
    more => `articles/aggregate?groupBy=${['id', 'title', 'status', 'words', 'score', 'price'].slice(0, 5 + more)}`,
  ],
  ['20 aggregates', more => `articles/aggregate?aggregate=${aggregates(20 + more)}`],
  ['64 KiB of a query', more => `articles?x=${'y'.repeat(65_535 + more)}`],
  ['a JSON parameter 32 deep', more => `articles?${query({ include: nested(32 + more) })}`, 'INVALID_QUERY'],
  ['256 characters of $like', more => `articles?${filter({ title: { $like: 'a'.repeat(256 + more) } })}`],
]

function aggregates(count: number) {
  const fields = Object.entries(MODEL.articles!.fields)
  return fields.flatMap(([name, kind]) => [`count(${name})`, ...kind === 'integer' ? [`sum(${name})`] : []]).slice(0, count)
}

/** `{ "x": { "x": … } }`, which means nothing: it is refused as that as long as it is not too deep. */
const nested = (depth: number) => `${'{"x":'.repeat(depth)}1${'}'.repeat(depth)}`

describe('a query', () => {
  it.each(BOUNDS.map(([rule, path, code]) => ({ rule, path, code })))(
    'is answered with $rule, and refused with one more',
    async ({ path, code }) => {
      const [within, beyond] = await Promise.all(
        [0, 1].map(async more => (await server.request('GET', `/api/${path(more as 0 | 1)}`, { caller })).body),
      )
      expect([within.statusCode, within.data.code]).toEqual([code && 400, code])
      expect([beyond.statusCode, beyond.data.code]).toEqual([400, 'LIMIT_EXCEEDED'])
    },
  )

  it('can bind more values than the parameter limit of an engine', async () => {
    const { status, body } = await server.request(
      'GET',
      `/api/articles?${filter({ id: { $in: list(500) }, words: { $nin: list(500) } })}`,
      { caller },
    )
    expect([status, body.data.length > 0]).toEqual([200, true])
    expect(server.statements().every(text => text.split('?').length <= 100)).toBe(true)
  })
})

const NO_NUMBERS = ['0', '-1', '1.5', '1e1', '01', '+1', ' 1', 'a', '', '9999999999999999', 'NaN', 'Infinity', '0x1']
const SCALARS = ['page', 'limit', 'cursor', 'count', 'filter', 'having', 'includeDeleted', 'onlyDeleted']
const LISTS = ['sort', 'fields', 'groupBy', 'aggregate', 'cursorFields', 'include']
const LIST_VALUES: Record<string, [string, string]> = { aggregate: ['count', 'max(id)'], include: ['author', 'tags'] }

/** Requests that cannot be meant. */
const REFUSED: readonly (readonly [rule: string, path: string, code: string])[] = [
  ...['page', 'limit'].flatMap(name =>
    NO_NUMBERS.map(value => [`${name}=${JSON.stringify(value)}`, `articles?${query({ [name]: value })}`, 'INVALID_QUERY'] as const),
  ),
  ...SCALARS.map(
    name => [`${name} given twice`, `articles${name === 'having' ? '/aggregate' : ''}?${name}=1&${name}=1`, 'INVALID_QUERY'] as const,
  ),
  ['page and cursor together', 'articles?page=1&cursor=', 'INVALID_QUERY'],
  ['a filter in both forms', 'articles?filter={}&filter[id]=1', 'INVALID_QUERY'],
  ['both sides of the trash', 'articles?includeDeleted=true&onlyDeleted=true', 'INVALID_QUERY'],
  ['count=some', 'articles?count=some', 'INVALID_QUERY'],
  ['includeDeleted=yes', 'articles?includeDeleted=yes', 'INVALID_QUERY'],
  ['$or in a branch', `articles?${filter({ $or: [{ $or: [{ id: 1 }] }] })}`, 'INVALID_OPERATOR'],
  ['$or inside a relation', `articles?${filter({ author: { $or: [{ name: 'x' }] } })}`, 'INVALID_OPERATOR'],
  ['$or beside a condition of a relation', `articles?${filter({ author: { name: 'x', $or: [{ name: 'x' }] } })}`, 'INVALID_OPERATOR'],
  ['an operator beside a condition of a relation', `articles?${filter({ author: { name: 'x', $null: false } })}`, 'INVALID_OPERATOR'],
  ['a relation compared with a value', `articles?${filter({ author: 'x' })}`, 'INVALID_OPERATOR'],
  ['a relation compared with a list', `articles?${filter({ author: ['x'] })}`, 'INVALID_OPERATOR'],
  ['a relation compared by another operator', `articles?${filter({ author: { $gt: null } })}`, 'INVALID_OPERATOR'],
  ['$null of a relation with text', `articles?${filter({ author: { $null: 'yes' } })}`, 'INVALID_VALUE'],
  ['a relation without conditions', `articles?${filter({ author: {} })}`, 'INVALID_VALUE'],
  ['an unknown relation', `articles?${filter({ nobody: { id: 1 } })}`, 'UNKNOWN_FIELD'],
  ['an unknown field of a relation', `articles?${filter({ author: { nothing: 1 } })}`, 'UNKNOWN_FIELD'],
  ['an unfit value of a field of a relation', `articles?${filter({ author: { karma: 'x' } })}`, 'INVALID_VALUE'],
  ['a field of a relation as if it were a relation', `articles?${filter({ author: { name: { first: 'x' } } })}`, 'INVALID_OPERATOR'],
  ['a relation over a hidden key in a filter', `articles?${filter({ ghost: { id: 'x' } })}`, 'UNKNOWN_FIELD'],
  ['a relation to rows that a rule in code checks', `articles?${filter({ tags: { id: 1 } })}`, 'INVALID_QUERY'],
  ['two levels of brackets that contradict', 'articles?filter[author][name]=x&filter[author][name][$ne]=y', 'INVALID_QUERY'],
  ['$or of nothing', `articles?${filter({ $or: [] })}`, 'INVALID_QUERY'],
  ['$or with an empty branch', `articles?${filter({ $or: [{ id: 1 }, {}] })}`, 'INVALID_QUERY'],
  ['an operator that is none', `articles?${filter({ id: { $regex: '1' } })}`, 'INVALID_OPERATOR'],
  ['an operator without its dollar', `articles?${filter({ id: { gt: 1 } })}`, 'INVALID_OPERATOR'],
  ['$like on a number', `articles?${filter({ id: { $like: '1' } })}`, 'INVALID_OPERATOR'],
  ['$gt on JSON', `articles?${filter({ meta: { $gt: 1 } })}`, 'INVALID_OPERATOR'],
  ['$gt on a blob', `articles?${filter({ cover: { $gt: 'aGVsbG8=' } })}`, 'INVALID_OPERATOR'],
  ['text for a number', `articles?${filter({ words: '5' })}`, 'INVALID_VALUE'],
  ['a fraction for a whole number', `articles?${filter({ words: 1.5 })}`, 'INVALID_VALUE'],
  ['a day that does not exist', `articles?${filter({ publishedAt: '2024-02-30' })}`, 'INVALID_VALUE'],
  ['a status that is none', `articles?${filter({ status: 'lost' })}`, 'INVALID_VALUE'],
  ['maybe for a boolean', 'articles?filter[featured]=maybe', 'INVALID_VALUE'],
  ['NULL in a list', `articles?${filter({ id: { $in: [1, null] } })}`, 'INVALID_VALUE'],
  ['$gt of NULL', `articles?${filter({ id: { $gt: null } })}`, 'INVALID_VALUE'],
  ['a limit on a to-one include', 'articles?include=author{limit:1}', 'INVALID_QUERY'],
  ['a filter on a to-one include', `articles?${query({ include: 'author{filter:{"name":"x"}}' })}`, 'INVALID_QUERY'],
  ['an option that is none', 'articles?include=tags{offset:1}', 'INVALID_QUERY'],
  ['a relation that is none', 'articles?include=nobody', 'UNKNOWN_RELATION'],
  ['a relation over a hidden key', 'articles?include=ghost', 'UNKNOWN_RELATION'],
  ['a sum of text', 'articles/aggregate?aggregate=sum(title)', 'INVALID_OPERATOR'],
  ['a function that is none', 'articles/aggregate?aggregate=median(id)', 'INVALID_OPERATOR'],
  ['groupBy of JSON', 'articles/aggregate?groupBy=meta', 'INVALID_QUERY'],
  ['sort by a blob', 'articles?sort=cover', 'INVALID_QUERY'],
  ['having of what is not computed', `articles/aggregate?aggregate=count&${query({ having: '{"sum_words":{"$gt":1}}' })}`, 'UNKNOWN_FIELD'],
  ['sort of groups by what is not grouped by', 'articles/aggregate?groupBy=status&sort=title', 'UNKNOWN_FIELD'],
]

describe('400 answers', () => {
  it.each(REFUSED)('%s', async (_, path, code) => {
    const { status, body } = await server.request('GET', `/api/${path}`, { caller: callerOf({ tenant: 1, permissions: ['trash'] }) })
    expect([status, body.data?.code]).toEqual([400, code])
  })
})

describe('a list', () => {
  const get = async (path: string, from = server) => (await from.request('GET', `/api/${path}`, { caller })).body

  it.each(LISTS)('takes %s as a comma list and repeated', async (name) => {
    const [a, b] = LIST_VALUES[name] ?? ['title', 'words']
    const [comma, repeated] = [await get(`articles?${name}=${a},${b}`), await get(`articles?${name}=${a}&${name}=${b}`)]
    expect(comma.data.length).toBeGreaterThan(0)
    expect(repeated).toEqual(comma)
  })

  it('lowers a limit above the maximum, and returns an empty page past the end', async () => {
    const { data, meta } = await get('articles?limit=1000')
    expect([data.length, meta.limit]).toEqual([25, 25])
    expect(await get('articles?page=1000')).toEqual({ data: [], meta: { page: 1000, limit: 7, total: meta.total } })
  })

  it('does not count rows with count=none, and returns hasMore', async () => {
    const { total } = (await get('articles?count=exact')).meta
    server.statements()
    expect((await get('articles?count=none')).meta).toEqual({ page: 1, limit: 7, hasMore: true })
    expect(server.statements()).toHaveLength(1)
    expect((await get(`articles?count=none&limit=7&page=${Math.ceil(total / 7)}`)).meta.hasMore).toBe(false)
  })

  it('uses the configured pagination without page and cursor', async () => {
    expect((await get('authors', small)).meta).toEqual({ limit: 3, hasMore: true, nextCursor: expect.any(String) })
    expect((await get('authors?page=1', small)).meta).toEqual({ page: 1, limit: 3, total: expect.any(Number) })
  })

  it('parses a parameter that is repeated thousands of times in linear time', async () => {
    const begin = performance.now()
    await get(`articles?${'a&'.repeat(20_000)}`)
    expect(performance.now() - begin).toBeLessThan(1000)
  })

  it('ignores unknown parameters', async () => {
    expect(await get('articles?utm_source=x&__proto__=1')).toEqual(await get('articles'))
  })

  it('returns 400 for more included rows than configured', async () => {
    expect((await get('articles?include=author&limit=5', small)).data).toHaveLength(5)
    expect((await get('articles?include=credits,tags&limit=12', small)).data.code).toBe('LIMIT_EXCEEDED')
  })

  it('limits groupBy to the configured number of fields', async () => {
    expect((await get('articles/aggregate?groupBy=id,words', small)).data.length).toBeGreaterThan(0)
    expect((await get('articles/aggregate?groupBy=id,words,score', small)).data.code).toBe('LIMIT_EXCEEDED')
  })

  it.each([100, 7_500, 30_000])('refuses an include path of %i relations', async (length) => {
    const { statusCode, data } = await get(`articles?include=${list(length, () => 'a').join('.')}`)
    expect([statusCode, data.code]).toEqual([400, 'LIMIT_EXCEEDED'])
  })

  it('limits counts, page numbers and aggregates with objectLevel to the configured rows, but not cursor pages', async () => {
    for (const path of ['tags?page=1', 'tags/aggregate?aggregate=count', 'tags?cursor=&aggregate=count']) {
      expect([path, (await get(path, small)).data.code]).toEqual([path, 'LIMIT_EXCEEDED'])
    }
    expect((await get('tags?page=1&count=none', small)).data).toHaveLength(3)
    const estimated = await get('tags?page=1&count=estimated', small)
    expect([estimated.data.length, estimated.meta]).toEqual([
      3,
      { page: 1, limit: 3, total: expect.toSatisfy((total: number) => total > 3 && total <= 20), totalIsMore: true, hasMore: true },
    ])
    expect((await get(`tags?page=1&count=estimated&${filter({ id: { $lte: 20 } })}`, small)).meta.totalIsMore).toBeUndefined()
    expect((await get(`tags?page=1&${filter({ id: { $lte: 20 } })}`, small)).meta.total).toBeGreaterThan(0)
    const visible = server.data.tags!.filter(row => MODEL.tags!.visible(row, { tenant: 1, permissions: [] }))
    let seen = 0
    for (let cursor: string | null = ''; cursor !== null;) {
      const { data, meta }: { data: unknown[], meta: { nextCursor: string | null } } = await get(`tags?limit=12&cursor=${cursor}`, small)
      seen += data.length
      cursor = meta.nextCursor
    }
    expect(seen).toBe(visible.length)
  })
})
