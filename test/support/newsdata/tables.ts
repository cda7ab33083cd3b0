/** Tables of a newsroom that hold every column type, kind of key and kind of relation, for tests of the query language. */
import { blob, foreignKey, integer, numeric, primaryKey, real, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'

export const authors = sqliteTable('d_authors', {
  id: text('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  name: text('name').notNull(),
  nickname: text('nickname'),
  rating: real('rating'),
  active: integer('active', { mode: 'boolean' }),
  born: integer('born', { mode: 'timestamp_ms' }),
  karma: numeric('karma', { mode: 'bigint' }),
  fee: numeric('fee'),
  bio: text('bio', { mode: 'json' }),
  avatar: blob('avatar', { mode: 'buffer' }),
  mentorId: text('mentor_id').references((): AnySQLiteColumn => authors.id),
  secret: text('secret'),
  salary: integer('salary'),
})

export const sections = sqliteTable('d_sections', {
  desk: text('desk').notNull(),
  number: integer('number').notNull(),
  organizationId: integer('organization_id').notNull(),
  name: text('name'),
  opened: integer('opened', { mode: 'timestamp_ms' }),
}, t => [primaryKey({ columns: [t.desk, t.number] })])

export const articles = sqliteTable('d_articles', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  authorId: text('author_id').references(() => authors.id),
  editorId: text('editor_id').references(() => authors.id),
  ghostId: text('ghost_id').references(() => authors.id),
  reviewerId: text('reviewer_id').references(() => authors.id),
  desk: text('desk'),
  sectionId: integer('section_id'),
  parentId: integer('parent_id').references((): AnySQLiteColumn => articles.id),
  title: text('title').notNull(),
  status: text('status', { enum: ['draft', 'published', 'archived'] }).notNull(),
  words: integer('words'),
  score: real('score'),
  featured: integer('featured', { mode: 'boolean' }),
  publishedAt: integer('published_at', { mode: 'timestamp_ms' }),
  views: numeric('views', { mode: 'bigint' }),
  price: numeric('price'),
  meta: text('meta', { mode: 'json' }),
  cover: blob('cover', { mode: 'buffer' }),
  secret: text('secret'),
  margin: integer('margin'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
}, t => [foreignKey({ columns: [t.desk, t.sectionId], foreignColumns: [sections.desk, sections.number] })])

export const tags = sqliteTable('d_tags', {
  id: integer('id').primaryKey(),
  label: text('label').notNull(),
  weight: integer('weight'),
  since: integer('since', { mode: 'timestamp_ms' }),
  hits: numeric('hits', { mode: 'bigint' }),
  price: numeric('price'),
  ratio: real('ratio'),
  active: integer('active', { mode: 'boolean' }),
})

/** A junction that is no resource. */
export const articleTags = sqliteTable('d_article_tags', {
  articleId: integer('article_id').notNull().references(() => articles.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
}, t => [primaryKey({ columns: [t.articleId, t.tagId] })])

/** A junction that is a resource, with rows of its own to hide. */
export const credits = sqliteTable('d_credits', {
  articleId: integer('article_id').notNull().references(() => articles.id),
  authorId: text('author_id').notNull().references(() => authors.id),
  role: text('role').notNull(),
  share: numeric('share'),
}, t => [primaryKey({ columns: [t.articleId, t.authorId] })])

/** Keys beyond what a double holds, and no column that may be null. */
export const entries = sqliteTable('d_entries', {
  id: numeric('id', { mode: 'bigint' }).primaryKey(),
  parentId: numeric('parent_id', { mode: 'bigint' }).references((): AnySQLiteColumn => entries.id),
  note: text('note').notNull(),
  amount: numeric('amount').notNull(),
  at: integer('at', { mode: 'timestamp_ms' }).notNull(),
  done: integer('done', { mode: 'boolean' }).notNull(),
  ratio: real('ratio').notNull(),
})

export const tables = { authors, sections, articles, tags, articleTags, credits, entries }
