/** How names become columns and relations, without a database: orders, selections, conditions, includes and links. */
import type { Table } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ApiRequest } from '../../../../../src/runtime/server/core/request/api-request'
import type { Call } from '../../../../../src/runtime/server/core/request/session'
import type { RelationFilter } from '../../../../../src/runtime/server/core/access/plan'
import { parseGroups } from '../../../../../src/runtime/server/core/parse/aggregate'
import { parseGet, parseList } from '../../../../../src/runtime/server/core/parse/list'
import { parseLink, parseRelated } from '../../../../../src/runtime/server/core/parse/relation'
import { parseBulkDelete, parseCreate, parseDelete, parseUpdate } from '../../../../../src/runtime/server/core/parse/write'
import { planGroups, returnsColumnValue } from '../../../../../src/runtime/server/core/plan/aggregate'
import type { IncludePlan } from '../../../../../src/runtime/server/core/plan/read-plan'
import { planGet, planList } from '../../../../../src/runtime/server/core/plan/read'
import { planLink, planRelated } from '../../../../../src/runtime/server/core/plan/relation'
import { planCreate, planDelete, planPurge, planRestore, planUpdate } from '../../../../../src/runtime/server/core/plan/write'
import { createCursor } from '../../../../../src/runtime/server/core/sql/cursor'
import { whereClause } from '../../../../../src/runtime/server/core/sql/conditions'
import type { Where } from '../../../../../src/runtime/server/core/sql/where'
import { DIALECTS as ADAPTERS } from '../../../../../src/runtime/server/engines/dialects/index'
import type { Engine } from '../../../../../src/runtime/server/engines/engine'
import type { ResourceAuth } from '../../../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../../../src/runtime/shared/config'
import { DEFAULT_CONFIG } from '../../../../../src/runtime/shared/defaults'
import { DIALECTS } from '../../../../support/dialects'
import { resourcesOf, sqlite, tenancy } from '../../../../support/tables'

const render = (sql: Parameters<typeof DIALECTS.sqlite.sqlToQuery>[0]) => {
  const { sql: text, params } = DIALECTS.sqlite.sqlToQuery(sql)
  return { text, values: params }
}
const engine = { name: 'better-sqlite3', dialect: 'sqlite', adapter: ADAPTERS.sqlite, render } as unknown as Engine
const OPEN: ResourceAuth = { permissions: { read: true, create: true, update: true, delete: true } }

interface Options {
  readonly auth?: Record<string, ResourceAuth>
  readonly config?: Partial<AutoApiConfig>
  readonly secret?: string
  readonly ctx?: object
  readonly hidden?: Record<string, string[]>
  readonly registeredLinks?: boolean
  /** The table of the links, and further options of its registration. */
  readonly junction?: Table
  readonly links?: object
}

/** A call on one of the sample tables. */
function callOf(
  name: string,
  {
    auth = {},
    config = {},
    secret,
    ctx = {},
    hidden = {},
    registeredLinks = false,
    junction: postTags = sqlite.postTags,
    links,
  }: Options = {},
): Call {
  const { posts, users, comments, tags, kinds, employees, seats, messages } = sqlite
  const tables = { posts, users, comments, tags, kinds, employees, seats, messages, ...(registeredLinks && { postTags }) }
  const registrations = Object.fromEntries(
    Object.entries(tables).map(([table, schema]) => [
      table,
      {
        schema,
        authorization: auth[table] ?? OPEN,
        hiddenFields: table === 'users' ? ['passwordHash', ...(hidden.users ?? [])] : (hidden[table] ?? []),
        ...(table === 'postTags' && links),
      },
    ]),
  )
  const all = { ...DEFAULT_CONFIG, ...config }
  const resources = resourcesOf(registrations as never, { modules: [{ postTags }], config: all })
  const context = { user: { id: 1 }, permissions: [], resource: name, operation: 'read', event: {}, tenant: { id: 1 }, ...ctx }
  const api = {
    config: all,
    resources,
    rowChecks: new Map(),
    rowFilters: new Map(),
    evaluators: [],
    reservedIds: new Set(),
    hooks: { find: () => [] },
    secrets: () => secret === undefined ? undefined : [secret],
  }
  return { api, ctx: context, resource: resources.get(name)!, engine, memo: new Map() } as unknown as Call
}
function queryOf(text: string): ApiRequest['query'] {
  const query: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(text)) query[name] = name in query ? [query[name]!, value].flat() : value
  return query
}
const where = (clauses: readonly Where[]) =>
  clauses.length === 0
    ? ''
    : render(whereClause(clauses).getSQL())
        .text.replace(/^ where /, '')
        .replaceAll('"', '')
const valuesOf = (clauses: readonly Where[]) => render(whereClause(clauses).getSQL()).values
const namesOf = ({ fields }: { readonly fields: readonly { readonly name: string }[] }) => fields.map(({ name }) => name).join()
const orderOf = (order: readonly { readonly field: { readonly name: string }, readonly descending: boolean }[]) =>
  order.map(({ field, descending }) => `${descending ? '-' : ''}${field.name}`).join()

async function outcome<T>(run: () => T | Promise<T>): Promise<unknown> {
  try {
    return await run()
  }
  catch (thrown) {
    const { message, data } = thrown as { message: string, data?: { code: string, issues?: { path: string[], message: string }[] } }
    if (!data) throw thrown
    return `${data.code}: ${data.issues?.map(({ path, message }) => `${path.join('.')}: ${message}`).join() ?? message}`
  }
}
const list = (text: string, name = 'posts', options: Options = {}) => {
  const call = callOf(name, options)
  return planList(parseList({ query: queryOf(text) }, call), call)
}
const filter = (value: unknown) => `filter=${encodeURIComponent(JSON.stringify(value))}`
const include = (value: unknown) => `include=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`

describe('the order of a list', () => {
  it.each<[query: string, order: string, resource?: string]>([
    ['', 'id'],
    ['sort=title', 'title,id'],
    ['sort=-title', '-title,-id'],
    ['sort=-title,score', '-title,score,id'],
    ['sort=title,title,-title', 'title,id'],
    ['sort=-id,title', '-id,title'],
    ['cursor=&cursorFields=-score', '-score,-id'],
    ['cursor=&sort=title&cursorFields=-score', 'title,-score,-id'],
    ['cursorFields=id', 'id'],
    ['cursorFields=-id', '-id'],
    ['', 'room,number', 'seats'],
    ['sort=-label', '-label,-room,-number', 'seats'],
    ['cursorFields=-id', '-room,-number', 'seats'],
    ['cursorFields=id&sort=label', 'label,room,number', 'seats'],
    ['cursorFields=id', 'code', 'employees'],
    ['cursorFields=-label', '-label,-room,-number', 'seats'],
  ])('%s: %s', async (query, order, resource) => {
    expect(orderOf((await list(query, resource)).order)).toBe(order)
  })

  it.each<[query: string, message: string]>([
    ['sort=titel', 'UNKNOWN_FIELD: '],
    ['sort=passwordHash', 'UNKNOWN_FIELD: '],
    ['cursorFields=nothing', 'UNKNOWN_FIELD: '],
    ['sort=json', 'INVALID_QUERY: `sort`: "json" has no order.'],
    ['cursorFields=blob', 'INVALID_QUERY: `cursorFields`: "blob" has no order.'],
    ['sort=bigint', 'INVALID_QUERY: `sort`: "bigint" has no order.'],
  ])('%s is refused', async (query, message) => {
    expect(await outcome(() => list(query, query.includes('password') ? 'users' : 'kinds'))).toEqual(expect.stringContaining(message))
  })
})

describe('the page of a list', () => {
  it('is an offset, with a total unless the client does not want it', async () => {
    expect(await list('page=3&limit=10')).toMatchObject({
      position: { mode: 'offset', page: 3 },
      limit: 10,
      offset: 20,
      count: true,
      trash: 'active',
    })
    expect(await list('count=none')).toMatchObject({ offset: 0, count: false })
    expect(await list('count=estimated&onlyDeleted=true')).toMatchObject({ count: true, countLimit: 10_000, trash: 'trashed' })
    expect(Object.keys(await list(''))).not.toContain('countLimit')
  })

  it('is a cursor, which needs no total', async () => {
    const first = await list('cursor=')
    expect([first.offset, first.count, 'reached' in first, 'secrets' in first]).toEqual([0, false, false, false])
    const cursor = createCursor(callOf('posts').resource, first.order, [7])
    const next = await list(`cursor=${encodeURIComponent(cursor)}`)
    expect(next.reached).toEqual([7])
    expect(await outcome(() => list('cursor=x'))).toMatch(/^INVALID_CURSOR: /)
    expect(await outcome(() => list(`sort=title&cursor=${encodeURIComponent(cursor)}`))).toMatch(/^INVALID_CURSOR: /)
  })

  it('by a field that the caller cannot read needs a secret, but not by offset', async () => {
    const options = { auth: { posts: { ...OPEN, fields: { id: { read: false } } } as ResourceAuth } }
    expect(await outcome(() => list('cursor=', 'posts', options))).toMatch(/^INVALID_QUERY: This list cannot be read by cursor/)
    expect(await list('cursor=', 'posts', { ...options, secret: 's'.repeat(32) })).toMatchObject({ secrets: ['s'.repeat(32)] })
    // One such field is enough.
    expect(await outcome(() => list('cursor=&sort=title', 'posts', options))).toMatch(/^INVALID_QUERY: This list cannot be read by cursor/)
    const call = callOf('posts', options)
    const withoutSecrets = { ...call, api: { ...call.api, secrets: undefined } } as unknown as Call
    expect(await outcome(() => planList(parseList({ query: { cursor: '' } }, withoutSecrets), withoutSecrets))).toMatch(
      /^INVALID_QUERY: This list cannot be read by cursor/,
    )
    // A cursor that is not encrypted could come from a client that guesses ids.
    const plain = createCursor(call.resource, (await list('', 'posts', options)).order, [7])
    expect(await outcome(() => list(`cursor=${encodeURIComponent(plain)}`, 'posts', { ...options, secret: 's'.repeat(32) }))).toMatch(
      /^INVALID_CURSOR: /,
    )
    expect('secrets' in await list('', 'posts', options)).toBe(false)
    expect('secrets' in await list('cursor=', 'posts', { secret: 's'.repeat(32) })).toBe(false)
    expect(await outcome(() => list('cursor=x', 'posts', { ...options, secret: 's'.repeat(32) }))).toMatch(/^INVALID_CURSOR: /)
  })
})

describe('the fields of a read', () => {
  it('are the named ones in the order of the table, or all readable ones', async () => {
    expect(namesOf((await list('fields=title,id,title')).selection)).toBe('id,title')
    expect(namesOf((await list('', 'users')).selection)).toBe('id,organizationId,email,handle')
    expect(await outcome(() => list('fields=passwordHash', 'users'))).toMatch(/^UNKNOWN_FIELD: /)
    const call = callOf('posts')
    const get = await planGet(parseGet({ query: queryOf('fields=title&includeDeleted=true'), params: { id: '7' } }, call), call)
    expect([namesOf(get.selection), where(get.where), valuesOf(get.where), get.key, get.trash, get.order, get.count]).toEqual([
      'title',
      'posts.id = ?',
      [7],
      [7],
      'both',
      [],
      false,
    ])
    const seats = callOf('seats')
    expect(where((await planGet(parseGet({ query: {}, params: { id: 'a,1' } }, seats), seats)).where)).toBe(
      '(seats.room = ? and seats.room collate binary = ? collate binary) and seats.number = ?',
    )
  })
})

describe('a filter', () => {
  const of = async (value: unknown, name = 'kinds') => where((await list(filter(value), name)).where)
  const brackets = async (text: string) => {
    const { where: clauses } = await list(text, 'kinds')
    return [where(clauses), ...valuesOf(clauses)]
  }

  it.each<[filter: object, sql: string]>([
    [{}, ''],
    [{ integer: 1, number: 2 }, 'kinds.integer = ? and kinds.number = ?'],
    [{ integer: null }, 'kinds.integer is null'],
    [{ integer: { $ne: null } }, 'kinds.integer is not null'],
    [{ integer: { $ne: 1 } }, 'kinds.integer <> ?'],
    [{ integer: { $nin: [1] } }, 'kinds.integer not in (select value from json_each(?))'],
    [{ json: null }, 'kinds.json is null'],
    [{ json: { $null: false } }, 'kinds.json is not null'],
    [{ integer: { $null: true } }, 'kinds.integer is null'],
    [
      { integer: 1, $or: [{ number: 2 }, { number: 3, integer: 4 }] },
      'kinds.integer = ? and ((kinds.number = ?) or (kinds.number = ? and kinds.integer = ?))',
    ],
  ])('%j: %s', async (value, sql) => {
    expect(await of(value)).toBe(sql)
  })

  it.each<[query: string, ...expected: unknown[]]>([
    ['filter[integer]=1', 'kinds.integer = ?', 1],
    ['filter[boolean]=false', 'kinds.boolean = ?', 0],
    ['filter[integer][$null]=true', 'kinds.integer is null'],
    ['filter[integer][$null]=false', 'kinds.integer is not null'],
    ['filter[integer][$in]=1,2,,3', 'kinds.integer in (select value from json_each(?))', '[1,2,3]'],
    ['filter[integer][$in]=1,2&filter[integer][$in]=3', 'kinds.integer in (select value from json_each(?))', '[1,2,3]'],
  ])('%s', async (query, ...expected) => {
    expect(await brackets(query)).toEqual(expected)
  })

  it('keeps empty entries of a list for text', async () => {
    expect((await brackets('filter[text][$in]=a,,b')).slice(1)).toContain('["a","","b"]')
    expect((await brackets('filter[text][$in]=')).slice(1)).toContain('[""]')
    expect((await brackets('filter[integer][$in]='))[0]).toBe('1 = 0')
  })

  it.each<[pattern: string, value: string]>([
    ['a', 'a'],
    ['A%', 'A%'],
    ['a_b', 'a_b'],
    ['a\\%', 'a%'],
    ['a\\_%', 'a\\_%'],
    ['a\\b', 'a\\b'],
    ['a\\b%', 'a\\\\b%'],
    ['a\\', 'a\\'],
    ['a\\\\', 'a\\'],
    ['\\\\%', '\\\\%'],
  ])('finds the pattern %j', async (pattern, value) => {
    const values = valuesOf((await list(filter({ text: { $like: pattern } }), 'kinds')).where).map(String)
    // A pattern without wildcards is searched for as plain text.
    expect(values).toEqual([value])
  })

  it.each<[filter: object, message: string, resource?: string]>([
    [{ nothing: 1 }, 'UNKNOWN_FIELD: '],
    [{ nothing: { a: 1 } }, 'UNKNOWN_FIELD: '],
    [{ passwordHash: 'x' }, 'UNKNOWN_FIELD: ', 'users'],
    [{ integer: { a: 1 } }, 'INVALID_OPERATOR: '],
    [{ integer: { a: { b: 1 } } }, 'INVALID_OPERATOR: '],
    [{ json: 1 }, 'INVALID_OPERATOR: '],
    [{ json: { $ne: null } }, 'INVALID_OPERATOR: '],
    [{ boolean: { $gt: true } }, 'INVALID_OPERATOR: '],
    [{ integer: { $like: '1' } }, 'INVALID_OPERATOR: '],
    [{ integer: 'x' }, 'INVALID_VALUE: '],
    [{ integer: { $gt: null } }, 'INVALID_VALUE: '],
    [{ integer: [1, 'x'] }, 'INVALID_VALUE: '],
    [{ integer: [null] }, 'INVALID_VALUE: '],
    [{ custom: [null] }, 'INVALID_VALUE: '],
    [{ integer: { $in: 1 } }, 'takes a list.'],
    [{ text: { $nin: {} } }, 'takes a list.'],
    [{ integer: { $in: Array.from({ length: 501 }, (_, index) => index) } }, '$in takes at most 500 values.'],
    [{ integer: { $null: 'true' } }, '$null takes true or false.'],
    [{ integer: { $null: 1 } }, '$null takes true or false.'],
    [{ text: { $like: 1 } }, 'takes text.'],
    [{ text: { $like: 'a\0' } }, 'takes text without NUL characters.'],
  ])('%j is refused', async (value, message, resource) => {
    expect(await outcome(() => of(value, resource))).toEqual(expect.stringContaining(message))
  })

  it.each([
    'filter[custom][$gt]=1&filter[custom][$gt]=2',
    'filter[integer][$in][x]=1',
    'filter[integer][$null]=yes',
    'filter[integer][$null]=',
    'filter[integer][$gt]=1&filter[integer][$gt]=2',
    'filter[integer]=x',
  ])('%s is refused', async (query) => {
    expect(await outcome(() => list(query, 'kinds'))).toMatch(/^INVALID_VALUE: /)
  })

  it('can have 500 values', async () => {
    expect(await of({ integer: { $in: Array.from({ length: 500 }, (_, index) => index) } })).toContain('json_each')
  })
})

describe('a text search', () => {
  const search = async (value: unknown) => {
    const { search } = await list(filter(value))
    return search && [search.fields.map(({ name }) => name).join(), search.heavy]
  }
  const like = (pattern: string) => ({ $like: pattern })

  it('has the fields of its patterns, and is heavy above two patterns or 128 characters', async () => {
    expect(await search({ score: 1 })).toBeUndefined()
    expect(await search({ title: like('a'), score: { $gt: 1, $lt: 5 }, id: 1 })).toEqual(['title', false])
    expect(await search({ title: { $like: 'a', $ne: 'x'.repeat(200) } })).toEqual(['title', false])
    expect(await search({ title: like('a'), score: 1 })).toEqual(['title', false])
    expect(await search({ status: like('a'), title: like('b') })).toEqual(['title,status', false])
    expect(await search({ $or: [{ title: like('a') }, { title: like('b') }, { status: like('c') }] })).toEqual(['title,status', true])
    expect([await search({ title: like('x'.repeat(128)) }), await search({ title: like('x'.repeat(129)) })]).toEqual([
      ['title', false],
      ['title', true],
    ])
    expect([
      await search({ title: like('x'.repeat(64)), status: like('x'.repeat(64)) }),
      await search({ title: like('x'.repeat(64)), status: like('x'.repeat(65)) }),
    ]).toEqual([
      ['title,status', false],
      ['title,status', true],
    ])
  })

  it('in related rows has no fields of its own', async () => {
    const { search, relationFilters } = await list(filter({ author: { email: like('a'), handle: like('b') }, $or: [{ title: like('c') }] }))
    expect([search!.fields.map(({ name }) => name), search!.heavy]).toEqual([['title'], true])
    const [related] = relationFilters as unknown as readonly { plan: { search: { fields: { name: string }[], heavy: boolean } } }[]
    expect([related!.plan.search.fields.map(({ name }) => name), related!.plan.search.heavy]).toEqual([['email', 'handle'], true])
  })
})

describe('a relation filter', () => {
  /** `author some (users.email = ?)` */
  const describeFilter = (filter: RelationFilter): unknown =>
    'branches' in filter
      ? { branches: filter.branches.map(({ where: clauses, relationFilters }) => [where(clauses), ...relationFilters.map(describeFilter)]) }
      : [
          filter.relation.name,
          filter.match,
          filter.plan.trash,
          where(filter.plan.where),
          ...(filter.plan.relationFilters ?? []).map(describeFilter),
          ...(filter.through ? [`through ${filter.through.resource.name} ${filter.through.trash}`] : []),
        ]
  const of = async (value: unknown, options?: Options) => {
    const { where: clauses, relationFilters = [] } = await list(filter(value), 'posts', options)
    return [where(clauses), ...relationFilters.map(describeFilter)]
  }

  it.each<[filter: object, expected: unknown[]]>([
    [{ author: { handle: 'a' }, score: 1 }, ['posts.score = ?', ['author', 'some', 'active', 'users.handle = ?']]],
    [{ author: null }, ['', ['author', 'none', 'active', '']]],
    [{ author: { $null: true } }, ['', ['author', 'none', 'active', '']]],
    [{ author: { $null: false } }, ['', ['author', 'some', 'active', '']]],
    [{ author: { $ne: null } }, ['', ['author', 'some', 'active', '']]],
    [{ tags: { name: null } }, ['', ['tags', 'some', 'active', 'tags.name is null', 'through postTags active']]],
    [{ author: { posts: { score: 2 } } }, ['', ['author', 'some', 'active', '', ['posts', 'some', 'active', 'posts.score = ?']]]],
    [
      { author: null, $or: [{ score: 1 }, { author: { id: 1 }, score: 2 }] },
      [
        '',
        ['author', 'none', 'active', ''],
        { branches: [['posts.score = ?'], ['posts.score = ?', ['author', 'some', 'active', 'users.id = ?']]] },
      ],
    ],
    [{ author: null, $or: [{ score: 1 }] }, ['(posts.score = ?)', ['author', 'none', 'active', '']]],
  ])('%j', async (value, expected) => {
    const found = await of(value)
    expect(found.map(part => (typeof part === 'string' ? part.replace(/^\(\((.*)\)\)$/, '($1)') : part))).toEqual(expected)
  })

  it.each<[filter: object, message: string, options?: Options]>([
    [{ author: 1 }, 'INVALID_OPERATOR: '],
    [{ author: { $eq: 1 } }, 'INVALID_OPERATOR: '],
    [{ author: { $gt: null } }, 'INVALID_OPERATOR: '],
    [{ author: [1] }, 'INVALID_OPERATOR: '],
    [{ author: { $null: 'x' } }, '$null takes true or false.'],
    [{ author: { passwordHash: 'x' } }, 'UNKNOWN_FIELD: '],
    [{ author: { posts: { author: { posts: { id: 1 } } } } }, 'LIMIT_EXCEEDED: `filter` goes deeper than 3 relations.'],
    [
      { author: { id: 1 }, comments: { id: 1 } },
      'LIMIT_EXCEEDED: The filters name more than 1 relations.',
      { config: { relations: { maxDepth: 3, maxIncludes: 1, maxRows: 10, maxBytes: 1e6 } } },
    ],
    [
      { author: { id: 1 } },
      'INVALID_QUERY: `filter`: "author" cannot be filtered, because code checks its records.',
      { auth: { users: { ...OPEN, objectLevel: () => true } } },
    ],
    [
      { tags: { name: 'x' } },
      'INVALID_QUERY: `filter`: "tags" cannot be filtered',
      { registeredLinks: true, auth: { postTags: { ...OPEN, objectLevel: () => true } } },
    ],
    [{ author: { id: 1 } }, 'FORBIDDEN: ', { auth: { users: { permissions: { read: false } } } }],
    [{ author: { id: 1 } }, 'UNKNOWN_FIELD: ', { hidden: { posts: ['authorId'] } }],
    [{ author: { email: 'x' } }, 'UNKNOWN_FIELD: ', { hidden: { users: ['id'] } }],
    [{ tags: { name: 'x' } }, 'UNKNOWN_FIELD: ', { registeredLinks: true, hidden: { postTags: ['tagSlug'] } }],
  ])('%j is refused', async (value, message, options) => {
    expect(await outcome(() => of(value, options))).toEqual(expect.stringContaining(message))
  })

  it('can be as deep and as many as the limits', async () => {
    expect(await of({ author: { posts: { author: { id: 1 } } } })).toHaveLength(2)
    expect(
      await of({ author: { id: 1 } }, { config: { relations: { maxDepth: 1, maxIncludes: 1, maxRows: 10, maxBytes: 1e6 } } }),
    ).toHaveLength(2)
  })
})

describe('an include', () => {
  const describeInclude = ({ relation, plan, through, perParent }: IncludePlan): unknown => ({
    [relation.name]: [
      namesOf(plan.selection),
      orderOf(plan.order),
      where(plan.where),
      plan.trash,
      plan.count,
      perParent,
      through && `through ${through.resource.name} ${through.trash}`,
      ...plan.include.map(describeInclude),
    ],
  })
  const of = async (value: unknown, options?: Options) => (await list(include(value), 'posts', options)).include.map(describeInclude)
  const USER = 'id,organizationId,email,handle'

  it('has the fields, the order and the limit of its relation', async () => {
    expect(await of('author')).toEqual([{ author: [USER, '', '', 'active', false, undefined, undefined] }])
    expect(await of('comments[id,body]{limit:5,sort:-body},tags')).toEqual([
      { comments: ['id,body', '-body,-id', '', 'active', false, 5, undefined] },
      { tags: ['slug,name', 'slug', '', 'active', false, 100, 'through postTags active'] },
    ])
    expect(await of('comments{limit:500}')).toEqual([{ comments: expect.arrayContaining([100]) as unknown }])
    expect(await of({ comments: { filter: { id: 1 }, include: { post: { fields: ['title'] } } } })).toEqual([
      {
        comments: [
          'id,post_id,body,deleted_at,deleted_by',
          'id',
          'comments.id = ?',
          'active',
          false,
          100,
          undefined,
          { post: ['title', '', '', 'active', false, undefined, undefined] },
        ],
      },
    ])
    expect(await of('')).toEqual([])
    expect(await of('author[]')).toEqual(await of('author'))
  })

  it('can name as many relations as the limit', async () => {
    const relations = { maxDepth: 3, maxIncludes: 2, maxRows: 10, maxBytes: 1e6 }
    expect(await of('author,comments', { config: { relations } })).toHaveLength(2)
    expect(await outcome(() => of('author,comments,tags', { config: { relations } }))).toMatch(/^LIMIT_EXCEEDED: /)
  })

  it.each<[include: unknown, message: string, options?: Options]>([
    ['nothing', 'UNKNOWN_RELATION: '],
    ['author[passwordHash]', 'UNKNOWN_FIELD: '],
    ['author{limit:1}', 'INVALID_QUERY: `include`: "author" is one record; limit, sort and filter are for lists.'],
    ['author{sort:id}', 'is one record'],
    [{ author: { filter: {} } }, 'is one record'],
    ['comments{sort:nothing}', 'UNKNOWN_FIELD: '],
    ['author.posts.author.posts', 'LIMIT_EXCEEDED: `include` goes deeper than 3 relations.'],
    [
      'author,comments',
      'LIMIT_EXCEEDED: `include` names more than 1 relations.',
      { config: { relations: { maxDepth: 3, maxIncludes: 1, maxRows: 10, maxBytes: 1e6 } } },
    ],
    ['author', 'FORBIDDEN: ', { auth: { users: { permissions: { read: false } } } }],
    ['author.posts.comments', 'FORBIDDEN: ', { auth: { comments: { permissions: { read: false } } } }],
    ['author', 'UNKNOWN_RELATION: ', { hidden: { posts: ['authorId'] } }],
    ['nothing,author', 'UNKNOWN_RELATION: ', { auth: { users: { permissions: { read: false } } } }],
  ])('%j is refused', async (value, message, options) => {
    expect(await outcome(() => of(value, options))).toEqual(expect.stringContaining(message))
  })

  it('of a record is the same', async () => {
    const call = callOf('posts')
    const { include: plans } = await planGet(parseGet({ query: queryOf('include=author'), params: { id: '1' } }, call), call)
    expect(plans.map(describeInclude)).toEqual([{ author: [USER, '', '', 'active', false, undefined, undefined] }])
  })
})

describe('aggregates', () => {
  const groups = (text: string, name = 'kinds', options?: Options) => {
    const call = callOf(name, options)
    return planGroups(parseGroups({ query: queryOf(text) } as ApiRequest, call), call)
  }
  const aggregatesOf = (plan: { readonly aggregates: readonly { alias: string, function: string, field?: { name: string } }[] }) =>
    plan.aggregates.map(({ alias, function: name, field }) => `${alias}=${name}(${field?.name ?? ''})`).join()

  it('of groups have an order without ties, conditions and a page', async () => {
    const plan = await groups(
      `groupBy=text,integer&aggregate=count,sum(number),max(date)&having=${encodeURIComponent('{"count":{"$gt":1},"max_date":{"$lt":"2026-01-01T00:00:00Z"},"sum_number":"1.50"}')}&sort=-sum_number,integer&page=2&limit=7&${filter({ integer: 1 })}&includeDeleted=true`,
    )
    expect([
      plan.groups.groupBy.map(({ name }) => name).join(),
      aggregatesOf(plan.groups),
      where(plan.where),
      plan.page,
      plan.limit,
      plan.trash,
    ]).toEqual(['text,integer', 'count=count(),sum_number=sum(number),max_date=max(date)', 'kinds.integer = ?', 2, 7, 'both'])
    expect(plan.order.map(({ by, descending }) => `${descending ? '-' : ''}${'alias' in by ? by.alias : by.name}`)).toEqual([
      '-sum_number',
      'integer',
      'text',
    ])
    expect(plan.having.map(({ aggregate, operator, value }) => [aggregate.alias, operator, value])).toEqual([
      ['count', '$gt', '1'],
      ['max_date', '$lt', new Date('2026-01-01T00:00:00Z')],
      ['sum_number', '$eq', '1.50'],
    ])
  })

  it('of a column have its values', async () => {
    for (const name of ['min', 'max']) {
      const { having } = await groups(`aggregate=${name}(text)&having=${encodeURIComponent(`{"${name}_text":"a"}`)}`)
      expect(having.map(({ aggregate, value }) => [returnsColumnValue(aggregate), value])).toEqual([[true, 'a']])
    }
    expect(await outcome(() => groups('aggregate=count(text)&having={"count_text":"a"}'))).toMatch(/^INVALID_VALUE: /)
  })

  it('of a list have no groups', async () => {
    const { aggregates } = await list('aggregate=count,avg(score)')
    expect([aggregatesOf(aggregates!), aggregates!.groupBy]).toEqual(['count=count(),avg_score=avg(score)', []])
    expect('aggregates' in await list('')).toBe(false)
  })

  const SUPPORTED: Record<string, string> = {
    sum: 'number,integer,decimal',
    avg: 'number,integer,decimal',
    min: 'text,number,integer,date,decimal',
    max: 'text,number,integer,date,decimal',
    count: 'text,number,integer,boolean,date,bigint,decimal,json,blob,custom',
  }
  it.each(Object.entries(SUPPORTED))('%s is possible over %s', async (name, supported) => {
    const found = []
    for (const field of SUPPORTED.count!.split(','))
      if (typeof await outcome(() => groups(`aggregate=${name}(${field})`)) === 'object') found.push(field)
    expect(found.join()).toBe(supported)
  })

  it.each<[query: string, message: string, options?: Options]>([
    ['aggregate=sum(nothing)', 'UNKNOWN_FIELD: '],
    ['aggregate=sum(text)', 'INVALID_OPERATOR: '],
    ['groupBy=nothing', 'UNKNOWN_FIELD: '],
    ['groupBy=json', 'INVALID_QUERY: `groupBy`: "json" cannot be grouped by.'],
    ['having={"sum_number":1}', 'UNKNOWN_FIELD: '],
    ['having={"count":"x"}', 'INVALID_VALUE: '],
    ['having={"count":""}', 'INVALID_VALUE: '],
    ['aggregate=max(date)&having={"max_date":"x"}', 'INVALID_VALUE: '],
    [`having={"count":"${'1'.repeat(201)}"}`, 'INVALID_VALUE: '],
    ['having={"count":"1e401"}', 'INVALID_VALUE: '],
    ['having={"count":"1E-401"}', 'INVALID_VALUE: '],
    ['sort=nothing', 'UNKNOWN_FIELD: '],
    ['sort=integer', 'UNKNOWN_FIELD: '],
  ])('%s is refused', async (query, message, options) => {
    expect(await outcome(() => groups(query, 'kinds', options))).toEqual(expect.stringContaining(message))
  })

  it('compare numbers as they were sent', async () => {
    for (const value of ['1', '-1.5', `0.${'1'.repeat(198)}`, '1E-400', '1e5', '1E300'])
      expect((await groups(`having=${encodeURIComponent(JSON.stringify({ count: value }))}`)).having[0]!.value).toBe(value)
  })

  it('need the permission to read what their filter reads', async () => {
    expect(
      await outcome(() => groups(filter({ author: { id: 1 } }), 'posts', { auth: { users: { permissions: { read: false } } } })),
    ).toMatch(/^FORBIDDEN: /)
  })
})

describe('links', () => {
  const request = (body: unknown, sent: object = {}) =>
    ({
      method: 'POST',
      query: {},
      params: { id: '1', relation: 'tags' },
      header: () => undefined,
      body: async () => body,
      ...sent,
    }) as unknown as ApiRequest
  const link = (body: unknown, options: Options = {}, sent: object = {}) => outcome(async () => {
    const call = callOf('posts', { ...options, ctx: { operation: 'update', ...options.ctx } })
    return planLink(await parseLink(request(body, sent), call), call)
  })

  it('have the keys of their records and the values of each link', async () => {
    const plan = (await link({ ids: ['a', 'b'], metadata: { position: 1 }, metadataById: { b: { position: 2 } } })) as Awaited<
      ReturnType<typeof planLink>
    >
    const [target] = plan.include
    expect([plan.key, plan.mode, plan.trash, plan.severalRelations, plan.include.length]).toEqual([[1], 'add', 'active', false, 1])
    expect([target!.relation.name, target!.ids, target!.keys, target!.metadata, 'tenantId' in target!]).toEqual([
      'tags',
      ['a', 'b'],
      [['a'], ['b']],
      [{ position: 1 }, { position: 2 }],
      false,
    ])
    expect([
      namesOf(target!.plan.selection),
      target!.plan.trash,
      target!.plan.where,
      target!.plan.order,
      target!.plan.count,
      target!.plan.include,
      target!.through.resource.name,
      target!.through.trash,
    ]).toEqual(['slug', 'active', [], [], false, [], 'postTags', 'active'])
  })

  it.each<[body: object, message: string, options?: Options, sent?: object]>([
    [{ ids: [1] }, 'NOT_FOUND: ', {}, { params: { id: '1', relation: 'nothing' } }],
    [{ ids: [1] }, 'NOT_FOUND: ', {}, { params: { id: '1', relation: 'author' } }],
    [{ ids: [1] }, 'NOT_FOUND: ', {}, { params: { id: '1', relation: 'comments' } }],
    [{ ids: ['a'], metadata: { tagSlug: 'x' } }, 'VALIDATION_FAILED: metadata.tagSlug: The ids of the link set this column.'],
    [{ ids: ['a'], metadataById: { a: { postId: 5 } } }, 'VALIDATION_FAILED: metadata.postId'],
    [{ ids: ['a'], metadata: { position: 'x' } }, 'VALIDATION_FAILED: position: Expected a whole number.'],
    [{ ids: ['a'], metadata: { nothing: 1 } }, 'VALIDATION_FAILED: nothing: Unknown field "nothing".'],
    [{ ids: ['a'], metadata: { nothing: 1 } }, 'VALIDATION_FAILED: metadata.nothing: Unknown field "nothing".', { registeredLinks: true }],
    [{ ids: ['a'] }, 'FORBIDDEN: ', { auth: { tags: { permissions: { read: false } } } }],
    [{ ids: ['a'] }, 'FORBIDDEN: ', { registeredLinks: true, auth: { postTags: { permissions: { read: true, delete: true } } } }],
    [{ ids: ['a'] }, 'FORBIDDEN: ', { registeredLinks: true, auth: { postTags: { permissions: { create: true } } } }, { method: 'DELETE' }],
    [{ ids: ['a'], metadata: { nothing: 1 } }, 'FORBIDDEN: ', { auth: { tags: { permissions: { read: false } } } }],
  ])('%j is refused', async (body, message, options, sent) => {
    expect(await link(body, options, sent)).toEqual(expect.stringContaining(message))
  })

  it('need ids that the key of the record can have', async () => {
    expect(await link({ ids: ['a', 'b\0'] })).toMatch(/^(?:VALIDATION_FAILED|NOT_FOUND|INVALID_VALUE): .*b/)
  })

  it('get the tenant of the request, if their table has tenants', async () => {
    const junction = sqliteTable('post_tags', {
      postId: integer('post_id').notNull().references(() => sqlite.posts.id),
      tagSlug: text('tag_slug').notNull().references(() => sqlite.tags.slug),
      organizationId: integer('organization_id').notNull(),
    }, t => [primaryKey({ columns: [t.postId, t.tagSlug] })])
    expect(await link({ ids: ['a'] }, { junction, config: tenancy(), ctx: { tenant: { id: 7 } } })).toMatchObject({
      include: [{ tenantId: 7 }],
    })
    expect(await link({ ids: ['a'] }, { junction, config: tenancy(), ctx: { tenant: undefined } })).toMatch(/^TENANT_REQUIRED: /)
  })

  it('refer to another field than the key, if the foreign key does', async () => {
    const rated = sqliteTable('post_tags', {
      postId: integer('post_id').notNull().references(() => sqlite.posts.id),
      handle: text('handle').notNull().references(() => sqlite.users.email),
    }, t => [primaryKey({ columns: [t.postId, t.handle] })])
    const plan = (await link({ ids: ['1'] }, { junction: rated }, { params: { id: '1', relation: 'users' } })) as Awaited<
      ReturnType<typeof planLink>
    >
    expect(namesOf(plan.include[0]!.plan.selection)).toBe('id,email')
  })

  it('of a junction that requires tags can be added, but not removed', async () => {
    const options = { registeredLinks: true, links: { requireIfMatch: true } }
    expect(await link({ ids: ['a'], metadata: {} }, options)).toMatchObject({ mode: 'add' })
    for (const method of ['PUT', 'DELETE']) {
      expect(await link({ ids: ['a'] }, options, { method })).toMatch(/^PRECONDITION_REQUIRED: /)
      expect(await link({ ids: ['a'] }, { registeredLinks: true }, { method })).toMatchObject({ include: [{ ids: ['a'] }] })
    }
  })

  it('of a registered junction can have further keys of its schema', async () => {
    const links = { validation: { create: z.object({ position: z.number(), note: z.string() }) } }
    expect(await link({ ids: ['a'], metadata: { note: 'x', position: 1 } }, { registeredLinks: true, links })).toMatchObject({
      include: [{ ids: ['a'] }],
    })
  })

  it('of a registered junction need only the permissions that they use', async () => {
    for (const [method, permissions] of [
      ['POST', { create: true }],
      ['DELETE', { delete: true }],
      ['PUT', { create: true, delete: true }],
    ] as const)
      expect(
        await link({ ids: ['a'], metadata: {} }, { registeredLinks: true, auth: { postTags: { permissions } } }, { method }),
      ).toMatchObject({ include: [{ ids: ['a'] }] })
    expect(await link({ ids: ['a'], metadata: { position: 'not checked here' } }, { registeredLinks: true })).toMatchObject({
      include: [{ metadata: [{ position: 'not checked here' }] }],
    })
  })

  it('are read with the permissions of both sides', async () => {
    const related = (query: string, options: Options = {}, relation = 'tags') => outcome(async () => {
      const call = callOf('posts', options)
      const plan = await planRelated(
        parseRelated(request(undefined, { method: 'GET', params: { id: '1', relation }, query: queryOf(query) }), call),
        call,
      )
      const [{ plan: listPlan, through }] = plan.include
      return [
        plan.key,
        plan.relation.name,
        plan.metadata,
        plan.trash,
        listPlan.resource.name,
        listPlan.ofRecord,
        listPlan.limit,
        through?.resource.name,
      ]
    })
    expect(await related('limit=3')).toEqual([[1], 'tags', false, 'active', 'tags', true, 3, 'postTags'])
    expect(await related('includeMetadata=true')).toEqual([[1], 'tags', true, 'active', 'tags', true, 20, 'postTags'])
    expect(await related('includeMetadata=true', {}, 'comments')).toEqual([
      [1],
      'comments',
      false,
      'active',
      'comments',
      true,
      20,
      undefined,
    ])
    expect(await related('', {}, 'nothing')).toMatch(/^NOT_FOUND: /)
    expect(await related('', { auth: { tags: { permissions: { read: false } } } })).toMatch(/^FORBIDDEN: /)
    const only = (permissions: object) => ({ auth: { tags: { permissions: { read: true, ...permissions } } } })
    expect([
      await related('aggregate=count', only({ aggregate: false })),
      await related('', only({ aggregate: false, viewDeleted: false })),
    ]).toEqual([expect.stringMatching(/^FORBIDDEN/), expect.any(Array)])
    expect([
      await related('onlyDeleted=true', only({ viewDeleted: false })),
      await related('onlyDeleted=true', only({ viewDeleted: true })),
    ]).toEqual([expect.stringMatching(/^FORBIDDEN/), expect.any(Array)])
    const links = { registeredLinks: true, auth: { postTags: { permissions: { create: true } } } }
    expect([await related('includeMetadata=true', links), await related('', links)]).toEqual([
      expect.stringMatching(/^FORBIDDEN/),
      expect.any(Array),
    ])
  })
})

describe('a write', () => {
  const request = (sent: object = {}) =>
    ({
      method: 'PATCH',
      query: {},
      params: { id: '1' },
      header: () => undefined,
      body: async () => ({ title: 'a' }),
      ...sent,
    }) as unknown as ApiRequest
  const scoped = (operation: string, options: Options = {}) =>
    callOf('posts', {
      ...options,
      config: { ...tenancy({ excludedResources: ['kinds', 'tags', 'comments', 'employees', 'seats', 'messages'] }), ...options.config },
      ctx: { operation, ...options.ctx },
    })

  it('selects active rows, rows in the trash, or both', async () => {
    const call = scoped('update')
    const item = { bulk: false, items: [] }
    const plans = [
      await planCreate(item, call),
      await planUpdate(item, call),
      await planRestore(item, call),
      await planPurge(item, call),
      await planDelete(item, call),
      await planDelete(item, scoped('purge')),
    ]
    expect(plans.map(({ kind, trash, atomic }) => `${kind} ${trash} ${atomic}`)).toEqual([
      'create active true',
      'update active true',
      'restore trashed true',
      'purge both true',
      'delete active true',
      'purge both true',
    ])
  })

  it('has a tag if it returns one record', async () => {
    const [create, update, remove] = [
      await planCreate(await parseCreate(request(), scoped('create')), scoped('create')),
      await planUpdate(await parseUpdate(request(), scoped('update')), scoped('update')),
      await planDelete(parseDelete(request(), scoped('delete')), scoped('delete')),
    ]
    expect([create, update, remove].map(plan => [plan.tagged !== undefined, plan.revise !== undefined])).toEqual([
      [true, true],
      [true, true],
      [false, false],
    ])
    const call = scoped('update', { ctx: { dryRun: true } })
    expect((await planUpdate(await parseUpdate(request(), call), call)).tagged).toBeUndefined()
    const untagged = scoped('update', {
      config: { http: { maxBodySize: 1000, maxResponseSize: 1e6, etag: false, strictParameters: false, serverTiming: false } },
    })
    expect((await planUpdate(await parseUpdate(request(), untagged), untagged)).tagged).toBeUndefined()
    expect((await planUpdate({ bulk: true, items: [] }, scoped('update'))).tagged).toBeUndefined()
  })

  it('is atomic in a batch unless the app turns it off, which it cannot for restores and purges', async () => {
    const batch = await parseBulkDelete(request({ body: async () => ({ ids: [1] }), method: 'DELETE' }), scoped('delete'))
    const loose = { config: { bulk: { enabled: true, maxBatchSize: 100, transactional: false } } }
    expect((await planDelete(batch, scoped('delete'))).atomic).toBe(true)
    expect(
      [
        await planDelete(batch, scoped('delete', loose)),
        await planRestore(batch, scoped('restore', loose)),
        await planPurge(batch, scoped('purge', loose)),
        await planUpdate({ bulk: false, items: [] }, scoped('update', loose)),
      ].map(({ atomic }) => atomic),
    ).toEqual([false, true, true, true])
  })

  it('of a new row has the tenant of the request', async () => {
    expect(await planCreate({ bulk: false, items: [] }, scoped('create'))).toMatchObject({ tenantId: 1 })
    expect((await planUpdate({ bulk: false, items: [] }, scoped('update'))).tenantId).toBeUndefined()
    expect((await planCreate({ bulk: false, items: [] }, callOf('posts', { ctx: { operation: 'create' } }))).tenantId).toBeUndefined()
    expect(
      await outcome(() =>
        planCreate({ bulk: false, items: [] }, scoped('create', { ctx: { tenant: { id: null, canAccessAllTenants: true } } })),
      ),
    ).toMatch(/^TENANT_REQUIRED: /)
  })
})
