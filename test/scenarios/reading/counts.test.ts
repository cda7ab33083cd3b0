/** Relation counts: `counts=comments,tags` adds the numbers of related records that the caller can read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import { createResources } from '../../../src/runtime/server/schema/resource'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { CALLER, openCounts, type CountServer } from './counts-server'

let server: CountServer

beforeAll(async () => {
  server = await openCounts()
})
afterAll(() => server.client.close())

const encode = (query: Record<string, unknown>) => String(new URLSearchParams(
  Object.entries(query).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])))

async function ask(path: string, query: Record<string, unknown> = {}, permissions: string[] = [], on = server) {
  on.sent.length = 0
  return on.request('GET', `/api/${path}?${encode(query)}`, { caller: { ...CALLER, permissions } })
}

interface Counted { id: number, _count?: Record<string, number> }

const countsOf = (records: Counted[]) => Object.fromEntries(records.map(({ id, _count }) => [id, _count]))

describe('the counts of a list', () => {
  it('have the number of records of each relation that the caller can read', async () => {
    const { body } = await ask('posts', { counts: 'comments,tags,users' })
    expect(countsOf(body.data)).toEqual({
      1: { comments: 2, tags: 2, users: 2 },
      2: { comments: 1, tags: 1, users: 1 },
      3: { comments: 0, tags: 0, users: 0 },
      6: { comments: 0, tags: 0, users: 0 },
    })
  })

  it.each(['comments', 'tags', 'users', 'reviews'])('equal the totals of the lists of %s', async (relation) => {
    const { body } = await ask('posts', { counts: relation }, ['spam'])
    for (const { id, _count } of body.data as Counted[]) {
      const list = await ask(`posts/${id}/relations/${relation}`, {}, ['spam'])
      expect([id, relation, _count]).toEqual([id, relation, { [relation]: list.body.meta.total }])
    }
  })

  it('depend on the rows that the caller can read', async () => {
    expect(countsOf((await ask('posts', { counts: 'comments' }, ['spam'])).body.data)[1]).toEqual({ comments: 3 })
  })

  it('do not need fields of the response, and add none', async () => {
    const { body } = await ask('posts', { counts: 'tags', fields: 'title', filter: { id: 1 } })
    expect(body.data).toEqual([{ title: 'a', _count: { tags: 2 } }])
  })

  it('are absent without the parameter, and with an empty one', async () => {
    for (const query of [{}, { counts: '' }]) expect((await ask('posts/1', query)).body).not.toHaveProperty('_count')
  })

  it('name each relation once', async () => {
    expect((await ask('posts/1', { counts: 'tags,tags, tags' })).body._count).toEqual({ tags: 2 })
  })

  it('are in pages by cursor and by number, and count for all records of the page in one statement', async () => {
    const first = await ask('posts', { counts: 'comments,tags', cursor: '', limit: 1, sort: '-title' })
    expect(server.sent).toHaveLength(2)
    const second = await ask('posts', { counts: 'comments,tags', cursor: first.body.meta.nextCursor, limit: 3, sort: '-title' })
    expect(server.sent).toHaveLength(2)
    const pages = [...first.body.data, ...second.body.data] as Counted[]
    expect(pages.map(({ id, _count }) => [id, _count!.comments, _count!.tags])).toEqual([[6, 0, 0], [3, 0, 0], [2, 1, 1], [1, 2, 2]])
    const numbered = await ask('posts', { counts: 'comments,tags', page: 2, limit: 2, sort: '-title', count: 'none' })
    expect(server.sent).toHaveLength(2)
    expect(numbered.body.data).toEqual(pages.slice(2))
  })

  it('run no statement for a page without records', async () => {
    expect((await ask('posts', { counts: 'comments', filter: { id: 99 }, count: 'none' })).body.data).toEqual([])
    expect(server.sent).toHaveLength(1)
  })

  it('count rows of the same table', async () => {
    expect(countsOf((await ask('users', { counts: 'users,posts' })).body.data)).toEqual({
      1: { users: 2, posts: 1 }, 2: { users: 1, posts: 1 }, 3: { users: 0, posts: 0 }, 4: { users: 0, posts: 1 },
    })
  })

  it('count active rows only, for records in the trash too', async () => {
    const { body } = await ask('posts', { counts: 'comments', onlyDeleted: 'true' })
    expect(countsOf(body.data)).toEqual({ 4: { comments: 1 } })
  })

  it('work with aggregates, filters and rules in code', async () => {
    const { body } = await ask('posts', { counts: 'comments', aggregate: 'count', filter: { comments: { status: 'open' } }, sort: '-id' })
    expect([countsOf(body.data), body.meta.aggregates]).toEqual([{ 1: { comments: 2 }, 2: { comments: 1 } }, { count: 2 }])
  })
})

describe('the counts of records that code checks', () => {
  it('are read for the accepted records of the page', async () => {
    const { body } = await ask('vaults', { counts: 'coins', fields: 'id' })
    expect(body.data).toEqual([{ id: 1, _count: { coins: 2 } }])
    expect(server.sent.filter(statement => statement.includes('coins'))).toHaveLength(1)
    expect((await ask('vaults/2', { counts: 'coins' })).status).toBe(404)
  })

  it('are in their includes', async () => {
    const { body } = await ask('vaults', { include: { post: { counts: ['tags'], fields: ['id'] } }, fields: 'id' })
    expect(body.data).toEqual([{ id: 1, post: { id: 1, _count: { tags: 2 } } }])
    const backwards = await ask('coins', { include: { vault: { counts: ['coins'] } }, fields: 'id' })
    const two = { _count: { coins: 2 } }
    expect(backwards.body.data.map(({ vault }: { vault: object }) => vault)).toMatchObject([two, two, null])
  })
})

describe('the counts of one record', () => {
  it('are part of its entity tag, and not of its revision', async () => {
    const own = await openCounts()
    const get = () => ask('posts/1', { counts: 'comments' }, [], own)
    const plain = await ask('posts/1', {}, [], own)
    const first = await get()
    own.client.exec('update comments set status = \'spam\' where id = 1')
    const second = await get()
    expect([first.body._count, second.body._count]).toEqual([{ comments: 2 }, { comments: 1 }])
    const [revision, ...tags] = [plain, first, second].map(({ headers }) => headers.get('etag')!.slice(1, -1))
    expect(new Set([revision, ...tags]).size).toBe(3)
    expect(tags.map(tag => tag.split('.')[0])).toEqual([revision, revision])
    own.client.close()
  })

  it('are in the list of a relation', async () => {
    const { body } = await ask('users/1/relations/postsByAuthor', { counts: 'tags' })
    expect(countsOf(body.data)).toEqual({ 1: { tags: 2 }, 2: { tags: 1 } })
  })
})

describe('the counts of included records', () => {
  it('are in a to-one include, for each of its parents', async () => {
    const include = { post: { counts: ['comments', 'tags'], fields: ['id'] } }
    const { body } = await ask('comments', { include, fields: 'id', count: 'none' })
    expect(body.data).toEqual([
      { id: 1, post: { id: 1, _count: { comments: 2, tags: 2 } } },
      { id: 2, post: { id: 1, _count: { comments: 2, tags: 2 } } },
      { id: 6, post: { id: 2, _count: { comments: 1, tags: 1 } } },
      { id: 7, post: null },
    ])
    expect(server.sent).toHaveLength(3)
  })

  it('are in to-many includes of several levels, as text and as JSON', async () => {
    const json = await ask('users', {
      fields: 'id', filter: { id: 1 },
      include: { postsByAuthor: { fields: ['id'], counts: 'comments,tags', include: { tags: { fields: ['id'], counts: ['posts'] } } } },
    })
    expect(json.body.data[0].postsByAuthor).toEqual([
      { id: 1, _count: { comments: 2, tags: 2 }, tags: [{ id: 1, _count: { posts: 2 } }, { id: 2, _count: { posts: 1 } }] },
      { id: 2, _count: { comments: 1, tags: 1 }, tags: [{ id: 1, _count: { posts: 2 } }] },
    ])
    const text = await ask('users', {
      fields: 'id', filter: { id: 1 }, include: 'postsByAuthor[id]{counts:comments,counts:tags}.tags[id]{counts:posts}',
    })
    expect(text.body).toEqual(json.body)
  })

  it('count for the included records only, and not for those beyond the limit per parent', async () => {
    const include = { postsByAuthor: { limit: 1, sort: '-id', fields: ['id'], counts: ['tags'] } }
    const { body } = await ask('users', { fields: 'id', include })
    expect(body.data[0].postsByAuthor).toEqual([{ id: 2, _count: { tags: 1 } }])
  })

  it('count toward the bytes that includes can have', async () => {
    const own = await openCounts({ relations: { ...DEFAULT_CONFIG.relations, maxBytes: 150 } })
    const include = (counts: string[]) => ({ include: { postsByAuthor: { fields: ['id'], counts } }, fields: 'id', filter: { id: 1 } })
    expect((await ask('users', include(['tags']), [], own)).status).toBe(200)
    const { status, body } = await ask('users', include(['tags', 'comments', 'reviews']), [], own)
    expect([status, body.data.code]).toEqual([400, 'LIMIT_EXCEEDED'])
    own.client.close()
  })
})

describe('a count that a request cannot have', () => {
  const refusal = async (query: Record<string, unknown>, permissions?: string[], path = 'posts') => {
    const { status, body } = await ask(path, query, permissions)
    expect(server.sent).toEqual([])
    return [status, body.data.code, body.message]
  }

  it('is of an unknown relation, with a suggestion of one that can be counted', async () => {
    expect(await refusal({ counts: 'coments' })).toEqual([
      400, 'UNKNOWN_RELATION', '`counts` names an unknown relation: "coments". Did you mean `comments`?',
    ])
    expect((await refusal({ counts: 'autor' }))[2]).toBe('`counts` names an unknown relation: "autor".')
    expect(await refusal({ include: { post: { counts: ['tag'] } } }, [], 'comments')).toEqual([
      400, 'UNKNOWN_RELATION', '`include.counts` names an unknown relation: "tag". Did you mean `tags`?',
    ])
  })

  it('is of a relation over a key that the caller cannot read, which does not exist for this caller', async () => {
    for (const relation of ['postsByEditor', 'postsByGhost'])
      expect((await refusal({ counts: relation }, [], 'users'))[1]).toBe('UNKNOWN_RELATION')
    expect((await ask('users', { counts: 'postsByEditor' }, ['editors'])).status).toBe(200)
  })

  it('is of a relation to one record', async () => {
    expect(await refusal({ counts: 'author' })).toEqual([400, 'INVALID_QUERY', '`counts`: "author" is one record; counts are for lists.'])
  })

  it('is of records that code checks', async () => {
    expect(await refusal({ counts: 'vaults' })).toEqual([
      400, 'INVALID_QUERY', '`counts`: "vaults" cannot be counted, because code checks its records.',
    ])
  })

  it('is of records that the caller has no permission to read, which is said after every 400', async () => {
    expect((await refusal({ counts: 'secrets' }))[0]).toBe(403)
    expect((await refusal({ counts: 'secrets,nobody' }))[0]).toBe(400)
    expect((await refusal({ counts: 'secrets', include: 'nobody' }))[0]).toBe(400)
    expect((await ask('posts', { counts: 'secrets' }, ['secrets'])).status).toBe(200)
  })

  it('is one of more relations than a request can name in includes and counts', async () => {
    const own = await openCounts({ relations: { ...DEFAULT_CONFIG.relations, maxIncludes: 2 } })
    expect((await ask('posts', { counts: 'comments', include: 'tags' }, [], own)).status).toBe(200)
    const refused = [
      { counts: 'comments,tags,users' },
      { counts: 'comments,tags', include: 'author' },
      { include: { tags: { counts: ['posts'] } }, counts: 'comments' },
    ]
    for (const query of refused) {
      const { status, body } = await ask('posts', query, [], own)
      expect([status, body.data.code]).toEqual([400, 'LIMIT_EXCEEDED'])
    }
    own.client.close()
  })

  const ODD = [{ counts: 1 }, { counts: [1] }, { counts: { comments: true } }, { counts: null }]
  it.each(ODD)('is written as %j in an include', async (options) => {
    expect((await refusal({ include: { post: options } }, [], 'comments')).slice(0, 2)).toEqual([400, 'INVALID_QUERY'])
  })
})

describe('rows that the caller cannot read', () => {
  const OTHERS = `
    insert into comments values (100, 2, 1, 'open', null), (101, 1, 1, 'spam', null), (102, 1, 1, 'open', 1);
    insert into tags values (100, 'hidden'); insert into post_tags values (1, 100), (2, 3), (4, 1), (1, 98);
    insert into reviews values (100, 1, 4, 'void'); insert into posts values (100, 2, 1, 1, 1, 'z', null), (101, 1, 1, 1, 1, 'z', 5);
    insert into post_tags values (100, 1), (101, 1);
  `

  it('change no byte of a response with counts', async () => {
    const [one, other] = [await openCounts(), await openCounts()]
    other.client.exec(OTHERS)
    const requests: [string, Record<string, unknown>][] = [
      ['posts', { counts: 'comments,tags,users,reviews' }],
      ['posts/1', { counts: 'comments,tags,users' }],
      ['users', { counts: 'postsByAuthor,posts' }],
      ['tags', { counts: 'posts' }],
      ['users', { include: { postsByAuthor: { counts: ['comments', 'tags'] } } }],
      ['comments', { include: 'post{counts:comments,counts:users}' }],
    ]
    for (const [path, query] of requests) {
      const [first, second] = [await ask(path, query, [], one), await ask(path, query, [], other)]
      expect([path, first.status, second.text]).toEqual([path, 200, first.text])
      expect(second.headers.get('etag')).toBe(first.headers.get('etag'))
    }
    one.client.close()
    other.client.close()
  })
})

describe('the name _count', () => {
  const counted = sqliteTable('counted', { id: integer('id').primaryKey(), _count: integer('n') })
  const parents = sqliteTable('parents', { id: integer('id').primaryKey() })
  const children = sqliteTable('children', { id: integer('id').primaryKey(), _countId: integer('parent_id').references(() => parents.id) })

  it('fails the start of an API with such a field', () => {
    expect(() => createResources([{ name: 'counted', schema: counted }], [], DEFAULT_CONFIG)).toThrow(
      '[auto-api] `counted`: the column `_count` has the name under which a response contains relation counts.',
    )
  })

  it('fails the start of an API with such a relation', () => {
    expect(() => createResources([{ name: 'parents', schema: parents }, { name: 'children', schema: children }], [], DEFAULT_CONFIG)).toThrow(
      '[auto-api] `children`: the relation `_count` has the name under which a response contains relation counts.',
    )
  })
})
