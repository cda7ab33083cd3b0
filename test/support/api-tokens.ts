/** An API with tokens over two organizations, on a SQLite database in memory. Users are rows that a test can change. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { eq, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { apiTokens as apiTokensPlugin, type ApiTokensOptions } from '../../src/runtime/plugins'
import type { AutoApiContext, ResourceAuth } from '../../src/runtime/server/define'
import type { ResourceRegistration } from '../../src/runtime/server/registration'
import { apiTokensTable, softDelete } from '../../src/runtime/plugins/schema-sqlite'
import { DEFAULT_MULTI_TENANCY } from '../../src/runtime/shared/defaults'
import { createServer, type Answered, type Caller, type ServerOptions, type TestServer } from './server'

export const apiTokens = apiTokensTable()
export const users = sqliteTable('users', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  role: text('role').notNull(),
  permissions: text('permissions', { mode: 'json' }).$type<string[]>().notNull(),
  banned: integer('banned', { mode: 'boolean' }).notNull().default(false),
})
export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull(),
  authorId: integer('author_id'),
  title: text('title').notNull(),
  secret: text('secret'),
  ...softDelete(),
})
export const notes = sqliteTable('notes', { id: integer('id').primaryKey({ autoIncrement: true }), body: text('body').notNull() })

export const TOKENS_SQL = `create table api_tokens (id text primary key, name text not null, user_id text not null, organization_id text, scopes text, start text not null,
  token_hash text not null unique, previous_hash text unique, previous_until integer, expires_at integer, last_used_at integer, created_at integer not null, updated_at integer not null,
  deleted_at integer, deleted_by text, deletion_id text);`
const SCHEMA = `${TOKENS_SQL}
create table users (id integer primary key, organization_id integer not null, role text not null, permissions text not null, banned integer not null default 0);
create table posts (id integer primary key autoincrement, organization_id integer not null, author_id integer, title text not null, secret text, deleted_at integer, deleted_by integer, deletion_id text, deleted_reason text);
create table notes (id integer primary key autoincrement, body text not null);
insert into users values (1, 1, 'editor', '["posts:read","posts.write","tokens"]', 0), (2, 1, 'writer', '["posts:read","tokens"]', 0), (3, 2, 'editor', '["posts:read","posts.write","tokens"]', 0), (4, 1, 'admin', '["*"]', 0);
insert into posts (organization_id, author_id, title, secret) values (1, 1, 'first', 's1'), (1, 2, 'second', 's2'), (2, 3, 'third', 's3');
insert into notes (body) values ('public');`

/** Everybody with the permission `tokens` has tokens. */
export const TOKENS_AUTH: ResourceAuth = {
  permissions: { read: 'tokens', create: 'tokens', update: 'tokens', delete: 'tokens' },
}

export interface TokenApi {
  readonly server: TestServer
  readonly client: Database.Database
  /** The caller of a session, with the current rights of the user. */
  readonly session: (id: number) => Caller
  /** Sends a request with a token and, unless `caller` is set, without a session. */
  readonly ask: (
    token: string,
    method: string,
    path: string,
    options?: { body?: unknown, headers?: Record<string, string>, caller?: Caller },
  ) => Promise<Answered>
  /** Makes a token as the user. */
  readonly make: (userId: number, body?: object) => Promise<{ id: string, token: string } & Record<string, unknown>>
  /** The statements since the last call. */
  readonly statements: () => string[]
  /** Closes the database after the writes that follow the responses. */
  readonly close: () => Promise<void>
}

export interface TokenApiOptions extends Partial<Omit<ServerOptions, 'plugins'>> {
  readonly options?: Partial<ApiTokensOptions>
  readonly auth?: Partial<Record<'apiTokens' | 'posts' | 'notes' | 'users', ResourceAuth>>
  readonly plugins?: readonly unknown[]
  /** SQL that runs before the server starts. */
  readonly before?: string
  /** The database of another server: a second instance of the same app. */
  readonly client?: Database.Database
}

/** Until the writes that follow the responses are done. */
export const settle = () => new Promise<void>(resolve => setImmediate(() => setTimeout(resolve, 2)))

export async function openTokenApi({
  options,
  auth = {},
  plugins = [],
  registrations = [],
  config,
  client: shared,
  before = '',
  ...server
}: TokenApiOptions = {}): Promise<TokenApi> {
  const client = shared ?? new Database(':memory:')
  if (!shared) client.exec(SCHEMA + before)
  const log: string[] = []
  const db = drizzle({ client, logger: { logQuery: text => void log.push(text) } })
  const users_ = () => drizzle({ client })
  const findUser = (userId: string) => {
    const [user] = users_()
      .select()
      .from(users)
      .where(eq(users.id, Number(userId)))
      .all()
    return user && !user.banned ? user : null
  }
  const own: ResourceRegistration[] = [
    { name: 'apiTokens', schema: apiTokens, authorization: auth.apiTokens ?? TOKENS_AUTH },
    { name: 'users', schema: users, authorization: auth.users ?? { permissions: { read: 'users' } } },
    {
      name: 'posts',
      schema: posts,
      authorization: auth.posts ?? {
        permissions: {
          read: 'posts:read',
          create: 'posts.write',
          update: ['editor', (ctx: AutoApiContext) => ctx.user?.role === 'writer'],
          delete: 'editor',
        },
        fields: { secret: { read: 'editor' } },
        listFilter: (table, ctx) =>
          ctx.user?.role === 'editor' || ctx.permissions.includes('*')
            ? undefined
            : sql`${(table as typeof posts).authorId} = ${ctx.user?.id}`,
      },
    },
    {
      name: 'notes',
      schema: notes,
      authorization: auth.notes ?? { permissions: { read: true, create: true, update: ctx => ctx.user !== null } },
    },
  ]
  const created = await createServer({
    db,
    registrations: [...own, ...registrations],
    config: { multiTenancy: DEFAULT_MULTI_TENANCY, ...config },
    plugins: [apiTokensPlugin({ findUser, ...options } as ApiTokensOptions), ...plugins],
    ...server,
  })
  const session = (id: number): Caller => {
    const user = findUser(String(id))
    return user ? { user, permissions: user.permissions } : {}
  }
  log.length = 0
  return {
    server: created,
    client,
    session,
    ask: (token, method, path, { headers, ...rest } = {}) =>
      created.request(method, path, { ...rest, headers: { authorization: `Bearer ${token}`, ...headers } }),
    async make(userId, body = {}) {
      const { status, body: record } = await created.request('POST', '/api/apiTokens', {
        caller: session(userId),
        body: { name: 'a token', ...body },
      })
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(record)}`)
      return record
    },
    statements: () => log.splice(0),
    async close() {
      await settle()
      await created.stop()
      client.close()
    },
  }
}
