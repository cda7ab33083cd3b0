/** Posts of two organizations on a primary and its replica. The view `seen` tells which of the two servers has read a row. */
import { is } from 'drizzle-orm'
import { boolean as mysqlBoolean, int, MySqlDialect, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import { boolean, integer, pgTable, serial, text } from 'drizzle-orm/pg-core'
import type { DatabaseOptions } from '../../../src/runtime/server/database'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { createServer, type Answered, type Caller, type ServerOptions, type TestServer } from '../../support/server'
import type { Replicated } from './replica'

export const POSTS_SQL = `
  create table posts (id serial primary key, organization_id integer not null, title text not null, version integer not null default 0);
  create table comments (id serial primary key, organization_id integer not null, post_id integer references posts(id), body text not null);
  create view seen as select id, organization_id, title, version, pg_is_in_recovery() as from_replica from posts;
  create view slow as select id, organization_id, title, pg_is_in_recovery() as from_replica from posts where pg_sleep(1.5) is not null;
  insert into posts (organization_id, title) values (1, 'ours'), (2, 'theirs');
  insert into comments (organization_id, post_id, body) values (1, 1, 'a comment');
`

/** A view cannot have a variable of the server, but it can call a function that has one. */
export const MARIADB_POSTS_SQL = `
  create table posts (id integer auto_increment primary key, organization_id integer not null, title varchar(100) not null, version integer not null default 0);
  create table comments (id integer auto_increment primary key, organization_id integer not null, post_id integer, body varchar(100) not null,
    constraint on_post foreign key (post_id) references posts(id));
  create function from_replica() returns boolean reads sql data return @@global.read_only;
  create view seen as select id, organization_id, title, version, from_replica() as from_replica from posts;
  create view slow as select id, organization_id, title, from_replica() as from_replica from posts where sleep(1.5) = 0;
  insert into posts (organization_id, title) values (1, 'ours'), (2, 'theirs');
  insert into comments (organization_id, post_id, body) values (1, 1, 'a comment');
`

const row = () => ({ id: serial('id').primaryKey(), organizationId: integer('organization_id').notNull(), title: text('title').notNull() })

export const posts = pgTable('posts', { ...row(), version: integer('version').notNull().default(0) })
export const comments = pgTable('comments', {
  id: serial('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  postId: integer('post_id').references(() => posts.id),
  body: text('body').notNull(),
})
const seen = pgTable('seen', { ...row(), version: integer('version'), fromReplica: boolean('from_replica') })
const slow = pgTable('slow', { ...row(), fromReplica: boolean('from_replica') })

const ALL = { permissions: { read: true, create: true, update: true, delete: true, aggregate: true } }

export const REGISTRATIONS: readonly ResourceRegistration[] = [
  { name: 'posts', schema: posts, authorization: ALL },
  { name: 'comments', schema: comments, authorization: ALL },
  { name: 'seen', schema: seen, authorization: { permissions: { read: true, aggregate: true } } },
  { name: 'slow', schema: slow, authorization: { permissions: { read: true } } },
]

function mariadbRegistrations(): readonly ResourceRegistration[] {
  const row = () => ({
    id: int('id').autoincrement().primaryKey(),
    organizationId: int('organization_id').notNull(),
    title: varchar('title', { length: 100 }).notNull(),
  })
  const posts = mysqlTable('posts', { ...row(), version: int('version').notNull().default(0) })
  const comments = mysqlTable('comments', {
    id: int('id').autoincrement().primaryKey(),
    organizationId: int('organization_id').notNull(),
    postId: int('post_id').references(() => posts.id),
    body: varchar('body', { length: 100 }).notNull(),
  })
  const seen = mysqlTable('seen', { ...row(), version: int('version'), fromReplica: mysqlBoolean('from_replica') })
  const slow = mysqlTable('slow', { ...row(), fromReplica: mysqlBoolean('from_replica') })
  return REGISTRATIONS.map(registration => ({ ...registration, schema: { posts, comments, seen, slow }[registration.name]! }))
}

const isMysql = (db: object) => is((db as { dialect?: unknown }).dialect, MySqlDialect)

export const OURS: Caller = { user: { id: 1, organizationId: 1 } }
export const THEIRS: Caller = { user: { id: 2, organizationId: 2 } }

export const SECRET = 'a secret of this test'

export const startServer = (
  { primary, replica }: Pick<Replicated, 'primary' | 'replica'>,
  databaseOptions: DatabaseOptions = {},
  options: Partial<ServerOptions> = {},
): Promise<TestServer> =>
  createServer({
    db: primary,
    engine: isMysql(primary) ? 'mysql' : 'postgres',
    // A busy machine can hold back the replica for longer than the default.
    databaseOptions: { replica, maxLag: 60_000, ...databaseOptions },
    secret: SECRET,
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    ...options,
    registrations: [...(isMysql(primary) ? mariadbRegistrations() : REGISTRATIONS), ...(options.registrations ?? [])],
  })

export type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answered>

export interface Client {
  readonly send: Send
  /** The header of the last write. */
  readonly token: () => string | undefined
}

/** Keeps what a browser keeps: cookies. */
export function createBrowser(server: TestServer, caller: Caller = OURS): Client {
  const cookies = new Map<string, string>()
  let token: string | undefined
  return {
    token: () => token,
    async send(method, path, body, headers = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await server.request(method, `/api${path}`, { body, caller, headers: { ...cookie !== '' && { cookie }, ...headers } })
      for (const set of answer.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
        cookies.set(name!, value!)
      }
      token = answer.headers.get('consistency-token') ?? token
      return answer
    },
  }
}

/** Has no cookies, and passes the header on if `keepsToken`. */
export function createScript(server: TestServer, caller: Caller = OURS, keepsToken = true): Client {
  let token: string | undefined
  return {
    token: () => token,
    async send(method, path, body, headers = {}) {
      const answer = await server.request(method, `/api${path}`, {
        body,
        caller,
        headers: { ...(keepsToken && token !== undefined && { 'consistency-token': token }), ...headers },
      })
      token = answer.headers.get('consistency-token') ?? token
      return answer
    },
  }
}
