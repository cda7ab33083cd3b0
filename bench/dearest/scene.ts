/** The tables of the search for the dearest request: 10 000 posts of 1 kB and ten of 1 MB, of authors, with comments and tags. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

const users = sqliteTable('users', { id: integer('id').primaryKey(), name: text('name').notNull() })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(), authorId: integer('author_id').references(() => users.id, { onDelete: 'cascade' }),
  title: text('title').notNull(), body: text('body').notNull(), deletedAt: integer('deleted_at', { mode: 'timestamp' }),
})
const comments = sqliteTable('comments', {
  id: integer('id').primaryKey(),
  postId: integer('post_id').references(() => posts.id, { onDelete: 'cascade' }),
  authorId: integer('author_id').references(() => users.id, { onDelete: 'cascade' }),
  body: text('body').notNull(),
  deletedAt: integer('deleted_at', { mode: 'timestamp' }),
})
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
const postTags = sqliteTable(
  'post_tags',
  {
    postId: integer('post_id')
      .notNull()
      .references(() => posts.id, { onDelete: 'cascade' }),
    tagId: integer('tag_id')
      .notNull()
      .references(() => tags.id, { onDelete: 'cascade' }),
  },
  table => [primaryKey({ columns: [table.postId, table.tagId] })],
)

export const TABLES = { users, posts, comments, tags, postTags }

const DDL = `
  create table users (id integer primary key, name text not null);
  create table posts (id integer primary key, author_id integer references users (id) on delete cascade, title text not null, body text not null, deleted_at integer);
  create table comments (id integer primary key, post_id integer references posts (id) on delete cascade, author_id integer references users (id) on delete cascade, body text not null, deleted_at integer);
  create table tags (id integer primary key, name text not null);
  create table post_tags (post_id integer not null references posts (id) on delete cascade, tag_id integer not null references tags (id) on delete cascade, primary key (post_id, tag_id));
  create index posts_author on posts (author_id);
  create index comments_post on comments (post_id);
  create index comments_author on comments (author_id);
  create index post_tags_tag on post_tags (tag_id);
`

/** Few authors and tags, so that each of them leads to many posts. */
const [USERS, TAGS] = [100, 20]

export function openScene() {
  const client = new Database(':memory:')
  client.exec(DDL)
  const run = (sql: string) => {
    const statement = client.prepare(sql)
    return (...values: unknown[]) => void statement.run(...values)
  }
  client.transaction(() => {
    const [user, post, comment, tag, link] = [
      'users (name) values (?)',
      'posts (author_id, title, body) values (?, ?, ?)',
      'comments (post_id, author_id, body) values (?, ?, ?)',
      'tags (name) values (?)',
      'post_tags values (?, ?)',
    ].map(into => run(`insert into ${into}`)) as [
      ReturnType<typeof run>,
      ReturnType<typeof run>,
      ReturnType<typeof run>,
      ReturnType<typeof run>,
      ReturnType<typeof run>,
    ]
    for (let id = 1; id <= USERS; id++) user(`user ${id}`)
    for (let id = 1; id <= TAGS; id++) tag(`tag ${id}`)
    for (let id = 1; id <= 10_010; id++) {
      post(id % USERS + 1, `post ${id}`, 'a'.repeat(id > 10_000 ? 1_000_000 : 1_000))
      // The first hundred posts have a hundred comments each.
      comment(id > 10_000 ? 1 : Math.ceil(id / 100), id % USERS + 1, 'b'.repeat(1_000))
      link(id, id % TAGS + 1)
      link(id, (id + 7) % TAGS + 1)
    }
  })()
  client.exec('analyze')
  return { client, db: drizzle({ client }) }
}
