/** A test server with articles: every kind of column and relation, with the same rows in SQLite and as plain objects. */
import Database from 'better-sqlite3'
import { eq, ne, or } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { blob, foreignKey, integer, numeric, primaryKey, real, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { AutoApiConfig } from '../../../src/runtime/shared/config.ts'
import type { ResourceRegistration } from '../../../src/runtime/server/registration.ts'
import { createServer, type TestServer } from '../../support/server.ts'

const authors = sqliteTable('authors', {
  id: text('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  name: text('name').notNull(),
  rank: real('rank'),
  bossId: text('boss_id').references((): AnySQLiteColumn => authors.id),
})

const articles = sqliteTable('articles', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
  status: text('status', { enum: ['draft', 'live', 'hidden'] }).notNull(),
  views: integer('views'),
  score: real('score'),
  price: numeric('price'),
  serial: numeric('serial', { mode: 'bigint' }),
  pinned: integer('pinned', { mode: 'boolean' }),
  at: integer('at', { mode: 'timestamp_ms' }),
  meta: text('meta', { mode: 'json' }),
  raw: blob('raw', { mode: 'buffer' }),
  authorId: text('author_id').references(() => authors.id),
  secret: text('secret'),
  salary: integer('salary'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})

const labels = sqliteTable('labels', { id: integer('id').primaryKey(), name: text('name').notNull() })

const articleLabels = sqliteTable('article_labels', {
  articleId: integer('article_id').notNull().references(() => articles.id),
  labelId: integer('label_id').notNull().references(() => labels.id),
}, table => [primaryKey({ columns: [table.articleId, table.labelId] })])

const notes = sqliteTable('notes', {
  articleId: integer('article_id').notNull().references(() => articles.id),
  no: integer('no').notNull(),
  body: text('body'),
}, table => [primaryKey({ columns: [table.articleId, table.no] })])

const replies = sqliteTable('replies', {
  id: integer('id').primaryKey(),
  articleId: integer('article_id').notNull(),
  noteNo: integer('note_no').notNull(),
  text: text('text').notNull(),
}, table => [foreignKey({ columns: [table.articleId, table.noteNo], foreignColumns: [notes.articleId, notes.no] })])

export type Row = Record<string, unknown>
export type Rows = Readonly<Record<'authors' | 'articles' | 'labels' | 'articleLabels' | 'notes' | 'replies', readonly Row[]>>

/** The caller of every request, in organization 1. */
export const CALLER = { user: { id: 1, organizationId: 1 }, permissions: ['reader'] }

const ALPHABET = ['a', 'A', 'b', 'B', 'ab', 'Ba', 'a%b', 'a_b', 'a\\b', '']

/** Rows by a fixed recurrence, with many ties and NULLs. */
export function createRows(): Rows {
  let state = 20261121
  const next = (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor(state / 2 ** 32 * n)
  }
  const maybe = <T>(value: T) => next(4) === 0 ? null : value
  const authors = Array.from({ length: 9 }, (_, index): Row => ({
    id: `author-${index}`,
    organizationId: 1 + (index % 4 === 3 ? 1 : 0),
    name: ALPHABET[next(6)],
    rank: maybe(next(5) / 2),
    bossId: index > 2 ? `author-${next(index)}` : null,
  }))
  const articles = Array.from({ length: 70 }, (_, index): Row => ({
    id: index + 1,
    organizationId: next(5) === 0 ? 2 : 1,
    title: ALPHABET[next(ALPHABET.length)],
    status: ['draft', 'live', 'live', 'hidden'][next(4)],
    views: maybe(next(5)),
    score: maybe(next(7) / 4 - 0.5),
    price: maybe(String(next(12) / 4)),
    serial: maybe(9_007_199_254_740_990n + BigInt(next(9))),
    pinned: maybe(next(2) === 1),
    at: maybe(new Date(Date.UTC(2026, 0, 1 + next(4), 0, 0, next(2), next(3)))),
    meta: maybe({ n: next(3) }),
    raw: maybe(Buffer.from([next(3)])),
    authorId: maybe(`author-${next(9)}`),
    secret: `secret ${next(3)}`,
    salary: next(9),
    deletedAt: next(8) === 0 ? new Date(Date.UTC(2026, 1, 1)) : null,
  }))
  const labels = Array.from({ length: 7 }, (_, index): Row => ({ id: index + 1, name: ALPHABET[next(4)] }))
  const pairs = new Set(Array.from({ length: 150 }, () => `${1 + next(70)},${1 + next(7)}`))
  const articleLabels = [...pairs].map((pair): Row => ({ articleId: Number(pair.split(',')[0]), labelId: Number(pair.split(',')[1]) }))
  const notes = articles.flatMap(({ id }) =>
    Array.from({ length: next(6) }, (_, index): Row => ({ articleId: id, no: index + 1, body: maybe(ALPHABET[next(4)]) })),
  )
  const replies = notes
    .flatMap(({ articleId, no }) => (next(2) ? [{ articleId, noteNo: no, text: ALPHABET[next(4)] }] : []))
    .map((reply, index): Row => ({ id: index + 1, ...reply }))
  return { authors, articles, labels, articleLabels, notes, replies }
}

const open = { permissions: { read: true as const } }

function registrations(): ResourceRegistration[] {
  return [
    {
      name: 'articles',
      schema: articles,
      hiddenFields: ['secret'],
      authorization: {
        ...open,
        fields: { salary: { read: false } },
        listFilter: () => or(ne(articles.status, 'hidden'), eq(articles.authorId, 'author-0')),
      } as ResourceRegistration['authorization'],
    },
    { name: 'authors', schema: authors, authorization: open },
    { name: 'labels', schema: labels, authorization: open },
    { name: 'notes', schema: notes, authorization: { ...open, objectLevel: row => (row as Row).no !== 2 } },
    { name: 'replies', schema: replies, authorization: open },
  ]
}

export interface ArticlesServer {
  readonly rows: Rows
  readonly server: TestServer
  readonly client: Database.Database
}

export async function openArticlesServer(config: Partial<AutoApiConfig> = {}): Promise<ArticlesServer> {
  const rows = createRows()
  const client = new Database(':memory:')
  client.exec(`
    create table authors (id text primary key, organization_id integer not null, name text not null, rank real, boss_id text references authors(id));
    create table articles (id integer primary key autoincrement, organization_id integer not null, title text not null, status text not null, views integer, score real,
      price numeric, serial numeric, pinned integer, at integer, meta text, raw blob, author_id text references authors(id), secret text, salary integer, deleted_at integer);
    create table labels (id integer primary key, name text not null);
    create table article_labels (article_id integer not null references articles(id), label_id integer not null references labels(id), primary key (article_id, label_id));
    create table notes (article_id integer not null references articles(id), no integer not null, body text, primary key (article_id, no));
    create table replies (id integer primary key, article_id integer not null, note_no integer not null, text text not null, foreign key (article_id, note_no) references notes(article_id, no));
  `)
  const db = drizzle({ client })
  const tables = { authors, articles, labels, articleLabels, notes, replies }
  for (const [name, table] of Object.entries(tables)) db.insert(table as never).values(rows[name as keyof Rows] as never).run()
  const server = await createServer({
    db,
    registrations: registrations(),
    modules: [tables],
    config: {
      multiTenancy: {
        enabled: true,
        tenantIdField: 'organizationId',
        userTenantField: 'organizationId',
        scopedResources: '*',
        excludedResources: [],
      },
      ...config,
    },
  })
  return { rows, server, client }
}
