/**
 * On every engine an existing link is not added twice, even without a unique constraint, and rows accepted by an object rule stay unchanged
 * until the commit.
 */
import { boolean as mysqlBoolean, datetime, decimal, int, json as mysqlJson, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import { boolean, integer as pgInteger, jsonb, numeric, pgTable, serial, timestamp, varchar as pgVarchar } from 'drizzle-orm/pg-core'
import { integer, numeric as sqliteNumeric, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ResourceAuth, ResourceRegistration } from '../../src/runtime/server/registration'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { createServer, type TestServer } from '../support/server'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'

/** `marks` joins posts and tags and has a trash; `plain` joins them and is no resource. Neither has a unique constraint. */
const TABLES = {
  sqlite() {
    const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title') })
    const tags = sqliteTable('tags', {
      id: integer('id').primaryKey(),
      name: text('name'),
      postId: integer('post_id').references(() => posts.id),
    })
    const sides = () => ({
      postId: integer('post_id')
        .notNull()
        .references(() => posts.id),
      tagId: integer('tag_id')
        .notNull()
        .references(() => tags.id),
    })
    const marks = sqliteTable('marks', {
      id: integer('id').primaryKey({ autoIncrement: true }),
      ...sides(),
      note: text('note'),
      price: sqliteNumeric('price'),
      bold: integer('bold', { mode: 'boolean' }),
      extra: text('extra', { mode: 'json' }),
      since: integer('since', { mode: 'timestamp_ms' }),
      deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
    })
    return { posts, tags, marks, plain: sqliteTable('plain', { id: integer('id').primaryKey({ autoIncrement: true }), ...sides() }) }
  },
  pg() {
    const posts = pgTable('posts', { id: pgInteger('id').primaryKey(), title: pgVarchar('title') })
    const tags = pgTable('tags', {
      id: pgInteger('id').primaryKey(),
      name: pgVarchar('name'),
      postId: pgInteger('post_id').references(() => posts.id),
    })
    const sides = () => ({
      postId: pgInteger('post_id')
        .notNull()
        .references(() => posts.id),
      tagId: pgInteger('tag_id')
        .notNull()
        .references(() => tags.id),
    })
    const marks = pgTable('marks', {
      id: serial('id').primaryKey(),
      ...sides(),
      note: pgVarchar('note', { length: 20 }),
      price: numeric('price', { precision: 10, scale: 2 }),
      bold: boolean('bold'),
      extra: jsonb('extra'),
      since: timestamp('since', { withTimezone: true, precision: 3 }),
      deletedAt: timestamp('deleted_at', { withTimezone: true }),
    })
    return { posts, tags, marks, plain: pgTable('plain', { id: serial('id').primaryKey(), ...sides() }) }
  },
  mysql() {
    const posts = mysqlTable('posts', { id: int('id').primaryKey(), title: varchar('title', { length: 20 }) })
    const tags = mysqlTable('tags', {
      id: int('id').primaryKey(),
      name: varchar('name', { length: 20 }),
      postId: int('post_id').references(() => posts.id),
    })
    const sides = () => ({
      postId: int('post_id')
        .notNull()
        .references(() => posts.id),
      tagId: int('tag_id')
        .notNull()
        .references(() => tags.id),
    })
    const marks = mysqlTable('marks', {
      id: int('id').autoincrement().primaryKey(),
      ...sides(),
      note: varchar('note', { length: 20 }),
      price: decimal('price', { precision: 10, scale: 2 }),
      bold: mysqlBoolean('bold'),
      extra: mysqlJson('extra'),
      since: datetime('since', { fsp: 3 }),
      deletedAt: datetime('deleted_at', { fsp: 3 }),
    })
    return { posts, tags, marks, plain: mysqlTable('plain', { id: int('id').autoincrement().primaryKey(), ...sides() }) }
  },
}

const TYPES: Readonly<Record<Dialect, Record<'id' | 'time' | 'json' | 'bold', string>>> = {
  sqlite: { id: 'integer primary key autoincrement', time: 'integer', json: 'text', bold: 'integer' },
  pg: { id: 'serial primary key', time: 'timestamptz(3)', json: 'jsonb', bold: 'boolean' },
  mysql: { id: 'integer auto_increment primary key', time: 'datetime(3)', json: 'json', bold: 'boolean' },
}

const TAGS = Array.from({ length: 40 }, (_, index) => index + 1)

const ddl = ({ id, time, json, bold }: (typeof TYPES)['pg']) => `
  create table posts (id integer primary key, title varchar(20));
  create table tags (id integer primary key, name varchar(20), post_id integer);
  create table marks (id ${id}, post_id integer not null, tag_id integer not null, note varchar(20), price decimal(10, 2), bold ${bold}, extra ${json}, since ${time}, deleted_at ${time});
  create table plain (id ${id}, post_id integer not null, tag_id integer not null);
  insert into posts values (1, 'one'), (2, 'two'), (3, 'three');
  insert into tags values ${TAGS.map(tag => `(${tag}, 'tag', null)`).join(', ')};
`

const OPEN = { read: true, create: true, update: true, delete: true } as const

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('links without a unique constraint', () => {
    const { dialect, engine } = engineCase
    let opened: Opened
    let server: TestServer
    /** Asked of each row that is judged; set by a test. */
    let judge: ((resource: string, row: Record<string, unknown>) => Promise<boolean>) | undefined
    const start = (judged: boolean) => {
      const tables = TABLES[dialect]()
      const rule = (name: string): ResourceAuth => ({
        permissions: OPEN,
        ...(judged && { objectLevel: async (row: Record<string, unknown>) => (judge ? judge(name, row) : true) }),
      })
      const { posts, tags, marks } = tables
      return createServer({
        db: opened.db,
        engine,
        modules: [tables],
        registrations: Object.entries({ posts, tags, marks }).map(
          ([name, schema]) => ({ name, schema, authorization: rule(name) }) as ResourceRegistration,
        ),
        config: { m2m: { autoDetect: true, relations: { marks: ['posts', 'tags'], plain: ['posts', 'tags'] } } },
      })
    }
    beforeAll(async () => {
      opened = await engineCase.open()
      await opened.exec(ddl(TYPES[dialect]))
      server = await start(false)
    })
    beforeEach(() =>
      opened.exec(`delete from marks; delete from plain; update tags set name = 'tag', post_id = null; update posts set title = 'post'`),
    )
    afterAll(() => opened?.close())

    const link = (method: string, path: string, body: unknown) => server.request(method, `/api/${path}`, { body })
    const pairs = async (table: string) =>
      (await opened.all(`select post_id, tag_id from ${table}${table === 'marks' ? ' where deleted_at is null' : ''} order by 1, 2`)).map(
        row => row.join('-'),
      )

    it.each(['marks', 'plain'])('are added once by many concurrent requests, from one side and from both: %s', async (table) => {
      const [tagsOf, postsOf] = [
        `posts/1/relations/${table === 'marks' ? 'tagsByMarks' : table}`,
        (tag: number) => `tags/${tag}/relations/${table === 'marks' ? 'postsByMarks' : table}`,
      ]
      const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => index % 3 === 0
        ? link('POST', postsOf(2), { ids: [1, 2] })
        : link(index % 3 === 1 ? 'POST' : 'PUT', tagsOf, { ids: [1, 2, 3] })))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect(await pairs(table)).toEqual(['1-1', '1-2', '1-3', '2-2'])
      expect(answers.reduce((sum, { body }) => sum + body.added, 0)).toBe(4)
    })

    it('restore only the latest deleted link, with the new metadata', async () => {
      for (let round = 0; round < 2; round++) {
        await link('POST', 'posts/1/relations/tagsByMarks', { ids: [1, 2], metadata: { note: `round ${round}` } })
        expect((await link('DELETE', 'posts/1/relations/tagsByMarks', { ids: [1, 2] })).body).toEqual({ added: 0, removed: 2, total: 0 })
        await opened.exec(
          'insert into marks (post_id, tag_id, note, deleted_at) select post_id, tag_id, note, deleted_at from marks where tag_id = 1',
        )
      }
      const answers = await Promise.all(
        [1, 2, 3, 4].map(() => link('POST', 'posts/1/relations/tagsByMarks', { ids: [1, 2, 3], metadataById: { 1: { note: 'back' } } })),
      )
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect([await pairs('marks'), answers.reduce((sum, { body }) => sum + body.added, 0)]).toEqual([['1-1', '1-2', '1-3'], 3])
      expect(await opened.all(`select note from marks where tag_id = 1 and deleted_at is null`)).toEqual([['back']])
    })

    it('have metadata of every kind', async () => {
      const metadata = { note: 'it\'s', price: '12.50', bold: true, extra: { a: [1, null] }, since: '2026-01-02T03:04:05.678Z' }
      expect(
        (await link('POST', 'posts/2/relations/tagsByMarks', { ids: [1, 2], metadata, metadataById: { 2: { note: null, extra: null } } }))
          .body.added,
      ).toBe(2)
      const { body } = await server.request('GET', '/api/posts/2/relations/tagsByMarks?includeMetadata=true&sort=id')
      const { id: _1, deletedAt: _2, ...first } = body.data[0]._junction
      expect({ ...first, price: Number(first.price) }).toEqual({ ...metadata, price: 12.5 })
      expect(body.data[1]._junction).toMatchObject({ note: null, extra: null, bold: true })
    })

    // Without RETURNING each link is a statement of its own.
    if (dialect !== 'mysql') {
      it('are added in as many statements as a single link', async () => {
        const count = async (ids: number[]) => {
          await link('PUT', 'posts/3/relations/plain', { ids: [] })
          opened.statements()
          expect((await link('POST', 'posts/3/relations/plain', { ids })).body.added).toBe(ids.length)
          return opened.statements().length
        }
        expect(await count(TAGS)).toBe(await count([1]))
      })
    }

    describe('with an object rule', () => {
      /** What somebody else does once a row has been judged. */
      let meanwhile: string | undefined
      beforeAll(async () => {
        server = await start(true)
      })
      beforeEach(() => {
        judge = async (resource, row) => {
          const accepted = row.name !== 'hidden' && row.title !== 'hidden' && row.note !== 'hidden'
          if (meanwhile && resource === (meanwhile.includes('marks') ? 'marks' : meanwhile.includes('tags') ? 'tags' : 'posts')) {
            const run = meanwhile
            meanwhile = undefined
            await opened.exec(run)
          }
          return accepted
        }
      })

      it('return 404 for a record that becomes hidden before the commit', async () => {
        meanwhile = `update tags set name = 'hidden' where id = 30`
        const { status, body } = await link('POST', 'posts/1/relations/plain', { ids: TAGS })
        expect([status, body.data]).toEqual([404, { code: 'NOT_FOUND', relation: 'plain', ids: ['30'] }])
        expect(await pairs('plain')).toEqual([])
      })

      it('are added to a record that changes and remains visible', async () => {
        meanwhile = `update tags set name = null where id in (3, 30)`
        expect((await link('PUT', 'posts/1/relations/tagsByMarks', { ids: TAGS })).body.added).toBe(TAGS.length)
      })

      it('are not removed when they become hidden before the commit', async () => {
        await link('POST', 'posts/1/relations/tagsByMarks', { ids: [1, 2] })
        meanwhile = `update marks set note = 'hidden' where tag_id = 2`
        expect((await link('PUT', 'posts/1/relations/tagsByMarks', { ids: [] })).body).toEqual({ added: 0, removed: 1, total: 0 })
        expect(await pairs('marks')).toEqual(['1-2'])
      })

      it.each([
        ['hidden', 'POST', 'tags', { id: 100, postId: 1 }, 400], ['seen', 'POST', 'tags', { id: 101, postId: 1 }, 201],
        ['hidden', 'PATCH', 'tags/1', { postId: 1 }, 400], ['seen', 'PATCH', 'tags/1', { postId: 1 }, 200],
      ] as const)('a reference to a record that becomes %s before the commit: %s %s', async (title, method, path, body, expected) => {
        meanwhile = `update posts set title = '${title}' where id = 1`
        const { status, body: answer } = await link(method, path, body)
        expect(status).toBe(expected)
        if (expected === 400) expect(answer.data).toEqual({ code: 'INVALID_REFERENCE', field: 'postId' })
        await opened.exec('update tags set post_id = null; delete from tags where id >= 100')
      })

      it('return 409 for a reference to a record that changes in every attempt', async () => {
        let count = 0
        judge = async (resource) => {
          if (resource === 'posts') await opened.exec(`update posts set title = 't${count++}' where id = 1`)
          return true
        }
        const { status, body } = await link('PATCH', 'tags/1', { postId: 1 })
        expect([status, body.data.code]).toEqual([409, 'CONFLICT'])
        expect(await opened.all('select post_id from tags where id = 1')).toEqual([[null]])
      })
    })
  })
})
