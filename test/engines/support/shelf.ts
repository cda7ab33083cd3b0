/** Authors, their books, and views that count the books of each author: selected, declared and, on Postgres, materialized. */
import { count, eq, sql, type Table, type View } from 'drizzle-orm'
import * as mysql from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import type { Dialect } from '../../../src/runtime/shared/dialects'

export interface Shelf {
  readonly authors: Table
  readonly books: Table
  /** By how they are declared. All have the same columns. */
  readonly views: Readonly<Record<string, View>>
  /** Runs after the rows changed. */
  readonly refresh?: string
}

/** The query of the views, over the tables of any dialect. */
const aggregates = ({ id, pages, price, printedAt }: Readonly<Record<'id' | 'pages' | 'price' | 'printedAt', never>>) => ({
  books: count(id).as('book_count'),
  pages: sql`sum(${pages})`.mapWith(Number).as('pages'),
  worth: sql`sum(${price})`.mapWith(price).as('worth'),
  latest: sql`max(${printedAt})`.mapWith(printedAt).as('latest'),
  busy: sql`count(${id}) > 1`.mapWith(Boolean).as('busy'),
})

/** @param id the name of the first column: that of the table, or the one that the view declares */
const query = (id: 'id' | 'author_id') => `select a.id as ${id}, a.name, count(b.id) as book_count, sum(b.pages) as pages,
  sum(b.price) as worth, max(b.printed_at) as latest, count(b.id) > 1 as busy
  from authors a left join books b on b.author_id = a.id group by a.id, a.name`

const QUERY = sql.raw(query('author_id'))

const TIMES: Readonly<Record<Dialect, string>> = { sqlite: 'integer', pg: 'timestamptz', mysql: 'datetime(3)' }

/** By hand, because Drizzle Kit 0.31 does not read the tables of Drizzle 1.0. */
export const shelfSql = (dialect: Dialect) => `
  create table authors (id integer primary key, name varchar(40) not null);
  create table books (id integer primary key, author_id integer not null references authors(id), pages integer, price numeric(10, 2),
    printed_at ${TIMES[dialect]});
  create view shelf as ${query('id')};
  create view declared_shelf as ${query('author_id')};
  ${dialect === 'pg' ? `create materialized view kept_shelf as ${query('id')};` : ''}`

export const SHELVES: Readonly<Record<Dialect, Shelf>> = {
  sqlite: (() => {
    const authors = sqlite.sqliteTable('authors', { id: sqlite.integer('id').primaryKey(), name: sqlite.text('name').notNull() })
    const books = sqlite.sqliteTable('books', {
      id: sqlite.integer('id').primaryKey(),
      authorId: sqlite.integer('author_id').notNull().references(() => authors.id),
      pages: sqlite.integer('pages'),
      price: sqlite.numeric('price'),
      printedAt: sqlite.integer('printed_at', { mode: 'timestamp_ms' }),
    })
    const selected = sqlite.sqliteView('shelf').as(qb =>
      qb.select({ authorId: authors.id, name: authors.name, ...aggregates(books as never) })
        .from(authors).leftJoin(books, eq(books.authorId, authors.id)).groupBy(authors.id, authors.name))
    const declared = sqlite.sqliteView('declared_shelf', {
      authorId: sqlite.integer('author_id').notNull(),
      name: sqlite.text('name').notNull(),
      books: sqlite.integer('book_count').notNull(),
      pages: sqlite.integer('pages'),
      worth: sqlite.numeric('worth'),
      latest: sqlite.integer('latest', { mode: 'timestamp_ms' }),
      busy: sqlite.integer('busy', { mode: 'boolean' }),
    }).as(QUERY)
    return { authors, books, views: { selected, declared } }
  })(),
  pg: (() => {
    const authors = pg.pgTable('authors', { id: pg.integer('id').primaryKey(), name: pg.text('name').notNull() })
    const books = pg.pgTable('books', {
      id: pg.integer('id').primaryKey(),
      authorId: pg.integer('author_id').notNull().references(() => authors.id),
      pages: pg.integer('pages'),
      price: pg.numeric('price'),
      printedAt: pg.timestamp('printed_at', { withTimezone: true }),
    })
    const query = (qb: pg.QueryBuilder) =>
      qb.select({ authorId: authors.id, name: authors.name, ...aggregates(books as never) })
        .from(authors).leftJoin(books, eq(books.authorId, authors.id)).groupBy(authors.id, authors.name)
    const selected = pg.pgView('shelf').as(query)
    const materialized = pg.pgMaterializedView('kept_shelf').as(query)
    const declared = pg.pgView('declared_shelf', {
      authorId: pg.integer('author_id').notNull(),
      name: pg.text('name').notNull(),
      books: pg.bigint('book_count', { mode: 'number' }).notNull(),
      pages: pg.bigint('pages', { mode: 'number' }),
      worth: pg.numeric('worth'),
      latest: pg.timestamp('latest', { withTimezone: true }),
      busy: pg.boolean('busy'),
    }).as(QUERY)
    return { authors, books, views: { selected, declared, materialized }, refresh: 'refresh materialized view kept_shelf' }
  })(),
  mysql: (() => {
    const authors = mysql.mysqlTable('authors', { id: mysql.int('id').primaryKey(), name: mysql.varchar('name', { length: 40 }).notNull() })
    const books = mysql.mysqlTable('books', {
      id: mysql.int('id').primaryKey(),
      authorId: mysql.int('author_id').notNull().references(() => authors.id),
      pages: mysql.int('pages'),
      price: mysql.decimal('price', { precision: 10, scale: 2 }),
      printedAt: mysql.datetime('printed_at', { fsp: 3 }),
    })
    const selected = mysql.mysqlView('shelf').as(qb =>
      qb.select({ authorId: authors.id, name: authors.name, ...aggregates(books as never) })
        .from(authors).leftJoin(books, eq(books.authorId, authors.id)).groupBy(authors.id, authors.name))
    const declared = mysql.mysqlView('declared_shelf', {
      authorId: mysql.int('author_id').notNull(),
      name: mysql.varchar('name', { length: 40 }).notNull(),
      books: mysql.bigint('book_count', { mode: 'number' }).notNull(),
      pages: mysql.decimal('pages', { mode: 'number', precision: 32, scale: 0 }),
      worth: mysql.decimal('worth', { precision: 32, scale: 2 }),
      latest: mysql.datetime('latest', { fsp: 3 }),
      busy: mysql.boolean('busy'),
    }).as(QUERY)
    return { authors, books, views: { selected, declared } }
  })(),
}
