/** A small magazine over SQLite, with fields and relations that some callers cannot use. Every rule is by permission. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { blob, integer, numeric, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import type { ResourceRegistration } from '../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../src/runtime/shared/defaults'
import type { ApiDescription } from '../../src/runtime/shared/types/description'
import { createServer, type Caller, type ServerOptions, type TestServer } from './server'

export const people = sqliteTable('tbl_people', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  name: text('name').notNull(),
  salary: integer('salary'),
  passwordHash: text('password_hash'),
})

export const stories = sqliteTable('tbl_stories', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  organizationId: integer('organization_id').notNull(),
  authorId: integer('author_id').references(() => people.id),
  reviewerId: integer('reviewer_id').references(() => people.id),
  title: text('title', { length: 80 }).notNull(),
  status: text('status', { enum: ['draft', 'published'] }).notNull().default('draft'),
  words: integer('words').notNull(),
  rating: real('rating'),
  price: numeric('price'),
  size: blob('size', { mode: 'bigint' }),
  meta: text('meta', { mode: 'json' }),
  cover: blob('cover', { mode: 'buffer' }),
  featured: integer('featured', { mode: 'boolean' }),
  publishedAt: integer('published_at', { mode: 'timestamp_ms' }),
  margin: integer('margin'),
  note: text('note'),
  secret: text('secret'),
  createdAt: integer('created_at', { mode: 'timestamp_ms' }).notNull(),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletedReason: text('deleted_reason'),
})

export const topics = sqliteTable('tbl_topics', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
})

export const storyTopics = sqliteTable('tbl_story_topics', {
  storyId: integer('story_id').notNull().references(() => stories.id),
  topicId: integer('topic_id').notNull().references(() => topics.id),
}, table => [primaryKey({ columns: [table.storyId, table.topicId] })])

/** Nobody but a bookkeeper can read them. */
export const invoices = sqliteTable('tbl_invoices', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  storyId: integer('story_id').notNull().references(() => stories.id),
  amount: integer('amount').notNull(),
})

/** A form that anonymous callers send. Its own schema renames a column. */
export const letters = sqliteTable('tbl_letters', {
  id: integer('id').primaryKey(),
  email: text('email').notNull(),
  text: text('text').notNull(),
  arrivedAt: integer('arrived_at', { mode: 'timestamp_ms' }),
  spamScore: integer('spam_score'),
})

const DDL = `
  create table tbl_people (id integer primary key, organization_id integer not null, name text not null, salary integer, password_hash text);
  create table tbl_stories (
    id integer primary key autoincrement, organization_id integer not null, author_id integer references tbl_people, reviewer_id integer references tbl_people, title text not null,
    status text not null default 'draft', words integer not null, rating real, price numeric, size blob, meta text, cover blob, featured integer, published_at integer, margin integer, note text,
    secret text, created_at integer not null, deleted_at integer, deleted_reason text
  );
  create table tbl_topics (id integer primary key, name text not null);
  create table tbl_story_topics (story_id integer not null references tbl_stories, topic_id integer not null references tbl_topics, primary key (story_id, topic_id));
  create table tbl_invoices (id integer primary key, organization_id integer not null, story_id integer not null references tbl_stories, amount integer not null);
  create table tbl_letters (id integer primary key, email text not null, text text not null, arrived_at integer, spam_score integer);
  insert into tbl_people values (1, 1, 'Ann', 10, 'x'), (2, 2, 'Zoe', 20, 'y');
  insert into tbl_stories (id, organization_id, author_id, title, words, created_at) values (1, 1, 1, 'One', 10, 0), (2, 2, 2, 'Elsewhere', 10, 0);
  insert into tbl_topics values (1, 'Sport');
  insert into tbl_story_topics values (1, 1);
  insert into tbl_invoices values (1, 1, 1, 100);
`

export const letterSchema = z.object({
  from: z.email(),
  text: z.string().max(500),
  arrivedAt: z.coerce.date().optional(),
  spamScore: z.number().default(0),
}).transform(({ from, ...rest }) => ({ email: from, ...rest }))

const create = { create: letterSchema }

export const registrations: ResourceRegistration[] = [
  {
    name: 'people',
    schema: people,
    hiddenFields: ['passwordHash'],
    authorization: { permissions: { read: 'staff', update: 'staff' }, fields: { salary: { read: 'hr', write: 'hr' } } },
  },
  {
    name: 'stories',
    schema: stories,
    hiddenFields: ['secret'],
    metadata: {
      label: 'Articles',
      icon: 'newspaper',
      fields: { title: { label: 'Headline', width: 3 }, margin: { hint: 'for hr' }, secret: { hint: 'for nobody' } },
    },
    authorization: {
      permissions: { read: true, create: 'staff', update: 'staff', delete: 'chief', purge: false },
      fields: { margin: { read: 'hr', write: 'hr' }, reviewerId: { read: 'hr' }, note: { read: false }, words: { write: 'chief' } },
      softDelete: { retentionDays: 30 },
    },
  },
  { name: 'topics', schema: topics, authorization: { permissions: { read: true } } },
  { name: 'invoices', schema: invoices, authorization: { permissions: { read: 'books' } } },
  {
    name: 'letters',
    schema: letters,
    validation: create,
    protectedFields: ['spamScore'],
    authorization: { permissions: { create: true, read: 'staff' } },
  },
  { name: 'locked', schema: topics },
] as ResourceRegistration[]

export const NOBODY: Caller = { tenantId: 1 }
export const HOMELESS: Caller = {}
export const CLERK: Caller = { user: { id: 1, organizationId: 1 }, permissions: ['staff'] }
export const CHIEF: Caller = { user: { id: 1, organizationId: 1 }, permissions: ['staff', 'chief', 'hr', 'books'] }
export const ROOT: Caller = { user: { id: 1, organizationId: 1 }, permissions: ['*'] }
export const CALLERS = { NOBODY, HOMELESS, CLERK, CHIEF, ROOT } as const

export interface Magazine extends TestServer {
  readonly describe: (caller: Caller) => Promise<ApiDescription>
  readonly client: Database.Database
}

export async function openMagazine(options: Partial<ServerOptions> = {}): Promise<Magazine> {
  const client = new Database(':memory:')
  client.exec(DDL)
  const server = await createServer({
    registrations,
    modules: [{ people, stories, topics, storyTopics, invoices, letters }],
    db: drizzle({ client }),
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    ...options,
  })
  return {
    ...server,
    client,
    async describe(caller) {
      const { status, body } = await server.request('GET', '/api/_schema', { caller })
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body as ApiDescription
    },
  }
}
