/** A board with every kind of rule and relation, opened as several servers on one database: with a response cache, and without. */
import Database from 'better-sqlite3'
import { eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { AutoApiContext, ResourceAuth } from '../../../src/runtime/server/registration'
import { responseCache, type ResponseCacheOptions } from '../../../src/runtime/plugins'
import { createServer, type ServerOptions, type TestServer } from '../../support/server'

export const teams = sqliteTable('teams', { id: integer('id').primaryKey(), name: text('name').notNull() })
export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  secret: text('secret'),
  score: integer('score').notNull().default(0),
  organizationId: text('organization_id').notNull(),
  teamId: integer('team_id').references(() => teams.id),
  deletedAt: integer('deleted_at', { mode: 'timestamp' }),
  deletionId: text('deletion_id'),
})
export const comments = sqliteTable('comments', {
  id: integer('id').primaryKey(),
  text: text('text').notNull(),
  postId: integer('post_id').notNull().references(() => posts.id),
  deletedAt: integer('deleted_at', { mode: 'timestamp' }),
  deletionId: text('deletion_id'),
})
/** Children of posts that no rule connects with posts: only a cascade changes them together. */
export const notes = sqliteTable('notes', {
  id: integer('id').primaryKey(),
  text: text('text').notNull(),
  postId: integer('post_id').notNull().references(() => posts.id),
  deletedAt: integer('deleted_at', { mode: 'timestamp' }),
  deletionId: text('deletion_id'),
})
export const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
export const postTags = sqliteTable('post_tags', {
  postId: integer('post_id').notNull().references(() => posts.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
}, t => [primaryKey({ columns: [t.postId, t.tagId] })])
/** Who can see the comments of a team. A rule of comments reads it in code. */
export const members = sqliteTable('members', {
  id: integer('id').primaryKey(),
  userId: integer('user_id').notNull(),
  teamId: integer('team_id').notNull(),
})

const TABLES = { teams, posts, comments, notes, tags, postTags, members }

export interface Board {
  readonly client: Database.Database
  /** The statements that ran, the oldest first. */
  readonly statements: string[]
  /** Replaces all rows by those of the start, behind the API's back. */
  readonly reset: () => void
  readonly open: (cache?: ResponseCacheOptions | false, options?: Partial<ServerOptions>) => Promise<TestServer>
}

const member = (ctx: AutoApiContext) => ctx.user !== null

export function createBoard(): Board {
  const client = new Database(':memory:')
  client.exec(`
    create table teams (id integer primary key, name text not null);
    create table posts (id integer primary key, title text not null, secret text, score integer not null default 0, organization_id text not null, team_id integer references teams(id), deleted_at integer, deletion_id text);
    create table comments (id integer primary key, text text not null, post_id integer not null references posts(id), deleted_at integer, deletion_id text);
    create table notes (id integer primary key, text text not null, post_id integer not null references posts(id), deleted_at integer, deletion_id text);
    create table tags (id integer primary key, name text not null);
    create table post_tags (post_id integer not null references posts(id), tag_id integer not null references tags(id), primary key (post_id, tag_id));
    create table members (id integer primary key, user_id integer not null, team_id integer not null);
  `)
  const reset = () =>
    void client.exec(`
    delete from post_tags; delete from comments; delete from notes; delete from posts; delete from members; delete from tags; delete from teams;
    insert into teams values (1, 'red'), (2, 'blue');
    insert into posts (id, title, secret, organization_id, team_id) values (1, 'first', 's1', 'acme', 1), (2, 'second', 's2', 'acme', 2), (3, 'third', 's3', 'globex', 1);
    insert into comments (id, text, post_id) values (1, 'one', 1), (2, 'two', 1), (3, 'three', 2);
    insert into notes (id, text, post_id) values (1, 'one', 1), (2, 'two', 2), (3, 'three', 3);
    insert into tags values (1, 'red'), (2, 'blue'), (3, 'green');
    insert into post_tags values (1, 1), (1, 2), (2, 1);
    insert into members values (1, 1, 1), (2, 2, 2);
  `)
  reset()
  const statements: string[] = []
  const db = drizzle({ client, logger: { logQuery: text => void statements.push(text) } })
  const everything = { read: true, create: member, update: member, delete: member, aggregate: true }
  const authorization: Record<string, ResourceAuth> = {
    teams: { permissions: everything },
    posts: {
      permissions: { ...everything, viewDeleted: 'staff' },
      fields: { secret: { read: ctx => ctx.user?.role === 'editor' } },
    } as ResourceAuth,
    comments: {
      permissions: everything,
      // Depends on a registered table that no statement of the request names.
      listFilter: async (table, ctx) => {
        const rows = await db.select().from(members).where(eq(members.userId, Number(ctx.user?.id ?? 0)))
        const visible = rows.map(({ teamId }) => teamId)
        return sql`exists (select 1 from ${posts} p where p.id = ${(table as typeof comments).postId} and (p.score > 5 or p.team_id in (${sql.join(
          [...visible, 0].map(id => sql`${id}`),
          sql`, `,
        )})))`
      },
    },
    notes: { permissions: everything },
    tags: { permissions: { ...everything, read: ['reader', 'editor'] }, objectLevel: row => (row as { name: string }).name !== 'hidden' },
    members: { permissions: { ...everything, read: 'staff' } },
  }
  return {
    client,
    statements,
    reset,
    open: (cache = {}, options = {}) =>
      createServer({
        db,
        modules: [TABLES],
        registrations: Object.entries(authorization).map(([name, authorization]) => ({
          name,
          schema: TABLES[name as keyof typeof TABLES],
          authorization,
        })),
        config: { multiTenancy: DEFAULT_MULTI_TENANCY, filters: { extended: true } },
        ...options,
        plugins: [...(options.plugins ?? []), ...(cache ? [responseCache(cache)] : [])],
      }),
  }
}

export const user = (id: number, organizationId = 'acme', role = 'writer', permissions: string[] = ['reader']) => ({
  user: { id, organizationId, role },
  permissions,
})
export const ANN = user(1)
export const EDITOR = user(2, 'acme', 'editor')
export const STAFF = user(3, 'acme', 'editor', ['reader', 'staff'])
