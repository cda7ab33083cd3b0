/** A newspaper's desk over SQLite: tenants, trash, junction and secrets, with rules that each test chooses. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ResourceAuth, ResourceRegistration } from '../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../src/runtime/shared/config'
import { DEFAULT_MULTI_TENANCY } from '../../src/runtime/shared/defaults'
import { createServer, type Caller, type ServerOptions, type TestServer } from './server'
import { dumpOf } from './notebook'

const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })

export const writers = sqliteTable('writers', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull(),
  name: text('name').notNull(),
})

export const articles = sqliteTable('articles', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull(),
  writerId: integer('writer_id').references(() => writers.id),
  title: text('title').notNull(),
  slug: text('slug').unique(),
  status: text('status').notNull().default('open'),
  fee: integer('fee'),
  secret: text('secret'),
  ...trash(),
})

export const comments = sqliteTable('comments', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull(),
  articleId: integer('article_id').notNull().references(() => articles.id, { onDelete: 'cascade' }),
  text: text('text').notNull(),
  ...trash(),
})

/** No tenant, no trash. */
export const tags = sqliteTable('tags', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  name: text('name').notNull(),
})

export const articleTags = sqliteTable('article_tags', {
  articleId: integer('article_id').notNull().references(() => articles.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
}, t => [primaryKey({ columns: [t.articleId, t.tagId] })])

/** What refers to an article without letting it go. */
export const invoices = sqliteTable('invoices', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull(),
  articleId: integer('article_id').notNull().references(() => articles.id, { onDelete: 'restrict' }),
})

/** Keys that clients choose. */
export const codes = sqliteTable('codes', {
  code: text('code').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  pin: text('pin').unique(),
})

const tables = { writers, articles, comments, tags, articleTags, invoices, codes }

const DDL = `
  create table writers (id integer primary key autoincrement, organization_id integer not null, name text not null);
  create table articles (
    id integer primary key autoincrement, organization_id integer not null, writer_id integer references writers(id), title text not null, slug text unique,
    status text not null default 'open', fee integer, secret text, deleted_at integer, deletion_id text
  );
  create table comments (
    id integer primary key autoincrement, organization_id integer not null, article_id integer not null references articles(id) on delete cascade,
    text text not null, deleted_at integer, deletion_id text
  );
  create table tags (id integer primary key autoincrement, name text not null);
  create table article_tags (article_id integer not null references articles(id), tag_id integer not null references tags(id), primary key (article_id, tag_id));
  create table invoices (id integer primary key autoincrement, organization_id integer not null, article_id integer not null references articles(id) on delete restrict);
  create table codes (code text primary key, organization_id integer not null, pin text unique);
`

/** Organization 1 has articles 1–4, the last one in the trash; organization 2 has article 11. */
export const ROWS = `
  insert into writers values (1, 1, 'Ann'), (2, 1, 'Bob'), (11, 2, 'Zoe');
  insert into articles (id, organization_id, writer_id, title, slug, status, fee, secret) values
    (1, 1, 1, 'one', 's1', 'open', 10, 'x1'), (2, 1, 2, 'two', 's2', 'open', 20, 'x2'), (3, 1, 1, 'three', 's3', 'done', 30, 'x3'), (11, 2, 11, 'theirs', 's11', 'open', 40, 'x11');
  insert into articles (id, organization_id, title, deleted_at, deletion_id) values (4, 1, 'gone', 1000, 'd4');
  insert into comments (id, organization_id, article_id, text) values (1, 1, 1, 'first'), (2, 1, 1, 'second'), (11, 2, 11, 'theirs');
  insert into tags values (1, 'red'), (2, 'blue');
  insert into article_tags values (1, 1), (2, 1), (11, 1);
`

const everything = { read: true, create: true, update: true, delete: true } as const

export type DeskName = Exclude<keyof typeof tables, 'articleTags'>

export interface DeskOptions extends Pick<ServerOptions, 'endpoints' | 'plugins' | 'server'> {
  /** By resource; everything is allowed where there is no entry, nothing where the entry is `null`. */
  readonly auth?: Partial<Record<DeskName, ResourceAuth | null>>
  readonly hooks?: Partial<Record<DeskName, ResourceRegistration['hooks']>>
  readonly config?: Partial<AutoApiConfig>
  readonly rows?: string
  /** Every statement as it runs. */
  readonly log?: (statement: string) => void
}

export interface Desk extends TestServer {
  readonly client: Database.Database
  readonly dump: () => string
}

export const ANN: Caller = { user: { id: 1, organizationId: 1 } }
export const ZOE: Caller = { user: { id: 11, organizationId: 2 } }
export const CHIEF: Caller = { user: { id: 3, organizationId: 1, permissions: ['*'] } }
export const HOMELESS: Caller = { user: { id: 4 } }
export const NOBODY: Caller = {}
/** Nobody, of a public organization. */
export const VISITOR: Caller = { tenantId: 1 }

export async function openDesk({ auth = {}, hooks = {}, config, rows = ROWS, log, ...options }: DeskOptions = {}): Promise<Desk> {
  const client = new Database(':memory:')
  client.exec(DDL + rows)
  const { articleTags: _, ...registered } = tables
  const registrations = Object.entries(registered).map(([name, schema]) => ({
    name,
    schema,
    ...auth[name as DeskName] !== null && { authorization: auth[name as DeskName] ?? { permissions: everything } },
    hooks: hooks[name as DeskName],
    hiddenFields: { articles: ['secret'], codes: ['pin'] }[name] ?? [],
  }) as ResourceRegistration)
  const server = await createServer({
    registrations,
    modules: [tables],
    db: drizzle({ client, ...log && { logger: { logQuery: log } } }),
    config: { multiTenancy: DEFAULT_MULTI_TENANCY, ...config },
    ...options,
  })
  return { ...server, client, dump: () => dumpOf(client) }
}

/** `200`, or `403 FORBIDDEN`. */
export const told = ({ status, body }: { status: number, body?: { data?: { code?: string } } }) =>
  status < 400 ? String(status) : `${status} ${body?.data?.code ?? ''}`.trim()
