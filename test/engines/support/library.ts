/** A hundred thousand posts and as many comments, analysed, on SQLite and Postgres: enough for a planner to have an opinion. */
import { integer as pgInteger, pgTable, serial, text as pgText, timestamp, type AnyPgColumn } from 'drizzle-orm/pg-core'
import { integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { createServer, type TestServer } from '../../support/server'
import type { EngineCase, Opened } from './databases'

function sqliteLibrary() {
  const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
  const posts = sqliteTable('posts', {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    createdAt: integer('created_at', { mode: 'timestamp_ms' }).notNull(),
    title: text('title').notNull(),
    ...trash(),
  })
  const comments = sqliteTable('comments', {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    postId: integer('post_id').references(() => posts.id),
    parentId: integer('parent_id').references((): AnySQLiteColumn => comments.id),
    body: text('body').notNull(),
    ...trash(),
  })
  return { posts, comments }
}

function postgresLibrary() {
  const trash = () => ({ deletedAt: timestamp('deleted_at', { withTimezone: true }), deletionId: pgText('deletion_id') })
  const posts = pgTable('posts', {
    id: serial('id').primaryKey(),
    organizationId: pgInteger('organization_id').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    title: pgText('title').notNull(),
    ...trash(),
  })
  const comments = pgTable('comments', {
    id: serial('id').primaryKey(),
    organizationId: pgInteger('organization_id').notNull(),
    postId: pgInteger('post_id').references(() => posts.id),
    parentId: pgInteger('parent_id').references((): AnyPgColumn => comments.id),
    body: pgText('body').notNull(),
    ...trash(),
  })
  return { posts, comments }
}

const DIALECTS = {
  sqlite: {
    tables: sqliteLibrary,
    time: 'integer',
    numbers: 'with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 100000)',
    at: (n: string) => `1700000000000 + ${n} * 1000`,
  },
  pg: {
    tables: postgresLibrary,
    time: 'timestamptz',
    numbers: 'with numbers as (select n from generate_series(1, 100000) as n)',
    at: (n: string) => `to_timestamp(1700000000 + ${n})`,
  },
}

/** Every second post is tenant 1's, the others those of a thousand tenants; every post has a comment, every fourth of them a reply. */
const ddl = ({ time, numbers, at }: (typeof DIALECTS)['sqlite']) => `
  create table posts (id integer primary key, organization_id integer not null, created_at ${time} not null, title text not null, deleted_at ${time}, deletion_id text);
  create table comments (id integer primary key, organization_id integer not null, post_id integer references posts(id), parent_id integer references comments(id), body text not null, deleted_at ${time}, deletion_id text);
  ${numbers} insert into posts (id, organization_id, created_at, title) select n, case n % 2 when 0 then 1 else 2 + n % 1000 end, ${at('(n * 7919 % 100000)')}, 'post ' || n from numbers;
  ${numbers} insert into comments (id, organization_id, post_id, parent_id, body) select n, 1, case n % 5 when 0 then null else n end, case n % 5 when 0 then n - 1 end, 'comment ' || n from numbers;
`

export interface Library extends TestServer { readonly opened: Opened }

export async function openLibrary({ dialect, engine, open }: EngineCase): Promise<Library> {
  const made = DIALECTS[dialect as 'sqlite' | 'pg'] as typeof DIALECTS['sqlite']
  const opened = await open()
  await opened.exec(ddl(made))
  const tables = made.tables()
  const permissions = { read: true, create: true, update: true, delete: true } as const
  const server = await createServer({
    db: opened.db,
    engine,
    modules: [tables],
    registrations: Object.entries(tables).map(([name, schema]) => ({ name, schema, authorization: { permissions } })),
    config: {
      multiTenancy: {
        enabled: true,
        tenantIdField: 'organizationId',
        userTenantField: 'organizationId',
        scopedResources: '*',
        excludedResources: [],
      },
    },
  })
  return { ...server, opened }
}
