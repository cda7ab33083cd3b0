/** A library for the properties of live updates: every kind of write, and callers who can read different rows, fields and links of it. */
import { and, eq, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { batch, dataExport, live } from '../../../src/runtime/plugins'
import type { LiveOptions } from '../../../src/runtime/plugins/live/options'
import { atomicWrites, reportChanges } from '../../../src/runtime/server/utils'
import type { AutoApiContext, AutoApiPlugin } from '../../../src/runtime/server/define'
import { EVERYTHING, openWorld, type World } from '../../scenarios/write/world'
import type { Caller } from '../../support/server'

const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  slug: text('slug').notNull().unique(),
  title: text('title'),
  team: integer('team').notNull(),
  /** Only editors read it. */
  note: text('note'),
  /** Nobody reads it. */
  secret: text('secret'),
  published: integer('published', { mode: 'boolean' }).notNull().default(true),
  ...trash(),
})
/** The API moves them to the trash with their post, and the database deletes them with it. */
export const comments = sqliteTable('comments', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').references(() => posts.id, { onDelete: 'cascade' }),
  text: text('text'),
  ...trash(),
})
/** The database clears a reference that only editors read. */
export const likes = sqliteTable('likes', {
  id: integer('id').primaryKey(),
  commentId: integer('comment_id').references(() => comments.id, { onDelete: 'set null' }),
  stars: integer('stars'),
})
export const tags = sqliteTable('tags', { id: text('id').primaryKey(), name: text('name'), hidden: integer('hidden', { mode: 'boolean' }) })
export const postTags = sqliteTable('post_tags', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').notNull().references(() => posts.id, { onDelete: 'cascade' }),
  tagId: text('tag_id').notNull().references(() => tags.id, { onDelete: 'cascade' }),
})
export const people = sqliteTable('people', { id: integer('id').primaryKey(), name: text('name'), team: integer('team') })
/** A registered junction with rows that not everyone reads. */
export const reviews = sqliteTable('reviews', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').notNull().references(() => posts.id, { onDelete: 'cascade' }),
  personId: integer('person_id').notNull().references(() => people.id, { onDelete: 'cascade' }),
  open: integer('open', { mode: 'boolean' }),
  grade: integer('grade'),
})
/** A rule in code decides about each row. */
export const drafts = sqliteTable('drafts', { id: integer('id').primaryKey(), owner: integer('owner').notNull(), text: text('text') })

export const TABLES = { posts, comments, likes, tags, postTags, people, reviews, drafts }
export type Name = Exclude<keyof typeof TABLES, 'postTags'>

export const ADMIN: Caller = { user: { id: 99, team: 1 }, permissions: ['editor', 'admin', 'reviews'] }
export const callers = (): Readonly<Record<string, Caller>> => ({
  editor: { user: { id: 1, team: 1 }, permissions: ['editor', 'reviews'] },
  reader: { user: { id: 2, team: 1 } },
  /** It reads what the reader reads. */
  twin: { user: { id: 4, team: 1 } },
  reviewer: { user: { id: 5, team: 1 }, permissions: ['reviews'] },
  other: { user: { id: 3, team: 2 }, permissions: ['reviews'] },
  anyone: { user: null },
})

export const readableBy = ({ user, permissions = [] }: Caller): readonly Name[] => [
  ...user ? ['posts', 'people', 'drafts'] as const : [], 'comments', 'likes', 'tags', ...permissions.includes('reviews') ? ['reviews'] as const : [],
]

const is = (name: string) => (ctx: { readonly permissions: readonly string[] }) => ctx.permissions.includes(name)
const [isEditor, isAdmin, isReviewer] = [is('editor'), is('admin'), is('reviews')]
const isUser = ({ user }: { readonly user: unknown }) => user !== null

const ROWS = `insert into posts (id, slug, title, team, published) values (1, 'a', 'One', 1, 1), (2, 'b', 'Two', 2, 1), (3, 'c', 'Draft', 1, 0);
  insert into comments (id, post_id, text) values (1, 1, 'first'), (2, 2, 'second'), (3, 1, 'third');
  insert into likes values (1, 1, 5), (2, 3, 1); insert into tags values ('a', 'A', 0), ('b', 'B', 1), ('c', 'C', 0);
  insert into post_tags values (1, 1, 'a'), (2, 1, 'b'); insert into people values (1, 'Ada', 1), (2, 'Bob', 2);
  insert into reviews values (1, 1, 1, 1, 3), (2, 1, 2, 0, 4); insert into drafts values (1, 2, 'mine'), (2, 3, 'theirs')`

export interface CustomWrite {
  readonly id: number
  readonly column: 'title' | 'note' | 'secret' | 'team' | 'id'
  readonly value: string | number
}

/** Custom code that writes a post by a statement of its own. */
const custom: AutoApiPlugin = {
  name: 'custom',
  routes: [{
    method: 'GET',
    path: '/custom',
    handler: async (ctx: AutoApiContext) => {
      const { id, column, value } = JSON.parse(String(ctx.query.write)) as CustomWrite
      type Db = { update: (table: typeof posts) => { set: (values: object) => { where: (where: unknown) => unknown } } }
      await atomicWrites(ctx, [
        ((db: Db) => db.update(posts).set(column === 'id' ? { id: posts.id } : { [column]: value }).where(eq(posts.id, id))) as never,
        reportChanges(ctx, [{ resource: 'posts', kind: 'update', id }]),
      ])
      return { status: 200, body: {} }
    },
  }],
} as unknown as AutoApiPlugin

export function openLibrary(options: LiveOptions = {}, plugins: readonly unknown[] = []): Promise<World> {
  return openWorld({
    tables: TABLES,
    resources: {
      posts: {
        authorization: {
          permissions: { ...EVERYTHING, read: isUser },
          listFilter: (table, ctx) => {
            const { team, published } = table as typeof posts
            if (isAdmin(ctx)) return undefined
            return isEditor(ctx) ? eq(team, Number(ctx.user!.team)) : and(eq(team, Number(ctx.user?.team ?? 0)), eq(published, true))
          },
          fields: { note: { read: 'editor', write: true } } as never,
        },
        hiddenFields: ['secret'],
        nested: { comments: ['create', 'update', 'delete'] },
      },
      likes: {
        authorization: {
          permissions: EVERYTHING,
          listFilter: (table, ctx) => isEditor(ctx) ? undefined : sql`${(table as typeof likes).stars} > 1`,
          fields: { commentId: { read: 'editor', write: true } } as never,
        },
      },
      tags: {
        authorization: {
          permissions: EVERYTHING,
          listFilter: (table, ctx) => isEditor(ctx) ? undefined : sql`coalesce(${(table as typeof tags).hidden}, 0) = 0`,
        },
      },
      people: {
        authorization: {
          permissions: { ...EVERYTHING, read: isUser },
          listFilter: (table, ctx) => isAdmin(ctx) ? undefined : eq((table as typeof people).team, Number(ctx.user?.team ?? 0)),
        },
      },
      reviews: {
        authorization: {
          permissions: { ...EVERYTHING, read: isReviewer },
          listFilter: (table, ctx) => isEditor(ctx) ? undefined : eq((table as typeof reviews).open, true),
          fields: { grade: { read: 'editor', write: true } } as never,
        },
      },
      postTags: false,
      drafts: {
        authorization: {
          permissions: { ...EVERYTHING, read: isUser },
          objectLevel: (row, ctx) => isAdmin(ctx) || (row as { owner: number }).owner === ctx.user?.id,
        },
      },
    },
    rows: ROWS,
    config: {
      m2m: { autoDetect: true, relations: { postTags: ['posts', 'tags'], reviews: ['posts', 'people'] } },
      bulk: { enabled: true, maxBatchSize: 100, transactional: true },
    } as never,
    plugins: [live({ maxStreams: 1_000_000, maxStreamsPerCaller: 1_000_000, ...options }), batch(), dataExport(), custom, ...plugins],
  })
}
