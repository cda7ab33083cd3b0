/** Tests the two states of a row, active and in the trash: which requests change the state, for which callers, and of which dependents. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ADA, openWorld, outcome, type World } from './world'

const trash = () => ({
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletedBy: integer('deleted_by'),
  deletionId: text('deletion_id'),
  deletedReason: text('deleted_reason'),
})
const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull(), ...trash() })
const comments = sqliteTable('comments', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').references(() => posts.id),
  text: text('text').notNull(),
  ...trash(),
})
const replies = sqliteTable('replies', {
  id: integer('id').primaryKey(),
  commentId: integer('comment_id').references(() => comments.id),
  ...trash(),
})
/** No trash. */
const labels = sqliteTable('labels', { id: integer('id').primaryKey(), name: text('name').notNull() })
/** A trash with `deletedAt` as its only column. */
const drafts = sqliteTable('drafts', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').references(() => posts.id),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})
const pages = sqliteTable('pages', {
  id: integer('id').primaryKey(),
  draftId: integer('draft_id').references(() => drafts.id),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})

/**
 * Post 1 is active, 2 was deleted alone, 3 with its comment 31 and the reply 311 to it. Comment 12 was trashed before; its reply 122 is
 * active again.
 */
const ROWS = `
  insert into posts (id, title) values (1, 'one'), (4, 'four');
  insert into posts values (2, 'two', 1000, 9, 'd2', 'old'), (3, 'three', 2000, 9, 'd3', null);
  insert into comments (id, post_id, text) values (11, 1, 'a'), (13, 1, 'c'), (41, 4, 'd');
  insert into comments values (12, 1, 'b', 500, 9, 'd12', 'rude'), (31, 3, 'e', 2000, 9, 'd3', null), (32, 3, 'f', 500, 9, 'd32', null);
  insert into replies (id, comment_id) values (111, 11), (122, 12);
  insert into replies values (121, 12, 500, 9, 'd12', null), (311, 31, 2000, 9, 'd3', null), (112, 11, 700, 9, 'd112', null);
  insert into labels values (1, 'red');
  insert into drafts values (1, 1, null), (2, 1, 700);
  insert into pages values (1, 1, null), (2, 1, 600), (3, 2, 700);
`
const may = (permissions: string[]) => ({ user: { id: 7 }, permissions })
const permissions = { read: true, update: 'update', restore: 'restore', delete: 'delete', purge: 'purge', viewDeleted: 'view' }
const ALL = may(['update', 'restore', 'delete', 'purge', 'view'])

let world: World
const open = async (own: object = permissions) => world = await openWorld({
  tables: { posts, comments, replies, labels, drafts, pages },
  resources: Object.fromEntries(['posts', 'comments', 'replies', 'labels'].map(name => [name, { authorization: { permissions: own } }])),
  rows: ROWS,
})
beforeAll(() => open())
beforeEach(() => world.reset())
afterAll(() => world.client.close())

const send = (method: string, path: string, body?: unknown, caller: object = ALL) => world.send(method, path, body, caller)
const active = (table: string) => world.rows(`select id from ${table} where deleted_at is null order by id`)
const groups = (table: string) =>
  Object.fromEntries(world.rows(`select id, deletion_id from ${table} where deleted_at is not null order by id`) as [number, string][])

describe('an active row', () => {
  it('stays in the table when it is deleted, and no route returns it', async () => {
    const { body } = await send('DELETE', 'posts/1?reason=twice')
    expect(body).toEqual({ success: true, softDeleted: true, deletionId: expect.stringMatching(/^[\da-f-]{36}$/) })
    expect(world.rows('select title, deleted_by, deletion_id, deleted_reason, deleted_at > 1e12 from posts where id = 1')).toEqual([
      ['one', 7, body.deletionId, 'twice', 1],
    ])
    for (const [method, path, data] of [
      ['GET', 'posts/1'],
      ['PATCH', 'posts/1', { title: 'x' }],
      ['DELETE', 'posts/1'],
    ] as const)
      expect([method, (await send(method, path, data)).status]).toEqual([method, 404])
    expect((await send('GET', 'posts')).body.data.map(({ id }: { id: number }) => id)).toEqual([4])
  })

  it('is deleted with its descendants, which get its deletionId, deletedBy and deletedReason', async () => {
    const { body: { deletionId } } = await send('DELETE', 'posts/1?reason=twice')
    expect([groups('comments'), groups('replies')]).toEqual([
      { 11: deletionId, 12: 'd12', 13: deletionId, 31: 'd3', 32: 'd32' },
      { 111: deletionId, 112: 'd112', 121: 'd12', 311: 'd3' },
    ])
    expect(world.rows('select deleted_by, deleted_reason from comments where id = 11')).toEqual([[7, 'twice']])
  })

  it('gets a new deletionId each time, whatever the request contains', async () => {
    const first = (await send('DELETE', 'posts/1?deletionId=mine')).body.deletionId
    await send('POST', 'posts/1/restore')
    const second = (await send('DELETE', 'posts/1')).body.deletionId
    expect(new Set([first, second, 'mine']).size).toBe(3)
  })

  it('returns 404 for a restore', async () => {
    expect(outcome(await send('POST', 'posts/1/restore'))).toBe('404 NOT_FOUND')
    expect(outcome(await send('POST', 'posts/bulk/restore', { ids: [1, 2] }))).toBe('404 BULK_FAILED')
    expect(active('posts')).toEqual([1, 4])
  })

  it('is purged by `force` with all its descendants', async () => {
    expect((await send('DELETE', 'posts/1?force=true')).body).toEqual({ success: true, softDeleted: false })
    expect(world.rows('select id from posts order by id')).toEqual([2, 3, 4])
    expect([
      world.rows('select id from comments order by id'),
      world.rows('select id from replies order by id'),
      world.rows('select id from drafts'),
      world.rows('select id from pages'),
    ]).toEqual([[31, 32, 41], [311], [], []])
  })
})

describe('a trashed row', () => {
  it('returns 404 for a delete without `force` and stays unchanged', async () => {
    const before = world.dump()
    expect(outcome(await send('DELETE', 'posts/2'))).toBe('404 NOT_FOUND')
    expect(outcome(await send('DELETE', 'posts/2?force=false'))).toBe('404 NOT_FOUND')
    expect(outcome(await send('DELETE', 'posts/bulk', { ids: [2] }))).toBe('404 BULK_FAILED')
    expect(world.dump()).toBe(before)
  })

  it('is purged by `force`', async () => {
    expect((await send('DELETE', 'posts/3?force=true')).status).toBe(200)
    expect([
      world.rows('select id from posts order by id'),
      world.rows('select id from comments where post_id = 3'),
      world.rows('select id from replies where id = 311'),
    ]).toEqual([[1, 2, 4], [], []])
  })

  it('is restored unchanged, with the children of the same cascade', async () => {
    expect((await send('POST', 'posts/3/restore')).body).toEqual({
      id: 3,
      title: 'three',
      deletedAt: null,
      deletedBy: null,
      deletionId: null,
      deletedReason: null,
    })
    expect([active('posts'), active('comments'), active('replies')]).toEqual([[1, 3, 4], [11, 13, 31, 41], [111, 122, 311]])
  })

  it('is restored without rows that were deleted before its cascade and have another deletionId', async () => {
    await send('DELETE', 'posts/1')
    await send('POST', 'posts/1/restore')
    expect([groups('comments'), groups('replies')]).toEqual([{ 12: 'd12', 31: 'd3', 32: 'd32' }, { 112: 'd112', 121: 'd12', 311: 'd3' }])
    expect(world.rows('select deleted_at, deleted_by, deletion_id, deleted_reason from comments where id = 12')).toEqual([
      [500, 9, 'd12', 'rude'],
    ])
  })

  it('is restored alone when it is a child, and its parent stays in the trash', async () => {
    expect((await send('POST', 'comments/32/restore')).status).toBe(200)
    expect([active('posts'), active('comments')]).toEqual([[1, 4], [11, 13, 32, 41]])
  })

  it('is restored with the children of the same `deletedAt` when the table has no deletionId', async () => {
    await send('DELETE', 'drafts/1')
    expect([active('drafts'), active('pages')]).toEqual([[], []])
    expect((await send('DELETE', 'drafts/1')).status).toBe(404)
    await send('POST', 'drafts/1/restore')
    expect([active('drafts'), active('pages')]).toEqual([[1], [1]])
    await send('POST', 'drafts/2/restore')
    expect([active('drafts'), active('pages')]).toEqual([[1, 2], [1, 3]])
  })
})

describe('a batch', () => {
  it.each([
    ['restored', 'POST', 'posts/bulk/restore', { ids: [2, 3] }, { posts: [1, 2, 3, 4], comments: [11, 13, 31, 41] }],
    ['restored by its group', 'POST', 'posts/bulk/restore', { deletionId: 'd3' }, { posts: [1, 3, 4], comments: [11, 13, 31, 41] }],
    [
      'restored by its group from below',
      'POST',
      'replies/bulk/restore',
      { deletionId: 'd3' },
      { posts: [1, 3, 4], comments: [11, 13, 31, 41] },
    ],
    ['purged', 'DELETE', 'posts/bulk?force=true', { ids: [1, 3] }, { posts: [4], comments: [41] }],
  ])('is %s as a whole', async (_what, method, path, body, left) => {
    expect((await send(method, path, body)).status).toBe(200)
    expect({ posts: active('posts'), comments: active('comments') }).toEqual(left)
  })

  it.each([
    ['restore', 'POST', 'posts/bulk/restore', { ids: [2, 3, 99] }],
    ['restore', 'POST', 'posts/bulk/restore', { ids: [2, 1] }],
    ['purge', 'DELETE', 'posts/bulk?force=true', { ids: [2, 3, 99] }],
    ['purge', 'DELETE', 'posts/bulk?force=true', { deletionId: 'none' }],
  ])('returns 404 and writes nothing when one row is not found: %s %s %s %j', async (_what, method, path, body) => {
    const before = world.dump()
    expect((await send(method, path, body)).status).toBe(404)
    expect(world.dump()).toBe(before)
  })
})

/** The one permission that allows a request: with the table's own rules, and with the fallbacks alone. */
const NEEDS: readonly [method: string, path: string, body: unknown, own: string, fallback: string][] = [
  ['DELETE', 'posts/1', undefined, 'delete', 'delete'],
  ['DELETE', 'posts/3?force=true', undefined, 'purge', 'delete'],
  ['DELETE', 'posts/1?force=true', undefined, 'purge', 'delete'],
  ['DELETE', 'posts/bulk?force=true', { ids: [2] }, 'purge', 'delete'],
  ['POST', 'posts/3/restore', undefined, 'restore', 'update'],
  ['POST', 'posts/bulk/restore', { ids: [2] }, 'restore', 'update'],
  ['GET', 'posts?onlyDeleted=true', undefined, 'view', 'update'],
  ['GET', 'posts/3?includeDeleted=true', undefined, 'view', 'update'],
]

describe.each(NEEDS)('%s %s %j', (method, path, body, own, fallback) => {
  it.each([
    [permissions, own],
    [{ read: true, update: 'update', delete: 'delete' }, fallback],
  ])('requires one permission and accepts no other: %j', async (declared, needed) => {
    const closed = world
    await open(declared)
    const answers: Record<string, number> = {}
    for (const held of ['update', 'restore', 'delete', 'purge', 'view', '']) {
      answers[held] = (await send(method, path, body, held ? may([held]) : {})).status
      world.reset()
    }
    world.client.close()
    world = closed
    const expected = (held: string) => (held === '' ? 401 : held === needed ? 200 : 403)
    expect(answers).toEqual(Object.fromEntries(Object.keys(answers).map(held => [held, expected(held)])))
  })
})

describe('a table without trash columns', () => {
  it('removes a deleted row and returns no deletionId', async () => {
    expect((await send('DELETE', 'labels/1')).body).toEqual({ success: true, softDeleted: false })
    expect(world.rows('select id from labels')).toEqual([])
  })

  it('returns 404 for a restore, even to a super-admin', async () => {
    expect(outcome(await send('POST', 'labels/1/restore', undefined, { ...ADA, permissions: ['*'] }))).toBe('404 NOT_FOUND')
    expect(outcome(await send('POST', 'labels/bulk/restore', { ids: [1] }))).toBe('404 BULK_FAILED')
    expect(outcome(await send('POST', 'labels/bulk/restore', { deletionId: 'd2' }))).toBe('404 NOT_FOUND')
  })

  it('lists all its rows as active', async () => {
    expect((await send('GET', 'labels?includeDeleted=true')).body.data).toHaveLength(1)
    expect((await send('GET', 'labels?onlyDeleted=true')).body.data).toEqual([])
  })
})

it('treats a `deletedAt` that cannot be null as an ordinary column', async () => {
  const stamps = sqliteTable('stamps', {
    id: integer('id').primaryKey(),
    deletedAt: integer('deleted_at').notNull(),
    deletionId: text('deletion_id'),
  })
  const other = await openWorld({ tables: { stamps }, rows: `insert into stamps values (1, 5, 'x')` })
  expect((await other.send('PATCH', 'stamps/1', { deletedAt: 6, deletionId: 'y' })).body).toEqual({ id: 1, deletedAt: 6, deletionId: 'y' })
  expect((await other.send('DELETE', 'stamps/1')).body).toEqual({ success: true, softDeleted: false })
  other.client.close()
})

describe('a group of several tables', () => {
  afterAll(() => open())

  it('passes each record to the after-hooks of its resource with the fields of that resource', async () => {
    const restored: object[] = []
    world = await openWorld({
      tables: { posts, comments, replies },
      resources: { comments: { hooks: { afterRestore: (record: object) => void restored.push(record) } } },
      rows: ROWS.split('insert into labels')[0],
    })
    expect((await send('POST', 'posts/bulk/restore', { deletionId: 'd3' })).status).toBe(200)
    expect(restored).toEqual([{ id: 31, postId: 3, text: 'e', deletedAt: null, deletedBy: null, deletionId: null, deletedReason: null }])
  })

  it('asks the object-level rule of a resource for the rows of that resource only', async () => {
    const asked: object[] = []
    world = await openWorld({
      tables: { posts, comments, replies },
      resources: {
        posts: {
          authorization: {
            permissions: { ...permissions, update: true },
            objectLevel: (row: { title?: string }) => (asked.push(row), row.title === 'three'),
          },
        },
      },
      rows: ROWS.split('insert into labels')[0],
    })
    expect((await send('POST', 'posts/bulk/restore', { deletionId: 'd3' })).status).toBe(200)
    expect(asked).not.toEqual([])
    expect(asked.every(row => 'title' in row)).toBe(true)
    expect({ posts: active('posts'), comments: active('comments') }).toEqual({ posts: [1, 3, 4], comments: [11, 13, 31, 41] })
  })
})
