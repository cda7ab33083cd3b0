/** Filters by the number of related rows: exactly the rows whose `_count` meets the condition. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATORS, type ComparisonName } from '../../../src/runtime/shared/operators'
import { CALLER, openCounts, type CountServer } from '../reading/counts-server'

let server: CountServer

beforeAll(async () => {
  server = await openCounts({ filters: { extended: true } })
})
afterAll(() => server.client.close())

const ask = (path: string, query: Record<string, string>, permissions: string[] = []) =>
  server.request('GET', `/api/${path}?${String(new URLSearchParams(query))}`, { caller: { ...CALLER, permissions } })

const COMPARISONS = (['$eq', '$ne', '$gt', '$gte', '$lt', '$lte'] as const)
  .map((name): [ComparisonName, readonly number[]] => [name, OPERATORS[name].comparison.signs])
const RELATIONS = [
  ['posts', 'comments'], ['posts', 'tags'], ['posts', 'users'], ['posts', 'reviews'], ['users', 'users'], ['users', 'postsByAuthor'],
  ['users', 'posts'], ['tags', 'posts'],
] as const

describe.each(RELATIONS)('the number of %s.%s', (resource, relation) => {
  it.each<[ComparisonName, readonly number[]]>(COMPARISONS)('meets %s exactly if `_count` does', async (operator, signs) => {
    const all = (await ask(resource, { counts: relation })).body.data as { id: number, _count: Record<string, number> }[]
    for (const number of [0, 1, 2, 3]) {
      const expected = all.filter(({ _count }) => signs.includes(Math.sign(_count[relation]! - number))).map(({ id }) => id)
      const json = await ask(resource, { filter: JSON.stringify({ [relation]: { $count: { [operator]: number } } }) })
      expect([number, json.body.data?.map(({ id }: { id: number }) => id) ?? json.text]).toEqual([number, expected])
      expect(json.body.meta.total).toBe(expected.length)
      const brackets = await ask(resource, { [`filter[${relation}][$count][${operator}]`]: String(number) })
      expect(brackets.text).toBe(json.text)
    }
  })
})

const refusal = async (filter: unknown, on = server) => {
  const query = typeof filter === 'string' ? filter : `filter=${encodeURIComponent(JSON.stringify(filter))}`
  const { status, body } = await on.request('GET', `/api/posts?${query}`, { caller: { ...CALLER, permissions: [] } })
  return [status, body.data.code, body.message]
}

describe('a condition on a number that a request cannot have', () => {
  it.each<[filter: unknown, code: string, place: string]>([
    [{ author: { $count: 1 } }, 'INVALID_OPERATOR', '`filter.author.$count` counts the records of a list'],
    [{ vaults: { $count: 1 } }, 'INVALID_QUERY', '"vaults" cannot be filtered, because code checks its records'],
    [{ nobody: { $count: 1 } }, 'UNKNOWN_FIELD', '"nobody"'],
    [{ usersByEditor: { $count: 1 } }, 'UNKNOWN_FIELD', '"usersByEditor"'],
    [{ title: { $count: 1 } }, 'INVALID_OPERATOR', '`filter.title.$count` is not supported here'],
    [{ $count: 1 }, 'INVALID_OPERATOR', '`$count` stands alone in the object of a relation'],
    [{ comments: { $count: 1, status: 'open' } }, 'INVALID_OPERATOR', '`filter.comments.$count` stands alone'],
    [{ comments: { $count: 1, $null: false } }, 'INVALID_OPERATOR', '`filter.comments.$count` stands alone'],
    [{ comments: { $count: 1, $or: [{ status: 'open' }] } }, 'INVALID_OPERATOR', '`filter.comments.$count` stands alone'],
    [{ comments: { $not: { $count: 1 } } }, 'INVALID_OPERATOR', '`filter.comments.$not.$count` stands alone'],
    [{ comments: { $or: [{ $count: 1 }, { status: 'open' }] } }, 'INVALID_OPERATOR', '`filter.comments.$or[0].$count` stands alone'],
    [{ comments: { $or: [{ status: 'open' }, { $count: 1 }] } }, 'INVALID_OPERATOR', '`filter.comments.$or[1].$count` stands alone'],
    [{ title: { $or: [{ $like: 'a' }, { $count: 1 }] } }, 'INVALID_OPERATOR', '`filter.title.$or[1].$count` stands alone'],
    [{ comments: { $count: { $in: [1] } } }, 'INVALID_OPERATOR', '`filter.comments.$count.$in` is not an operator'],
    [{ comments: { $count: { $gtt: 1 } } }, 'INVALID_OPERATOR', '`filter.comments.$count.$gtt` is not an operator. Did you mean `$gt`?'],
    [{ comments: { $count: { $not: { $gt: 1 } } } }, 'INVALID_OPERATOR', '`filter.comments.$count.$not` is not an operator'],
    [{ $and: [{ comments: { $count: { $foo: 1 } } }] }, 'INVALID_OPERATOR', '`filter.$and[0].comments.$count.$foo`'],
    ...[-1, 1.5, 2 ** 53, 1e300, '3', null, true, [1], [[1]]].flatMap((value): [unknown, string, string][] => [
      [{ comments: { $count: { $gte: value } } }, 'INVALID_VALUE', '`filter.comments.$count`: $count takes whole numbers'],
      [{ comments: { $count: value } }, 'INVALID_VALUE', '`filter.comments.$count`: $count takes whole numbers'],
    ]),
    [{ comments: { $count: { $gte: { $gte: 1 } } } }, 'INVALID_VALUE', '`filter.comments.$count`: $count takes whole numbers'],
    [{ comments: { $count: {} } }, 'INVALID_VALUE', '`filter.comments.$count`: $count has no operator'],
    ['filter[comments][$count][$gte]=', 'INVALID_VALUE', 'takes whole numbers'],
    ['filter[comments][$count][$gte]=1.0', 'INVALID_VALUE', 'takes whole numbers'],
    ['filter[comments][$count]=0x1', 'INVALID_VALUE', 'takes whole numbers'],
    ['filter[comments][$count]=1&filter[comments][$count]=1', 'INVALID_VALUE', 'takes whole numbers'],
    ['filter[comments][$count][$gte]=9999999999999999', 'INVALID_VALUE', 'takes whole numbers'],
    [{ $and: Array.from({ length: 21 }, () => ({ comments: { $count: 1 } })) }, 'LIMIT_EXCEEDED', 'more than 20 relations'],
    [{ comments: { post: { comments: { post: { comments: { $count: 1 } } } } } }, 'LIMIT_EXCEEDED', 'goes deeper than'],
    [
      { $and: [...Array.from({ length: 99 }, () => ({ id: 1 })), { comments: { $count: { $gte: 1, $lte: 2 } } }] },
      'LIMIT_EXCEEDED', '100 conditions',
    ],
  ])('%j is refused', async (filter, code, message) => {
    expect(await refusal(filter)).toEqual([400, code, expect.stringContaining(message)])
  })

  it('is any number without the option', async () => {
    const basic = await openCounts()
    for (const filter of [{ comments: { $count: 1 } }, { comments: { $count: { $gte: 1 } } }, 'filter[comments][$count][$gte]=1'])
      expect(await refusal(filter, basic))
        .toEqual([400, 'INVALID_OPERATOR', expect.stringContaining('`filter.comments.$count` is not supported here without')])
    basic.client.close()
  })

  it('is on records that the caller has no permission to read, once the request has no other mistake', async () => {
    const filter = '{"secrets":{"$count":1}}'
    expect((await ask('posts', { filter })).status).toBe(403)
    expect((await ask('posts', { filter, sort: 'nothing' })).status).toBe(400)
    expect((await ask('posts', { filter }, ['secrets'])).status).toBe(200)
  })
})

describe('a condition on a number', () => {
  const ids = async (path: string, filter: object, permissions?: string[]) =>
    (await ask(path, { filter: JSON.stringify(filter) }, permissions)).body.data.map(({ id }: { id: number }) => id)

  it('compares the number several times in one subquery', async () => {
    server.sent.length = 0
    expect(await ids('posts', { comments: { $count: { $gte: 1, $lt: 2 } } })).toEqual([2])
    expect(server.sent[0]!.match(/count\(\*\)/g)).toHaveLength(2)
    expect(server.sent[0]!.match(/auto_api_counted/g)!.length).toBeLessThan(8)
    expect(await ids('posts', { comments: { $count: { $lt: 2, $ne: 1 } } })).toEqual([3, 6])
  })

  it('stands in combinations, beside conditions, and in conditions on related records', async () => {
    expect(await ids('posts', { $or: [{ comments: { $count: 2 } }, { tags: { $count: { $gt: 0 } } }] })).toEqual([1, 2])
    expect(await ids('posts', { $not: { comments: { $count: { $lte: 1 } } } })).toEqual([1])
    expect(await ids('posts', { $and: [{ comments: { $count: { $gte: 1 } } }, { tags: { $count: 1 } }], title: 'b' })).toEqual([2])
    expect(await ids('comments', { post: { comments: { $count: 2 } } })).toEqual([1, 2])
    expect(await ids('comments', { post: { $not: { comments: { $count: 2 } } } })).toEqual([6])
    expect(await ids('users', { postsByAuthor: { comments: { $count: 0 } } })).toEqual([2])
  })

  it('filters included records and aggregates', async () => {
    const include = JSON.stringify({ postsByAuthor: { fields: ['id'], filter: { comments: { $count: { $gte: 2 } } } } })
    const { body } = await ask('users', { include, fields: 'id' })
    expect(body.data.map(({ postsByAuthor }: { postsByAuthor: unknown[] }) => postsByAuthor)).toEqual([[{ id: 1 }], [], [], []])
    const counted = await ask('posts/aggregate', { aggregate: 'count', filter: '{"comments":{"$count":0}}' })
    expect(counted.body.data).toEqual([expect.objectContaining({ count: 2 })])
  })

  it('counts only rows that the caller can read', async () => {
    expect(await ids('posts', { comments: { $count: 3 } })).toEqual([])
    expect(await ids('posts', { comments: { $count: 3 } }, ['spam'])).toEqual([1])
  })
})
