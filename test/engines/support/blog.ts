/** Posts, comments on them and replies to these, with tags: the tables of the model's writes, in each dialect. */
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { datetime, int, mysqlTable, primaryKey as mysqlKey, varchar, type AnyMySqlColumn } from 'drizzle-orm/mysql-core'
import {
  integer as pgInteger,
  pgTable,
  primaryKey as pgKey,
  serial,
  text as pgText,
  timestamp,
  type AnyPgColumn,
} from 'drizzle-orm/pg-core'
import { integer, primaryKey, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import type { ResourceHooks, ResourceRegistration } from '../../../src/runtime/server/registration'
import { createServer, type ServerOptions, type TestServer } from '../../support/server'
import type { EngineCase, Opened, OpenOptions } from './databases'

function sqliteBlog() {
  const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
  const posts = sqliteTable('posts', {
    id: integer('id').primaryKey({ autoIncrement: true }),
    organizationId: integer('organization_id').notNull(),
    title: text('title').notNull().unique(),
    ...trash(),
  })
  const comments = sqliteTable('comments', {
    id: integer('id').primaryKey({ autoIncrement: true }),
    organizationId: integer('organization_id').notNull(),
    postId: integer('post_id').references(() => posts.id),
    parentId: integer('parent_id').references((): AnySQLiteColumn => comments.id),
    body: text('body').notNull(),
    ...trash(),
  })
  const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
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
    t => [primaryKey({ columns: [t.postId, t.tagId] })],
  )
  return { posts, comments, tags, postTags }
}

function postgresBlog() {
  const trash = () => ({ deletedAt: timestamp('deleted_at', { withTimezone: true }), deletionId: pgText('deletion_id') })
  const posts = pgTable('posts', {
    id: serial('id').primaryKey(),
    organizationId: pgInteger('organization_id').notNull(),
    title: pgText('title').notNull().unique(),
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
  const tags = pgTable('tags', { id: pgInteger('id').primaryKey(), name: pgText('name').notNull() })
  const postTags = pgTable(
    'post_tags',
    {
      postId: pgInteger('post_id')
        .notNull()
        .references(() => posts.id),
      tagId: pgInteger('tag_id')
        .notNull()
        .references(() => tags.id),
    },
    t => [pgKey({ columns: [t.postId, t.tagId] })],
  )
  return { posts, comments, tags, postTags }
}

function mysqlBlog() {
  const trash = () => ({ deletedAt: datetime('deleted_at', { fsp: 3 }), deletionId: varchar('deletion_id', { length: 36 }) })
  const posts = mysqlTable('posts', {
    id: int('id').autoincrement().primaryKey(),
    organizationId: int('organization_id').notNull(),
    title: varchar('title', { length: 100 }).notNull().unique(),
    ...trash(),
  })
  const comments = mysqlTable('comments', {
    id: int('id').autoincrement().primaryKey(),
    organizationId: int('organization_id').notNull(),
    postId: int('post_id').references(() => posts.id),
    parentId: int('parent_id').references((): AnyMySqlColumn => comments.id),
    body: varchar('body', { length: 100 }).notNull(),
    ...trash(),
  })
  const tags = mysqlTable('tags', { id: int('id').primaryKey(), name: varchar('name', { length: 100 }).notNull() })
  const postTags = mysqlTable(
    'post_tags',
    {
      postId: int('post_id')
        .notNull()
        .references(() => posts.id),
      tagId: int('tag_id')
        .notNull()
        .references(() => tags.id),
    },
    t => [mysqlKey({ columns: [t.postId, t.tagId] })],
  )
  return { posts, comments, tags, postTags }
}

const BLOGS = { sqlite: sqliteBlog, pg: postgresBlog, mysql: mysqlBlog }

const TYPES: Readonly<Record<Dialect, { id: string, time: string }>> = {
  sqlite: { id: 'integer primary key autoincrement', time: 'integer' },
  pg: { id: 'serial primary key', time: 'timestamptz' },
  mysql: { id: 'integer auto_increment primary key', time: 'datetime(3)' },
}

export function ddl(dialect: Dialect): string {
  const { id, time } = TYPES[dialect]
  return `
    create table posts (id ${id}, organization_id integer not null, title varchar(100) not null unique, deleted_at ${time}, deletion_id varchar(36));
    create table comments (id ${id}, organization_id integer not null, post_id integer, parent_id integer, body varchar(100) not null, deleted_at ${time}, deletion_id varchar(36),
      constraint on_post foreign key (post_id) references posts(id), constraint on_comment foreign key (parent_id) references comments(id));
    create table tags (id integer primary key, name varchar(100) not null);
    create table post_tags (post_id integer not null, tag_id integer not null, primary key (post_id, tag_id),
      constraint of_post foreign key (post_id) references posts(id), constraint of_tag foreign key (tag_id) references tags(id));
    insert into tags values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e');
  `
}

/** What the app around the tables adds to them. */
export interface BlogOptions extends OpenOptions {
  readonly hooks?: Readonly<Record<string, ResourceHooks>>
  /** By resource, beside the permissions. */
  readonly rules?: Readonly<Record<string, Partial<NonNullable<ResourceRegistration['authorization']>>>>
  readonly plugins?: readonly unknown[]
  readonly nested?: Readonly<Record<string, NonNullable<ResourceRegistration['nested']>>>
  readonly endpoints?: (tables: ReturnType<typeof sqliteBlog>) => ReturnType<NonNullable<ServerOptions['endpoints']>>
}

/** As far as these tests go the dialects' tables and builders are of one kind. */
export type BlogDatabase = LibSQLDatabase

/** A time of deletion. */
export const TIMES: Readonly<Record<Dialect, string>> = { sqlite: '1000', pg: 'now()', mysql: 'now(3)' }

export const CLEAR = 'delete from post_tags; update comments set parent_id = null; delete from comments; delete from posts'

export interface Blog extends TestServer { readonly opened: Opened }

export async function openBlog(engineCase: EngineCase, options: BlogOptions = {}): Promise<Blog> {
  const opened = await engineCase.open(options)
  await opened.exec(ddl(engineCase.dialect))
  return serveBlog(engineCase, opened, options)
}

/** Serves a database that has the tables. */
export async function serveBlog(
  { dialect, engine }: Pick<EngineCase, 'dialect' | 'engine'>,
  opened: Opened,
  { hooks = {}, rules = {}, nested = {}, plugins, endpoints }: BlogOptions = {},
): Promise<Blog> {
  const tables = BLOGS[dialect]()
  const { posts, comments, tags } = tables
  const permissions = { read: true as const, create: 'write', update: 'write', delete: 'write' }
  const server = await createServer({
    db: opened.db,
    engine,
    modules: [tables],
    registrations: Object.entries({ posts, comments, tags }).map(([name, schema]) => ({
      name,
      schema,
      authorization: { permissions, ...rules[name] },
      hooks: hooks[name],
      ...nested[name] && { nested: nested[name] },
    })),
    plugins,
    endpoints: endpoints && (() => endpoints(tables as never)),
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
