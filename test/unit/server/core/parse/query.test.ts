/** What the parameters of a query string mean, without a schema and without a database. */
import { describe, expect, it } from 'vitest'
import type { ApiRequest } from '../../../../../src/runtime/server/core/request/api-request'
import type { Call } from '../../../../../src/runtime/server/core/request/session'
import { parseGroups } from '../../../../../src/runtime/server/core/parse/aggregate'
import { parseGet, parseList } from '../../../../../src/runtime/server/core/parse/list'
import { aggregateOperations, readOperations, toOffset } from '../../../../../src/runtime/server/core/parse/params'
import type { AutoApiConfig } from '../../../../../src/runtime/shared/config'
import { DEFAULT_CONFIG } from '../../../../../src/runtime/shared/defaults'
import { resourceOf, sqlite } from '../../../../support/tables'

type Config = Partial<AutoApiConfig>
const call = (config: Config = {}) =>
  ({ api: { config: { ...DEFAULT_CONFIG, ...config } }, resource: resourceOf(sqlite.posts) }) as unknown as Call
function queryOf(text: string): ApiRequest['query'] {
  const query: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(text)) query[name] = name in query ? [query[name]!, value].flat() : value
  return query
}
const list = (text: string, config?: Config) => parseList({ query: queryOf(text) }, call(config))
const groups = (text: string, config?: Config) => parseGroups({ query: queryOf(text) } as ApiRequest, call(config))
const filter = (value: unknown) => `filter=${encodeURIComponent(JSON.stringify(value))}`

/** Puts a short title before each case, because a query can be as long as the limits. */
const titled = <Rest extends unknown[]>(cases: readonly (readonly [text: string, ...rest: Rest])[]) =>
  cases.map(([text, ...rest], index): [title: string, text: string, ...rest: Rest] => [
    `${index}: ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`,
    text,
    ...rest,
  ])

/** The code, the parameter and the message of what is thrown. */
function error(run: () => unknown) {
  try {
    return { returned: run() }
  }
  catch (thrown) {
    const { message, data } = thrown as { message: string, data: { code: string, parameter?: string } }
    return { code: data.code, message, data }
  }
}
const refusal = (code: string, message: string | RegExp) => ({
  code,
  message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
  data: expect.anything(),
})

const EMPTY = {
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
const entry = (name: string, operator: string, value: unknown, text = false, at = 'filter') => ({ name, operator, value, text, at })

describe('a list', () => {
  it.each(
    titled<[expected: object, config?: Config]>([
      ['', {}],
      ['unknown=1', {}],
      ['', { position: { mode: 'cursor', cursor: '' } }, { pagination: { default: 'cursor', defaultLimit: 20, maxLimit: 100 } }],
      ['page=2', { position: { mode: 'offset', page: 2 } }, { pagination: { default: 'cursor', defaultLimit: 20, maxLimit: 100 } }],
      ['page=3', { position: { mode: 'offset', page: 3 } }],
      ['cursor=', { position: { mode: 'cursor', cursor: '' } }],
      ['cursor=abc', { position: { mode: 'cursor', cursor: 'abc' } }],
      ['limit=5', { limit: 5 }],
      ['limit=100', { limit: 100 }],
      ['limit=101', { limit: 100 }],
      ['count=none', { count: false }],
      ['count=exact', { count: true }],
      ['count=estimated', { count: true, countLimit: 10_000 }],
      [
        'sort=a,-b',
        {
          sort: [
            { name: 'a', descending: false },
            { name: 'b', descending: true },
          ],
        },
      ],
      [
        'sort=a&sort=-b',
        {
          sort: [
            { name: 'a', descending: false },
            { name: 'b', descending: true },
          ],
        },
      ],
      ['sort=, a ,,', { sort: [{ name: 'a', descending: false }] }],
      ['cursorFields=-a', { cursorFields: [{ name: 'a', descending: true }] }],
      ['fields=a, b&fields=c', { fields: ['a', 'b', 'c'] }],
      ['fields=', {}],
      ['includeDeleted=true', { trash: 'both' }],
      ['onlyDeleted=true', { trash: 'trashed' }],
      ['includeDeleted=false&onlyDeleted=false', {}],
      [
        'aggregate=count,sum(a)',
        {
          aggregates: [
            { function: 'count', alias: 'count' },
            { function: 'sum', field: 'a', alias: 'sum_a' },
          ],
        },
      ],
      [
        'aggregate=count(*),count(),count( a ),min(a),min(a),max(b),avg(c)',
        {
          aggregates: [
            { function: 'count', alias: 'count' },
            { function: 'count', field: 'a', alias: 'count_a' },
            { function: 'min', field: 'a', alias: 'min_a' },
            { function: 'max', field: 'b', alias: 'max_b' },
            { function: 'avg', field: 'c', alias: 'avg_c' },
          ],
        },
      ],
      ['aggregate=', { aggregates: [] }, { aggregations: { enabled: false, maxGroupByFields: 5 } }],
    ]),
  )('%s', (_title, query, expected, config) => {
    expect(list(query, config)).toEqual({ ...EMPTY, ...expected })
  })

  it.each(
    titled<[code: string, message: string | RegExp, config?: Config]>([
      ['page=1&cursor=', 'INVALID_QUERY', '`page` and `cursor` exclude each other.'],
      ...['0', '-1', '1.5', '01', '', 'x', '1e3', '9'.repeat(16), ' 1'].flatMap((value): [string, string, string][] => [
        [`page=${value}`, 'INVALID_QUERY', '`page` is not a whole number of at least 1:'],
        [`limit=${value}`, 'INVALID_QUERY', '`limit` is not a whole number of at least 1:'],
      ]),
      ['page=1&page=2', 'INVALID_QUERY', '`page` is given more than once.'],
      ['cursor=a&cursor=b', 'INVALID_QUERY', '`cursor` is given more than once.'],
      ['count=no', 'INVALID_QUERY', '`count` is none, exact or estimated, not'],
      ['count=toString', 'INVALID_QUERY', '`count` is none'],
      ['includeDeleted=yes', 'INVALID_QUERY', '`includeDeleted` is true or false, not'],
      ['onlyDeleted=', 'INVALID_QUERY', '`onlyDeleted` is true or false'],
      ['includeDeleted=true&onlyDeleted=true', 'INVALID_QUERY', '`includeDeleted` and `onlyDeleted` exclude each other.'],
      [`sort=${Array.from({ length: 21 }, (_, index) => `f${index}`).join()}`, 'LIMIT_EXCEEDED', '`sort` names more than 20 fields.'],
      [`x=${'y'.repeat(65_536)}`, 'LIMIT_EXCEEDED', 'The query is longer than 65536 characters.'],
      [`x=${'y'.repeat(40_000)}&x=${'y'.repeat(25_536)}`, 'LIMIT_EXCEEDED', 'The query is longer than 65536 characters.'],
      ['aggregate=count', 'INVALID_QUERY', 'Aggregates are turned off.', { aggregations: { enabled: false, maxGroupByFields: 5 } }],
      [
        `aggregate=${Array.from({ length: 21 }, (_, index) => `sum(f${index})`).join()}`,
        'LIMIT_EXCEEDED',
        '`aggregate` holds more than 20 functions.',
      ],
      ...['median(a)', 'sum(a', 'sum a)', 'sum((a))', 'xsum(a)', 'sum(a)x', '(a)'].map((value): [string, string, string] => [
        `aggregate=${value}`,
        'INVALID_OPERATOR',
        '',
      ]),
      ['aggregate=sum', 'INVALID_QUERY', 'names no field.'],
      ['aggregate=sum( )', 'INVALID_QUERY', 'names no field.'],
    ]),
  )('%s is refused', (_title, query, code, message, config) => {
    expect(error(() => list(query, config))).toEqual(refusal(code, message))
  })

  it('can be as long as the limits', () => {
    expect(list(`sort=${Array.from({ length: 20 }, (_, index) => `f${index}`).join()}`).sort).toHaveLength(20)
    expect(list(`aggregate=${Array.from({ length: 20 }, (_, index) => `sum(f${index})`).join()}`).aggregates).toHaveLength(20)
    expect(list(`x=${'y'.repeat(65_535)}`)).toEqual(EMPTY)
    expect(list(`page=${'9'.repeat(15)}`).position).toEqual({ mode: 'offset', page: 999_999_999_999_999 })
    expect([toOffset(3, 20), toOffset(999_999_999_999_999, 100)]).toEqual([40, Number.MAX_SAFE_INTEGER])
  })
})

describe('a record', () => {
  const get = (text: string, id?: string) => parseGet({ query: queryOf(text), params: id === undefined ? {} : { id } }, call())

  it('has a key, fields and includes', () => {
    expect(get('fields=title', '7')).toEqual({ key: [7], fields: ['title'], include: new Map(), counts: [], trash: 'active' })
  })

  it.each([undefined, '07', 'x', '1,2', ''])('is not found by the id %j', (id) => {
    expect(error(() => get('', id))).toEqual(refusal('NOT_FOUND', ''))
  })

  it('is bounded as a list', () => {
    expect(error(() => get(`include=${'x'.repeat(70_000)}`, '1'))).toEqual(refusal('LIMIT_EXCEEDED', 'longer than'))
    const include = JSON.stringify({ a: { filter: { $or: Array.from({ length: 9 }, () => ({ a: { $like: 'x' } })) } } })
    expect(error(() => get(`include=${encodeURIComponent(include)}`, '1'))).toEqual(
      refusal('LIMIT_EXCEEDED', 'more than 8 $like conditions'),
    )
  })
})

describe('groups', () => {
  it('count by default, and have conditions on their results', () => {
    expect(groups('groupBy=a,b,a&having={"count":{"$gt":1,"$lte":"5"},"sum_a":3}&sort=-count&page=2&limit=7&onlyDeleted=true')).toEqual({
      aggregates: [{ function: 'count', alias: 'count' }],
      groupBy: ['a', 'b'],
      filter: [],
      sort: [{ name: 'count', descending: true }],
      page: 2,
      limit: 7,
      trash: 'trashed',
      having: [
        { alias: 'count', operator: '$gt', value: 1 },
        { alias: 'count', operator: '$lte', value: '5' },
        { alias: 'sum_a', operator: '$eq', value: 3 },
      ],
    })
    expect(groups('aggregate=sum(a)')).toEqual({
      aggregates: [{ function: 'sum', field: 'a', alias: 'sum_a' }],
      groupBy: [],
      having: [],
      filter: [],
      sort: [],
      page: 1,
      limit: 20,
      trash: 'active',
    })
  })

  const many = (count: number) =>
    encodeURIComponent(JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, 1]))))
  it.each(
    titled<[code: string, message: string]>([
      ['groupBy=a,b,c,d,e,f', 'LIMIT_EXCEEDED', '`groupBy` names more than 5 fields.'],
      ['aggregate=x sum(a)', 'INVALID_OPERATOR', 'x sum(a)'],
      ['having=x', 'INVALID_QUERY', '`having` is not valid JSON.'],
      ['having=[1]', 'INVALID_QUERY', '`having` is not an object of conditions.'],
      ['having={}&having={}', 'INVALID_QUERY', '`having` is given more than once.'],
      ['having={"count":{"$like":"1"}}', 'INVALID_OPERATOR', ''],
      ['having={"count":null}', 'INVALID_QUERY', 'is compared with a number or a string.'],
      ['having={"count":{"$gt":true}}', 'INVALID_QUERY', 'is compared with a number or a string.'],
      ['having={"count":[1]}', 'INVALID_QUERY', 'is compared with a number or a string.'],
      [`having=${many(101)}`, 'LIMIT_EXCEEDED', '`having` holds more than 100 conditions.'],
      [
        `having=${many(60)}&${filter(JSON.parse(decodeURIComponent(many(41))))}`,
        'LIMIT_EXCEEDED',
        'The query, with its includes, holds more than 100 conditions.',
      ],
      [`x=${'y'.repeat(65_536)}`, 'LIMIT_EXCEEDED', 'The query is longer'],
    ]),
  )('%s is refused', (_title, query, code, message) => {
    expect(error(() => groups(query))).toEqual(refusal(code, message))
  })

  it('can have as many conditions as the limits', () => {
    expect(groups(`having=${many(60)}&${filter(JSON.parse(decodeURIComponent(many(40))))}`).having).toHaveLength(60)
    expect(groups(`having=${many(100)}`).having).toHaveLength(100)
    expect(groups('groupBy=a,b,c,d,e').groupBy).toHaveLength(5)
  })
})

describe('a filter', () => {
  it.each(
    titled<[expected: object]>([
      [filter({}), []],
      [filter({ a: 1, b: null, c: [1, 2] }), [entry('a', '$eq', 1), entry('b', '$eq', null), entry('c', '$in', [1, 2])]],
      [filter({ a: { $gt: 1, $lt: 5 } }), [entry('a', '$gt', 1), entry('a', '$lt', 5)]],
      [
        filter({ a: { b: { c: 1 }, d: null } }),
        [{
          relation: 'a',
          conditions: [
            { relation: 'b', conditions: [entry('c', '$eq', 1, false, 'filter.a.b')], at: 'filter.a' },
            entry('d', '$eq', null, false, 'filter.a'),
          ],
          at: 'filter',
        }],
      ],
      [
        filter({ a: 1, $or: [{ b: 2, c: 3 }, { d: 4 }] }),
        [entry('a', '$eq', 1), {
          branches: [
            [entry('b', '$eq', 2, false, 'filter.$or[0]'), entry('c', '$eq', 3, false, 'filter.$or[0]')],
            [entry('d', '$eq', 4, false, 'filter.$or[1]')],
          ],
        }],
      ],
      ['filter[a]=1', [entry('a', '$eq', '1', true)]],
      ['filter[a]=1&filter[a]=2', [entry('a', '$in', ['1', '2'], true)]],
      ['filter[a][]=1', [entry('a', '$eq', '1', true)]],
      ['filter[a][$in]=1,2&filter[b][$null]=true', [entry('a', '$in', '1,2', true), entry('b', '$null', 'true', true)]],
      [
        'filter[a][b][$gt]=1&filter[a][c]=2',
        [{ relation: 'a', conditions: [entry('b', '$gt', '1', true, 'filter.a'), entry('c', '$eq', '2', true, 'filter.a')], at: 'filter' }],
      ],
      [
        'filter[$or][0][a]=1&filter[$or][1][b]=2',
        [{ branches: [[entry('a', '$eq', '1', true, 'filter.$or[0]')], [entry('b', '$eq', '2', true, 'filter.$or[1]')]] }],
      ],
      ['filtered[a]=1', []],
    ]),
  )('%s', (_title, query, expected) => {
    expect(list(query).filter).toEqual(expected)
  })

  const conditions = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, index]))
  it.each(
    titled<[code: string, message: string]>([
      ['filter=x', 'INVALID_QUERY', '`filter` is not valid JSON.'],
      ['filter=1', 'INVALID_QUERY', '`filter` is not an object of conditions.'],
      ['filter=null', 'INVALID_QUERY', '`filter` is not an object of conditions.'],
      ['filter=[]', 'INVALID_QUERY', '`filter` is not an object of conditions.'],
      ['filter={}&filter={}', 'INVALID_QUERY', '`filter` is given more than once.'],
      ['filter={}&filter[a]=1', 'INVALID_QUERY', '`filter` is either JSON or written in brackets, not both.'],
      [filter({ $and: [] }), 'INVALID_OPERATOR', ''],
      [filter({ a: { $foo: 1 } }), 'INVALID_OPERATOR', '$foo'],
      [filter({ a: { $eq: 1, b: 2 } }), 'INVALID_OPERATOR', 'b'],
      [filter({ a: { b: 2, $foo: 1 } }), 'INVALID_OPERATOR', '$foo'],
      [filter({ a: {} }), 'INVALID_VALUE', 'has no operator.'],
      [filter({ a: { b: {} } }), 'INVALID_VALUE', 'has no operator.'],
      ...[{}, { 0: { a: 1 } }, [], null, 'x', 1].map((value): [string, string, string] => [
        filter({ $or: value }),
        'INVALID_QUERY',
        '`$or` is a list of objects of conditions.',
      ]),
      ...[{}, [], null, 'x'].map((value): [string, string, string] => [
        filter({ $or: [{ a: 1 }, value] }),
        'INVALID_QUERY',
        'every branch of `$or` is an object of conditions.',
      ]),
      [filter({ $or: [{ $or: [{ a: 1 }] }] }), 'INVALID_OPERATOR', '$or'],
      [filter({ a: { $or: [{ b: 1 }] } }), 'INVALID_OPERATOR', '$or'],
      [filter({ $or: Array.from({ length: 21 }, () => ({ a: 1 })) }), 'LIMIT_EXCEEDED', '`$or` has more than 20 branches.'],
      [filter(conditions(101)), 'LIMIT_EXCEEDED', '`filter` holds more than 100 conditions.'],
      [
        filter({ ...conditions(50), r: conditions(31), $or: [conditions(20)] }),
        'LIMIT_EXCEEDED',
        '`filter` holds more than 100 conditions.',
      ],
      ['filter[][a]=1', 'INVALID_QUERY', 'is not a filter.'],
      ['filter[a]=1&filter[a][$gt]=2', 'INVALID_QUERY', 'contradicts another part of the filter.'],
      ['filter[a][$gt]=2&filter[a]=1', 'INVALID_QUERY', 'contradicts another part of the filter.'],
      ...['filter[]', 'filter[a]b', 'filter[a][[b]', 'filter[a]]', 'filter[', `filter${'[a]'.repeat(33)}`].map(
        (key): [string, string, string] => [`${key}=1`, 'INVALID_QUERY', 'is not a filter.'],
      ),
      [
        filter({ a: JSON.parse(`${'{"b":'.repeat(32)}1${'}'.repeat(32)}`) as object }),
        'LIMIT_EXCEEDED',
        '`filter` is nested deeper than 32 levels.',
      ],
    ]),
  )('%s is refused', (_title, query, code, message) => {
    expect(error(() => list(query))).toEqual(refusal(code, message))
  })

  it('can be as large as the limits', () => {
    expect(list(filter({ ...conditions(50), r: conditions(30), $or: [conditions(20)] })).filter.at(-1))
      .toMatchObject({ branches: [expect.any(Array)] })
    expect(list(filter({ $or: Array.from({ length: 20 }, () => ({ a: 1 })) })).filter).toMatchObject([{ branches: { length: 20 } }])
    expect(list(`filter${'[a]'.repeat(12)}=1`).filter).toHaveLength(1)
  })
})

describe('patterns of $like', () => {
  const likes = (...patterns: unknown[]) => filter({ $or: patterns.map($like => ({ a: { $like } })) })

  it.each<[string, string, string]>([
    ['nine patterns', likes(...Array.from({ length: 9 }, () => 'x')), 'The query, with its includes, holds more than 8 $like conditions.'],
    ['a long pattern', likes('x'.repeat(257)), '`filter`: a $like pattern has at most 256 characters.'],
    ['long patterns', likes('x'.repeat(256), 'x'.repeat(256), 'x'), 'have more than 512 characters together.'],
    ['many wildcards', likes('%_'.repeat(8) + '%'), '`filter`: a $like pattern has at most 16 wildcards.'],
    [
      'a pattern too much in an include',
      `${likes(...Array.from({ length: 8 }, () => 'x'))}&include=${encodeURIComponent('{"b":{"include":{"c":{"filter":{"a":{"$like":"x"}}}}}}')}`,
      'more than 8 $like conditions.',
    ],
    [
      'a long pattern in an include',
      `include=${encodeURIComponent(JSON.stringify({ b: { filter: { a: { $like: 'x'.repeat(257) } } } }))}`,
      '`include.filter`: a $like pattern has at most 256 characters.',
    ],
    [
      'conditions of filter and includes',
      `${filter(Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, 1])))}&include=${encodeURIComponent('{"b":{"filter":{"a":1}}}')}`,
      'The query, with its includes, holds more than 100 conditions.',
    ],
  ])('are refused: %s', (_what, query, message) => {
    expect(error(() => list(query))).toEqual(refusal('LIMIT_EXCEEDED', message))
  })

  it('can be as many and as long as the limits, and escaped characters are no wildcards', () => {
    for (const patterns of [
      Array.from({ length: 8 }, () => 'x'),
      ['x'.repeat(256), 'x'.repeat(256)],
      ['%_'.repeat(8)],
      [`${'%_'.repeat(8)}\\%\\_\\\\`],
      ['\\%'.repeat(17)],
    ])
      expect(list(likes(...patterns)).filter).toMatchObject([{ branches: { length: patterns.length } }])
    expect(error(() => list(likes('\\\\%'.repeat(17))))).toEqual(refusal('LIMIT_EXCEEDED', 'wildcards'))
  })

  it('are text, and nothing else', () => {
    for (const value of [1, null, true, [], {}, { toString: 1 }])
      expect(error(() => list(likes(value)))).toEqual(refusal('INVALID_VALUE', '$like of "a" takes text.'))
  })
})

describe('an include', () => {
  const include = (text: string) => list(`include=${encodeURIComponent(text)}`).include
  const node = (options: object = {}, children: Record<string, object> = {}) => ({ ...options, include: new Map(Object.entries(children)) })
  const tree = (children: Record<string, object>) => new Map(Object.entries(children))
  const COMMENTS = {
    limit: 5,
    sort: [{ name: 'id', descending: true }],
    filter: [entry('a', '$eq', 'x,{y"', false, 'include.filter')],
    fields: ['id', 'text'],
  }

  it.each(
    titled<[expected: Map<string, object>]>([
      ['a', tree({ a: node() })],
      ['a,b', tree({ a: node(), b: node() })],
      [' a . b , c ', tree({ a: node({}, { b: node() }), c: node() })],
      ['author[id] , comments ,, tags', tree({ author: node({ fields: ['id'] }), comments: node(), tags: node() })],
      ['author [id], , tags{limit:2} ', tree({ author: node({ fields: ['id'] }), tags: node({ limit: 2 }) })],
      ['a"b,c', tree({ 'a"b': node(), 'c': node() })],
      ['a.b,a.c', tree({ a: node({}, { b: node(), c: node() }) })],
      ['a,,', tree({ a: node() })],
      ['a[id, name]', tree({ a: node({ fields: ['id', 'name'] }) })],
      ['a[id].b', tree({ a: node({ fields: ['id'] }, { b: node() }) })],
      ['a{limit:5}', tree({ a: node({ limit: 5 }) })],
      ['a{limit: 5 , sort: -id }.b', tree({ a: node({ limit: 5, sort: [{ name: 'id', descending: true }] }, { b: node() }) })],
      [
        'a{sort:x,sort:-y}',
        tree({
          a: node({
            sort: [
              { name: 'x', descending: false },
              { name: 'y', descending: true },
            ],
          }),
        }),
      ],
      ['a[id,text]{limit:5,sort:-id,filter:{"a":"x,{y\\""}},b', tree({ a: node(COMMENTS), b: node() })],
      ['{"a":true,"b":false}', tree({ a: node() })],
      [
        '  {"a":{"fields":"id,text","limit":"5","sort":["-id"],"filter":{"a":"x,{y\\""},"include":{"b":true}}}',
        tree({ a: node(COMMENTS, { b: node() }) }),
      ],
      ['{"a":{"limit":5}}', tree({ a: node({ limit: 5 }) })],
      ['{"a":{"fields":[" id ","","text"]}}', tree({ a: node({ fields: ['id', 'text'] }) })],
      ['{}', tree({})],
      ['', tree({})],
    ]),
  )('%s', (_title, text, expected) => {
    expect(include(text)).toEqual(expected)
  })

  it('can be repeated', () => {
    expect(list('include=a&include=b.c&include={"b":{"limit":1}}').include).toEqual(
      tree({ a: node(), b: node({ limit: 1 }, { c: node() }) }),
    )
  })

  it.each(
    titled<[code: string, message: string]>([
      ['{"a":1}', 'INVALID_QUERY', 'the options of "a" are true or an object.'],
      ['{"a":{"x":1}}', 'INVALID_QUERY', 'has no option "x"; use one of: fields, limit, sort, filter, counts, include.'],
      ['{"a":{"toString":1}}', 'INVALID_QUERY', 'has no option "toString"'],
      ['{"a":{"include":[]}}', 'INVALID_QUERY', '`include` is not an object of relations.'],
      ['{"a":{"fields":1}}', 'INVALID_QUERY', '`fields` is a list of names.'],
      ['{"a":{"fields":["id",1]}}', 'INVALID_QUERY', '`fields` is a list of names.'],
      ['{"a":{"sort":{}}}', 'INVALID_QUERY', '`sort` is a list of names.'],
      ['{"a":{"limit":0}}', 'INVALID_QUERY', '`include.limit` is not a whole number'],
      ['{"a":{"limit":true}}', 'INVALID_QUERY', '`include.limit` is not a whole number'],
      ['{"a":{"limit":[5]}}', 'INVALID_QUERY', '`include.limit` is not a whole number'],
      ['{"a":{"filter":1}}', 'INVALID_QUERY', '`include.filter` is not an object of conditions.'],
      ['{a', 'INVALID_QUERY', '`include` is not valid JSON.'],
      ['a..b', 'INVALID_QUERY', 'has an empty segment.'],
      ['.a', 'INVALID_QUERY', 'has an empty segment.'],
      ['a. .b', 'INVALID_QUERY', 'has an empty segment.'],
      ['a.', 'INVALID_QUERY', 'has an empty segment.'],
      ['[id]', 'INVALID_QUERY', 'is not a relation.'],
      ['a{limit:1}[id]', 'INVALID_QUERY', 'is not a relation.'],
      ['a[id]x', 'INVALID_QUERY', 'is not a relation.'],
      ['a{x}', 'INVALID_QUERY', 'is not an option.'],
      ['a{include:b}', 'INVALID_QUERY', 'is not an option.'],
      ['a{x:1}', 'INVALID_QUERY', 'has no option "x"'],
      ['a{limit:x}', 'INVALID_QUERY', '`include.limit` is not a whole number'],
      ['a{filter:x}', 'INVALID_QUERY', '`include.filter` is not valid JSON.'],
      ...['a[id', 'a]', 'a{limit:1', 'a}', 'a{filter:{"x":"}}', 'a}{', 'a][b'].map((text): [string, string, string] => [
        text,
        'INVALID_QUERY',
        'a bracket has no counterpart.',
      ]),
      [Array.from({ length: 65 }, () => 'a').join('.'), 'LIMIT_EXCEEDED', '`include` goes deeper than 64 relations.'],
    ]),
  )('%s is refused', (_title, text, code, message) => {
    expect(error(() => include(text))).toEqual(refusal(code, message))
  })

  it('can be as deep as the limits', () => {
    expect(include(Array.from({ length: 64 }, () => 'a').join('.')).size).toBe(1)
  })
})

describe('the operations of a read', () => {
  it.each(
    titled<[operations: string[]]>([
      ['', ['read']],
      ['aggregate=count', ['read', 'aggregate']],
      ['groupBy=a', ['read', 'aggregate']],
      ['aggregate=', ['read', 'aggregate']],
      ['includeDeleted=true', ['read', 'viewDeleted']],
      ['onlyDeleted=true', ['read', 'viewDeleted']],
      ['includeDeleted=false', ['read']],
      ['includeDeleted=x', ['read']],
      ['onlyDeleted=false&onlyDeleted=true', ['read', 'viewDeleted']],
      ['groupBy=a&onlyDeleted=true', ['read', 'aggregate', 'viewDeleted']],
    ]),
  )('%s: %s', (_title, query, operations) => {
    expect(readOperations({ query: queryOf(query) })).toEqual(operations)
    expect(aggregateOperations({ query: queryOf(query) } as ApiRequest)).toEqual([
      'aggregate',
      ...operations.filter(operation => operation === 'viewDeleted'),
    ])
  })
})
