/** Row filters of plugins: they narrow every read and write, they combine with all other rules, and mistakes never show rows. */
import Database from 'better-sqlite3'
import { eq, gt, inArray, sql, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { alias, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiContext, AutoApiPlugin } from '../../../../src/runtime/server/define'
import type { ResourceAuth } from '../../../../src/runtime/server/registration'
import { createServer, type TestServer } from '../../../support/server'

const authors = sqliteTable('authors', { id: integer('id').primaryKey(), name: text('name').notNull() })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  authorId: integer('author_id').references(() => authors.id),
  parentId: integer('parent_id'),
  size: integer('size').notNull(),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
const postTags = sqliteTable('post_tags', {
  postId: integer('post_id').notNull().references(() => posts.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
}, table => [primaryKey({ columns: [table.postId, table.tagId] })])

const schema = { authors, posts, tags, postTags }
const OPEN = { read: true, create: true, update: true, delete: true } as const

let client: Database.Database
afterEach(() => {
  client?.close()
  vi.restoreAllMocks()
})

type Rows = NonNullable<AutoApiPlugin['rows']>

async function open(plugins: readonly AutoApiPlugin[], auth: ResourceAuth = {}): Promise<TestServer> {
  client = new Database(':memory:')
  client.exec(`
    create table authors (id integer primary key, name text not null);
    create table posts (id integer primary key, author_id integer references authors, parent_id integer, size integer not null, deleted_at integer);
    create table tags (id integer primary key, name text not null);
    create table post_tags (post_id integer not null references posts, tag_id integer not null references tags, primary key (post_id, tag_id));
    insert into authors values (1, 'Ann'), (2, 'Ben');
    insert into posts values (1, 1, null, 10, null), (2, 1, null, 20, null), (3, 2, null, 30, null), (4, 2, null, 40, 5);
    insert into tags values (1, 'a'), (2, 'b');
    insert into post_tags values (1, 1), (2, 1), (3, 1), (3, 2);
  `)
  return createServer({
    db: drizzle({ client }),
    modules: [schema],
    registrations: [
      { name: 'authors', schema: authors, authorization: { permissions: OPEN } },
      { name: 'posts', schema: posts, authorization: { permissions: { ...OPEN, viewDeleted: true }, ...auth } },
      { name: 'tags', schema: tags, authorization: { permissions: OPEN } },
    ],
    plugins,
  })
}

const narrowing = (rows: Rows, name = 'narrow'): AutoApiPlugin => ({ name, rows })
/** Shows only the author Ann and the posts below 25. */
const SMALL: Rows = {
  authors: (table: typeof authors) => eq(table.name, 'Ann'),
  posts: (table: typeof posts) => sql`${table.size} < 25 or 1 = 0`,
}

const ids = (body: { data: { id: number }[] }) => body.data.map(({ id }) => id)
const get = async (server: TestServer, path: string) => (await server.request('GET', `/api/${path}`)).body

describe('the rows of a plugin', () => {
  it('narrow lists, counts, aggregates, includes and related records, on both sides', async () => {
    const server = await open([narrowing(SMALL)])
    const list = await get(server, 'posts?include=author,tags&sort=id')
    expect([ids(list), list.meta.total]).toEqual([[1, 2], 2])
    expect((await get(server, 'posts/aggregate?aggregate=count,sum(size)')).data[0]).toMatchObject({ count: 2 })
    expect((await get(server, 'posts?groupBy=authorId&aggregate=count')).data).toHaveLength(1)
    const [tag] = (await get(server, 'tags?include=posts&sort=id')).data
    expect(tag.posts.map(({ id }: { id: number }) => id).toSorted()).toEqual([1, 2])
    expect(ids(await get(server, 'tags/1/relations/posts')).toSorted()).toEqual([1, 2])
    expect((await get(server, 'tags/2/relations/posts')).data).toEqual([])
    expect((await server.request('GET', '/api/posts/3/relations/tags')).status).toBe(404)
    const [ann] = (await get(server, 'authors?include=posts')).data
    expect(ann.posts.map(({ id }: { id: number }) => id).toSorted()).toEqual([1, 2])
  })

  it('show no author of a post that they hide', async () => {
    const server = await open([narrowing({ authors: SMALL.authors! })])
    const { data } = await get(server, 'posts?include=author&sort=id')
    expect(data.map(({ author }: { author: object | null }) => author !== null)).toEqual([true, true, false])
  })

  it('narrow writes, foreign keys and links', async () => {
    const server = await open([narrowing(SMALL)])
    const told = async (method: string, path: string, body?: unknown) => {
      const { status, body: answer } = await server.request(method, `/api/${path}`, { body })
      return status < 300 ? status : `${status} ${answer.data.code}`
    }
    const before = client.prepare('select * from posts').all()
    expect(await told('PATCH', 'posts/3', { size: 1 })).toBe('404 NOT_FOUND')
    expect(await told('DELETE', 'posts/3')).toBe('404 NOT_FOUND')
    expect(await told('DELETE', 'posts/bulk', { ids: [1, 3] })).toBe('404 BULK_FAILED')
    expect(await told('PATCH', 'posts/1', { authorId: 2 })).toBe('400 INVALID_REFERENCE')
    expect(await told('POST', 'posts', { size: 1, authorId: 2 })).toBe('400 INVALID_REFERENCE')
    expect(await told('POST', 'tags/2/relations/posts', { ids: [3] })).toBe('404 NOT_FOUND')
    expect(client.prepare('select * from posts').all()).toEqual(before)
    expect(await told('PATCH', 'posts/1', { authorId: 1, size: 11 })).toBe(200)
    // The caller cannot see the link to post 3, so it stays.
    expect(await told('PUT', 'tags/1/relations/posts', { ids: [] })).toBe(200)
    expect(client.prepare('select post_id from post_tags where tag_id = 1').pluck().all()).toEqual([3])
  })

  it('are part of rowScope and findAuthorizedRow, for an alias too', async () => {
    const small = alias(posts, 'small')
    const read = async (ctx: AutoApiContext) => {
      const { findAuthorizedRow, rowScope } = await import('../../../../src/runtime/server/utils/index')
      const db = drizzle({ client })
      const [own, other] = [await rowScope(ctx, 'posts', posts), await rowScope(ctx, 'posts', small)]
      const found = await findAuthorizedRow(ctx, 'posts', 3).then(() => 'found', () => 'not found')
      return [db.select({ id: posts.id }).from(posts).where(own).all(), db.select({ id: small.id }).from(small).where(other).all(), found]
    }
    const server = await open([narrowing(SMALL), { name: 'query', routes: [{ method: 'GET', path: '/query', handler: read }] }])
    expect(await get(server, 'query')).toEqual([[{ id: 1 }, { id: 2 }], [{ id: 1 }, { id: 2 }], 'not found'])
  })

  it('receive the operation and the caller, and are asked for every registered resource by `*`', async () => {
    const asked: string[] = []
    const server = await open([
      narrowing({ '*': (_table, ctx) => void asked.push(`${ctx.resource} ${ctx.operation} ${String(ctx.user?.id)}`) as undefined }),
    ])
    await server.request('PATCH', '/api/posts/1', { body: { size: 1 }, caller: { user: { id: 7 } } })
    await server.request('GET', '/api/posts?include=tags,author', { caller: { user: { id: 8 } } })
    expect([...new Set(asked)].toSorted()).toEqual(['authors read 8', 'posts read 8', 'posts update 7', 'tags read 8'])
  })

  it('do not apply to a foreign key with `reference: tenant`, nor to the task that empties the trash', async () => {
    const server = await open([narrowing({ ...SMALL, posts: () => sql`1 = 0` })], {
      fields: { authorId: { reference: 'tenant' } } as never,
      softDelete: { retentionDays: 1 },
    })
    expect((await server.request('POST', '/api/posts', { body: { size: 1, authorId: 2 } })).status).toBe(201)
    const { purgeExpiredTrash } = await import('../../../../src/runtime/server/utils/trash')
    expect(await purgeExpiredTrash(new Date())).toEqual({ posts: 1 })
  })

  it('only narrow: a list has the rows that every plugin and `listFilter` accept, whether they return promises or not', async () => {
    const ALL = [1, 2, 3]
    let accepted: readonly (readonly number[] | undefined)[] = []
    let promised: readonly boolean[] = []
    /** As a raw `or`, which must not leave its parentheses. */
    const accepts = (table: typeof posts, list: readonly number[] | undefined): SQL | undefined =>
      list && (list.length > 0 ? sql`${inArray(table.id, [...list])} or ${gt(table.id, 100)}` : sql`1 = 0 or 0 = 1`)
    const filter = (index: number) => (table: unknown) => {
      const condition = accepts(table as typeof posts, accepted[index])
      return promised[index] ? Promise.resolve(condition) : condition
    }
    const server = await open([
      narrowing({ 'posts': filter(0), '*': () => undefined }, 'one'),
      narrowing({ posts: filter(1) }, 'two'),
    ], { listFilter: filter(2) })
    const subset = fc.option(fc.subarray(ALL), { nil: undefined })
    await fc.assert(
      fc.asyncProperty(fc.tuple(subset, subset, subset), fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()), async (lists, kinds) => {
        accepted = lists
        promised = kinds
        const expected = ALL.filter(id => lists.every(list => list === undefined || list.includes(id)))
        const list = await get(server, 'posts?sort=id')
        expect([ids(list), list.meta.total]).toEqual([expected, expected.length])
        for (const id of ALL) expect((await server.request('GET', `/api/posts/${id}`)).status).toBe(expected.includes(id) ? 200 : 404)
      }),
      { numRuns: 100 },
    )
  })
})

describe('a mistake in the rows of a plugin', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['false', false],
    ['true', true],
    ['text', '1 = 1'],
    ['a column', posts.id],
    ['an object', {}],
  ])('is a 500 that is logged, and shows no row: it returns %s', async (_what, returned) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open([narrowing({ posts: (() => returned) as never })])
    const { status, text } = await server.request('GET', '/api/posts')
    expect([status, text.includes('size')]).toEqual([500, false])
    expect(log.mock.calls.flat().join()).toContain(
      '`rows` of the plugin `narrow` for `posts` returned something that is neither SQL nor undefined',
    )
    expect((await server.request('GET', '/api/tags?include=posts')).status).toBe(500)
    expect((await server.request('DELETE', '/api/posts/1')).status).toBe(500)
    expect(client.prepare('select count(*) from posts where deleted_at is null').pluck().get()).toBe(3)
  })

  it('is a 500 when it throws', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open([narrowing({ posts: () => {
      throw new Error('no connection')
    } })])
    expect((await server.request('GET', '/api/posts')).status).toBe(500)
  })

  it.each<[string, unknown, RegExp]>([
    [
      'a resource that is not registered',
      { post: () => undefined },
      /`rows` for `post`, which is not a registered resource\. Did you mean `posts`\?/,
    ],
    ['a condition instead of a function', { posts: sql`1 = 1` }, /`rows` of the plugin `narrow`: `posts` is not a function/],
    ['no object', [], /`rows` of the plugin "narrow" is not an object of functions by resource/],
  ])('fails the start: %s', async (_what, rows, message) => {
    await expect(open([narrowing(rows as never)])).rejects.toThrow(message)
  })
})
