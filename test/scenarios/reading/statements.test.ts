/** The cost of a read: the number of statements depends on the query, not on the number of rows. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type TestServer } from '../../support/server.ts'

const authors = sqliteTable('authors', { id: integer('id').primaryKey(), name: text('name').notNull(), secret: text('secret') })
const books = sqliteTable('books', {
  id: integer('id').primaryKey(),
  authorId: integer('author_id').references(() => authors.id),
  title: text('title').notNull(),
  bulky: text('bulky'),
})
const chapters = sqliteTable('chapters', {
  id: integer('id').primaryKey(),
  bookId: integer('book_id').references(() => books.id),
  title: text('title').notNull(),
})
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
const chapterTags = sqliteTable(
  'chapter_tags',
  {
    chapterId: integer('chapter_id')
      .notNull()
      .references(() => chapters.id),
    tagId: integer('tag_id')
      .notNull()
      .references(() => tags.id),
  },
  table => [primaryKey({ columns: [table.chapterId, table.tagId] })],
)

const sent: string[] = []
let server: TestServer
let client: Database.Database

beforeAll(async () => {
  client = new Database(':memory:')
  client.exec(`
    create table authors (id integer primary key, name text not null, secret text);
    create table books (id integer primary key, author_id integer references authors(id), title text not null, bulky text);
    create table chapters (id integer primary key, book_id integer references books(id), title text not null);
    create table tags (id integer primary key, name text not null);
    create table chapter_tags (chapter_id integer not null references chapters(id), tag_id integer not null references tags(id), primary key (chapter_id, tag_id));
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 120) insert into authors select i, 'author ' || i, 'secret' from n;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 360) insert into books select i, 1 + i % 120, 'book ' || i, 'bulky' from n;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 900) insert into chapters select i, 1 + i % 360, 'chapter ' || i from n;
    insert into tags values (1, 'a'), (2, 'b');
    insert into chapter_tags select id, 1 + id % 2 from chapters;
  `)
  const authorization = { permissions: { read: true } }
  server = await createServer({
    db: drizzle({ client, logger: { logQuery: query => sent.push(query) } }),
    modules: [{ authors, books, chapters, tags, chapterTags }],
    registrations: [
      { name: 'authors', schema: authors, authorization, hiddenFields: ['secret'] },
      { name: 'books', schema: books, authorization },
      { name: 'chapters', schema: chapters, authorization },
      { name: 'tags', schema: tags, authorization },
    ],
  })
})
afterAll(() => client.close())

async function count(path: string): Promise<{ statements: string[], records: number }> {
  sent.length = 0
  const { status, body } = await server.request('GET', `/api/${path}`)
  expect(status).toBe(200)
  return { statements: [...sent], records: body.data?.length }
}

describe('an include of three levels', () => {
  const include = 'include=books.chapters.tags'

  it('takes one statement for the page and one per relation, for 1 and for 100 parents', async () => {
    const one = await count(`authors?${include}&limit=1&count=none`)
    const hundred = await count(`authors?${include}&limit=100&count=none`)
    expect([one.records, hundred.records]).toEqual([1, 100])
    expect([one.statements.length, hundred.statements.length]).toEqual([4, 4])
  })

  it('takes one more statement for the total', async () => {
    expect((await count(`authors?${include}&limit=100`)).statements).toHaveLength(5)
  })
})

describe('the selected columns', () => {
  it('are the requested columns and the keys of includes', async () => {
    const { statements } = await count('books?fields=title&count=none')
    expect(statements).toEqual(['select "books"."title" from "books" order by "books"."id" limit likely(?)'])
  })

  it('never contain a hidden column', async () => {
    const { statements } = await count('books?include=author&limit=5')
    expect(statements.join()).not.toContain('secret')
  })
})

describe('a query of a known shape', () => {
  it('reuses the text of its statement with other values', async () => {
    const readMany = (n: number) =>
      count(
        `books?count=none&limit=${n}&filter={"authorId":{"$in":[${Array.from({ length: n }, (_, index) => index)}]},"title":{"$like":"${n}"}}`,
      )
    expect((await readMany(3)).statements).toEqual((await readMany(40)).statements)
  })
})
