/** The statement of a to-many include: without a limit per parent while the parents have few children, and by position otherwise. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServer, type TestServer } from '../../support/server.ts'

const authors = sqliteTable('authors', { id: integer('id').primaryKey(), name: text('name').notNull() })
const books = sqliteTable('books', { id: integer('id').primaryKey(), authorId: integer('author_id').references(() => authors.id) })

const sent: string[] = []
let server: TestServer
let client: Database.Database

beforeEach(async () => {
  client = new Database(':memory:')
  client.exec(`
    create table authors (id integer primary key, name text not null);
    create table books (id integer primary key, author_id integer references authors(id));
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 40) insert into authors select i, 'author ' || i from n;
  `)
  const authorization = { permissions: { read: true } }
  server = await createServer({
    db: drizzle({ client, logger: { logQuery: query => sent.push(query) } }),
    modules: [{ authors, books }],
    registrations: [{ name: 'authors', schema: authors, authorization }, { name: 'books', schema: books, authorization }],
  })
})
afterEach(() => client.close())

/** Adds books of an author. Their ids follow those of all other books. */
function addBooks(author: number, count: number): void {
  client
    .prepare('with recursive n(i) as (select 1 union all select i + 1 from n where i < ?) insert into books (author_id) select ? from n')
    .run(count, author)
}

/** The ids of the included books by author, and whether each statement of the include counts positions. */
async function read(query: string): Promise<{ books: number[][], byPosition: boolean[] }> {
  sent.length = 0
  const { status, body } = await server.request('GET', `/api/authors?${query}&count=none`)
  expect(status).toBe(200)
  const authors = body.data as { books: { id: number }[] }[]
  return {
    books: authors.map(({ books }) => books.map(({ id }) => id)),
    byPosition: sent.slice(1).map(text => text.includes('row_number()')),
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe('children of few parents', () => {
  it('are read without positions, and those beyond the limit of a parent are left out', async () => {
    addBooks(1, 4)
    addBooks(2, 1)
    expect(await read('limit=3&include=books{limit:3}')).toEqual({ books: [[1, 2, 3], [5], []], byPosition: [false] })
    expect(await read('limit=3&include=books{limit:3,sort:-id}')).toEqual({ books: [[4, 3, 2], [5], []], byPosition: [false] })
  })

  it('are read by position if there are more than the response can have', async () => {
    addBooks(1, 9)
    addBooks(2, 1)
    expect(await read('limit=3&include=books{limit:3}')).toEqual({ books: [[1, 2, 3], [10], []], byPosition: [false, true] })
  })

  it.each([[500, [false]], [501, [false, true]]])('of which there are %i', async (count, byPosition) => {
    addBooks(1, count)
    expect(await read('limit=20&include=books')).toEqual({ books: [range(1, 100), ...Array.from({ length: 19 }, () => [])], byPosition })
  })

  it('are read by position for fifteen requests after one with many children', async () => {
    addBooks(1, 501)
    const statements: boolean[][] = []
    for (let request = 0; request < 17; request++) statements.push((await read('limit=20&include=books')).byPosition)
    expect(statements).toEqual([[false, true], ...Array.from({ length: 15 }, () => [true]), [false, true]])
  })
})

it('reads the children of many parents by position', async () => {
  for (const author of range(1, 26)) addBooks(author, 1)
  expect(await read('limit=25&include=books')).toEqual({ books: range(1, 25).map(id => [id]), byPosition: [false] })
  expect(await read('limit=26&include=books')).toEqual({ books: range(1, 26).map(id => [id]), byPosition: [true] })
})
