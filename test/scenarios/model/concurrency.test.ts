/** Tests that concurrent writes to the same rows, and constraints that fail during a commit, leave consistent rows. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServer, type TestServer } from '../../support/server.ts'

const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
const posts = sqliteTable('posts', { id: integer('id').primaryKey({ autoIncrement: true }), title: text('title').notNull(), ...trash() })
const comments = sqliteTable('comments', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  postId: integer('post_id').references(() => posts.id),
  body: text('body').notNull(),
  ...trash(),
})

let client: Database.Database
let server: TestServer

beforeEach(async () => {
  client = new Database(':memory:')
  client.exec(`
    create table posts (id integer primary key autoincrement, title text not null, deleted_at integer, deletion_id text);
    create table comments (id integer primary key autoincrement, post_id integer references posts(id), body text not null, deleted_at integer, deletion_id text);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 20) insert into posts (title) select 'post ' || i from n;
    insert into comments (post_id, body) select id, 'a' from posts union all select id, 'b' from posts;
  `)
  // Hooks that wait change the order of the requests between their checks and their commits.
  const pause = () => new Promise<void>(resolve => setTimeout(resolve, Math.random() * 5))
  const permissions = { read: true as const, create: true as const, update: true as const, delete: true as const }
  const hooks = { beforeDelete: pause, beforeUpdate: pause, beforeRestore: pause }
  server = await createServer({
    db: drizzle({ client }),
    registrations: [
      { name: 'posts', schema: posts, authorization: { permissions }, hooks },
      { name: 'comments', schema: comments, authorization: { permissions }, hooks },
    ],
  })
})
afterEach(() => client.close())

const send = (method: string, path: string, body?: unknown) => server.request(method, `/api/${path}`, { body, caller: { user: { id: 1 } } })
const dump = () => JSON.stringify([client.prepare('select * from posts').all(), client.prepare('select * from comments').all()])
const statuses = (answers: { status: number }[]) =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, list]) => [status, list.length]))

describe('fifty concurrent requests', () => {
  it('delete one row: one request succeeds, and all deleted rows have its deletionId', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => send('DELETE', 'posts/1')))
    expect(statuses(answers)).toEqual({ 200: 1, 404: 49 })
    const { deletionId } = answers.find(({ status }) => status === 200)!.body
    expect(
      client
        .prepare('select distinct deletion_id from posts where id = 1 union select distinct deletion_id from comments where post_id = 1')
        .raw()
        .all(),
    ).toEqual([[deletionId]])
  })

  it('restore one row: one request succeeds, and all rows are active', async () => {
    await send('DELETE', 'posts/1')
    expect(statuses(await Promise.all(Array.from({ length: 50 }, () => send('POST', 'posts/1/restore'))))).toEqual({ 200: 1, 404: 49 })
    expect(client.prepare('select count(*) from posts where deleted_at is not null').pluck().get()).toBe(0)
    expect(client.prepare('select count(*) from comments where deleted_at is not null').pluck().get()).toBe(0)
  })

  it('update, delete and restore the same rows: the rows of each deletionId stay together', async () => {
    const wanted = Array.from({ length: 50 }, (_, index) => [
      () => send('PATCH', `posts/${1 + index % 5}`, { title: `by ${index}` }),
      () => send('DELETE', `posts/${1 + index % 5}`),
      () => send('POST', `posts/${1 + index % 5}/restore`),
      () => send('DELETE', 'posts/bulk', { ids: [1 + index % 5, 6 + index % 3] }),
    ][index % 4]!)
    const answers = await Promise.all(wanted.map(run => run()))
    expect(answers.map(({ status }) => status).filter(status => status !== 200 && status !== 404)).toEqual([])
    const torn = client
      .prepare(
        `select posts.id from posts inner join comments on comments.post_id = posts.id where posts.deletion_id is not comments.deletion_id`,
      )
      .all()
    expect(torn).toEqual([])
  })
})

describe('a constraint that fails during a commit', () => {
  const FAULTS: readonly (readonly [string, string, () => Promise<{ status: number, text: string }>])[] = [
    [
      'of a cascade',
      'create trigger fault before update of deleted_at on comments when new.id = 22 begin select raise(abort, \'fault of the database\'); end',
      () => send('DELETE', 'posts/2'),
    ],
    [
      'of a bulk delete',
      'create trigger fault before update of deleted_at on posts when new.id = 3 begin select raise(abort, \'fault of the database\'); end',
      () => send('DELETE', 'posts/bulk', { ids: [1, 2, 3, 4] }),
    ],
    [
      'of a bulk create',
      'create trigger fault before insert on posts when new.title = \'c\' begin select raise(abort, \'fault of the database\'); end',
      () => send('POST', 'posts/bulk', { items: ['a', 'b', 'c', 'd'].map(title => ({ title })) }),
    ],
    [
      'of a bulk update',
      'create trigger fault before update of title on posts when new.id = 3 begin select raise(abort, \'fault of the database\'); end',
      () => send('PATCH', 'posts/bulk', { items: [1, 2, 3].map(id => ({ id, data: { title: 'x' } })) }),
    ],
    [
      'of a purge',
      'create trigger fault before delete on posts when old.id = 2 begin select raise(abort, \'fault of the database\'); end',
      () => send('DELETE', 'posts/bulk?force=true', { ids: [1, 2] }),
    ],
  ]

  it.each(FAULTS)('%s changes nothing, and the response does not quote the database', async (_, trigger, act) => {
    client.exec(trigger)
    const before = dump()
    const { status, text } = await act()
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).not.toContain('fault of the database')
    expect(dump()).toBe(before)
    client.exec('drop trigger fault')
    expect((await act()).status).toBe(200)
  })
})
