/** onCommit of plugins: every changed row of a commit, once, cascades and links included, and only after the commit. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineAutoApiPlugin, type Change } from '../../../../src/runtime/server/define'
import { createServer, type TestServer } from '../../../support/server'

const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull().unique(), ...trash() })
const comments = sqliteTable('comments', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').references(() => posts.id),
  parentId: integer('parent_id').references((): AnySQLiteColumn => comments.id),
  ...trash(),
})
/** A table of the app that is not registered. */
const notes = sqliteTable(
  'notes',
  {
    commentId: integer('comment_id')
      .notNull()
      .references(() => comments.id),
    place: integer('place').notNull(),
    ...trash(),
  },
  table => [primaryKey({ columns: [table.commentId, table.place] })],
)
const tags = sqliteTable('tags', { id: integer('id').primaryKey() })
const postTags = sqliteTable(
  'post_tags',
  {
    postId: integer('post_id')
      .notNull()
      .references(() => posts.id),
    tagId: integer('tag_id')
      .notNull()
      .references(() => tags.id),
  },
  table => [primaryKey({ columns: [table.postId, table.tagId] })],
)

const OPEN = { permissions: { read: true, create: true, update: true, delete: true } } as const

let client: Database.Database
let commits: (readonly Change[])[]
let statements: number
afterEach(() => {
  client.close()
  vi.restoreAllMocks()
})

async function open({
  heard = true,
  transactional = true,
  listen,
}: { heard?: boolean, transactional?: boolean, listen?: (user: unknown) => void } = {}): Promise<TestServer> {
  client = new Database(':memory:')
  client.exec(`
    create table posts (id integer primary key, title text not null unique, deleted_at integer, deletion_id text);
    create table comments (id integer primary key, post_id integer references posts(id), parent_id integer references comments(id), deleted_at integer, deletion_id text);
    create table notes (comment_id integer not null references comments(id), place integer not null, deleted_at integer, deletion_id text, primary key (comment_id, place));
    create table tags (id integer primary key);
    create table post_tags (post_id integer not null references posts(id), tag_id integer not null references tags(id), primary key (post_id, tag_id));
    insert into posts (id, title) values (1, 'one'), (2, 'two');
    insert into comments (id, post_id, parent_id) values (11, 1, null), (12, null, 11), (21, 2, null);
    insert into notes (comment_id, place) values (12, 1);
    insert into tags values (1), (2), (3);
    insert into post_tags values (1, 1);
  `)
  commits = []
  statements = 0
  const plugin = defineAutoApiPlugin({
    name: 'listener',
    onCommit: (changes, ctx) => {
      commits.push(changes)
      listen?.(ctx.user?.id)
    },
  })
  return createServer({
    db: drizzle({ client, logger: { logQuery: () => statements++ } }),
    modules: [{ notes, postTags }],
    registrations: [
      { name: 'posts', schema: posts, authorization: OPEN },
      { name: 'comments', schema: comments, authorization: OPEN },
      { name: 'tags', schema: tags, authorization: OPEN },
    ],
    config: { bulk: { enabled: true, maxBatchSize: 100, transactional } },
    plugins: heard ? [plugin] : [],
  })
}

/** `kind resource-or-table id`, with a star for cascaded rows. */
const told = () =>
  commits.map(changes =>
    changes.map(({ kind, resource, table, id, cascaded }) => `${kind} ${resource ?? `(${table})`} ${id}${cascaded ? ' *' : ''}`).sort(),
  )

const ask = async (server: TestServer, method: string, path: string, body?: unknown) =>
  (await server.request(method, `/api/${path}`, { body })).status

describe('a listener gets', () => {
  it.each<[string, [string, string, unknown?][], string[][]]>([
    ['what was made', [['POST', 'posts', { title: 'new' }]], [['create posts 3']]],
    [
      'what was made together, at once',
      [['POST', 'posts/bulk', { items: [{ title: 'a' }, { title: 'b' }] }]],
      [['create posts 3', 'create posts 4']],
    ],
    ['what was changed', [['PATCH', 'posts/1', { title: 'other' }]], [['update posts 1']]],
    ['nothing of an update that changes nothing', [['PATCH', 'posts/1', {}]], []],
    ['nothing of a read', [['GET', 'posts']], []],
    [
      'what a delete took along, tables that are no resource included',
      [['DELETE', 'posts/1']],
      [['delete (notes) 12,1 *', 'delete comments 11 *', 'delete comments 12 *', 'delete posts 1']],
    ],
    [
      'what came back',
      [
        ['DELETE', 'posts/1'],
        ['POST', 'posts/1/restore'],
      ],
      [expect.anything() as never, ['restore (notes) 12,1 *', 'restore comments 11 *', 'restore comments 12 *', 'restore posts 1']],
    ],
    [
      'what is gone for good',
      [['DELETE', 'comments/11?force=true']],
      [['purge (notes) 12,1 *', 'purge comments 11', 'purge comments 12 *']],
    ],
    ['what was linked', [['POST', 'posts/1/relations/tags', { ids: [1, 2] }]], [['link (post_tags) 1,2']]],
    ['what was unlinked', [['DELETE', 'posts/1/relations/tags', { ids: [1, 3] }]], [['unlink (post_tags) 1,1']]],
    [
      'what a replacement changed',
      [['PUT', 'posts/1/relations/tags', { ids: [2, 3] }]],
      [['link (post_tags) 1,2', 'link (post_tags) 1,3', 'unlink (post_tags) 1,1']],
    ],
  ])('%s', async (_what, requests, expected) => {
    const server = await open()
    for (const [method, path, body] of requests) expect(await ask(server, method, path, body)).toBeLessThan(300)
    expect(told()).toEqual(expected)
  })

  it('the context of the caller', async () => {
    const listen = vi.fn()
    const server = await open({ listen })
    await server.request('PATCH', '/api/posts/1', { body: { title: 'x' }, caller: { user: { id: 7 } } })
    expect(listen).toHaveBeenCalledExactlyOnceWith(7)
  })

  it.each([
    ['is refused', 'PATCH', 'posts/9', { title: 'x' }],
    ['the database refuses', 'POST', 'posts', { title: 'one' }],
    ['fails in one item of many', 'POST', 'posts/bulk', { items: [{ title: 'fine' }, { title: 'two' }] }],
  ])('nothing for a write that %s', async (_what, method, path, body) => {
    const server = await open()
    expect(await ask(server, method, path, body)).toBeGreaterThanOrEqual(400)
    expect(commits).toEqual([])
  })

  it('each commit of a batch that is not atomic separately', async () => {
    const server = await open({ transactional: false })
    await ask(server, 'POST', 'posts/bulk', { items: [{ title: 'fine' }, { title: 'two' }, { title: 'too' }] })
    expect(told()).toEqual([['create posts 3'], ['create posts 4']])
  })
})

describe('a listener', () => {
  it('that throws changes neither the response nor the written rows', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open({ listen: () => {
      throw new Error('no')
    } })
    expect(await ask(server, 'POST', 'posts', { title: 'new' })).toBe(201)
    expect(client.prepare('select count(*) as posts from posts').get()).toEqual({ posts: 3 })
    expect(log).toHaveBeenCalledOnce()
  })

  it('is the only reason to read cascaded rows: without a listener no statement reads them', async () => {
    const count = async (heard: boolean) => {
      const server = await open({ heard })
      statements = 0
      await ask(server, 'DELETE', 'posts/1')
      client.close()
      return statements
    }
    const [unheard, heard] = [await count(false), await count(true)]
    // One for comments, one for notes.
    expect(heard - unheard).toBe(2)
    await open()
  })
})
