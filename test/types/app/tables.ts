/** One column of every kind that differs on the wire, and every kind of relation. */
import { count, eq, sql } from 'drizzle-orm'
import { bigint, boolean, integer, json, jsonb, numeric, pgTable, pgView, primaryKey, serial, text, timestamp } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import type { AutoApiStoredFile } from '../../support/composables'
import { computed } from '../../../src/runtime/server/computed'
import { apiTokensTable, webhookDeliveriesTable, webhooksTable } from '../../../src/runtime/plugins/schema-pg'

export const writers = pgTable('writers', {
  id: serial('id').primaryKey(),
  name: text('name').notNull(),
  secret: text('secret'),
})

export const articles = pgTable('articles', {
  id: serial('id').primaryKey(),
  writerId: integer('writer_id').references(() => writers.id),
  title: text('title').notNull(),
  status: text('status', { enum: ['draft', 'published'] }).notNull().default('draft'),
  featured: boolean('featured').notNull().default(false),
  views: integer('views').notNull().default(0),
  reads: bigint('reads', { mode: 'bigint' }),
  price: numeric('price'),
  layout: jsonb('layout').$type<{ columns: number }>(),
  publishedAt: timestamp('published_at'),
  organizationId: integer('organization_id').notNull(),
  createdAt: timestamp('created_at').notNull(),
  deletedAt: timestamp('deleted_at'),
})

export const labels = pgTable('labels', {
  id: serial('id').primaryKey(),
  name: text('name').notNull(),
  colour: text('colour').notNull(),
})

/** A junction that is no resource. */
export const articlesLabels = pgTable('articles_labels', {
  articleId: integer('article_id').notNull().references(() => articles.id),
  labelId: integer('label_id').notNull().references(() => labels.id),
  position: integer('position'),
}, table => [primaryKey({ columns: [table.articleId, table.labelId] })])

/** A key of two columns, and a column with nothing but a name. */
export const ratings = pgTable('ratings', {
  articleId: integer('article_id').notNull().references(() => articles.id),
  writerId: integer('writer_id').notNull().references(() => writers.id),
  stars: integer('stars').notNull(),
  remarks: json('remarks'),
}, table => [primaryKey({ columns: [table.articleId, table.writerId] })])

export const labelsValidation = { create: z.object({ name: z.string(), colour: z.enum(['red', 'blue']) }) }

/** Operations of these are disabled. */
export const notices = pgTable('notices', {
  id: serial('id').primaryKey(),
  title: text('title').notNull(),
})

export const replies = pgTable('replies', {
  id: serial('id').primaryKey(),
  noticeId: integer('notice_id').notNull().references(() => notices.id),
  body: text('body').notNull(),
})

/** Files: one, several, and a hidden one. */
export const albums = pgTable('albums', {
  id: serial('id').primaryKey(),
  title: text('title'),
  notes: jsonb('notes'),
  cover: jsonb('cover').$type<AutoApiStoredFile>(),
  photos: json('photos').$type<AutoApiStoredFile[]>(),
  original: jsonb('original').$type<AutoApiStoredFile>(),
})

/** Its files can be read only. */
export const scans = pgTable('scans', {
  id: serial('id').primaryKey(),
  file: jsonb('file').$type<AutoApiStoredFile>(),
})

/** A computed field of each type, and a lazy one. */
export const scansComputed = {
  caption: computed.text(sql`'scan'`),
  pages: computed.integer(sql`1`),
  ratio: computed.number(sql`0.5`),
  bytes: computed.bigint(sql`1`),
  price: computed.decimal(sql`1.5`),
  sharp: computed.boolean(sql`true`),
  takenAt: computed.timestamp(sql`now()`, { volatile: true }),
  tags: computed.json(sql<string[]>`'[]'::jsonb`),
  words: computed.text(sql`''`, { lazy: true }),
}

/** A view: columns, expressions, and a column that a left join can leave empty. */
export const writerTotals = pgView('writer_totals').as(qb =>
  qb.select({
    writerId: writers.id,
    name: writers.name,
    organizationId: articles.organizationId,
    lastTitle: articles.title,
    articles: count(articles.id).as('articles'),
    reads: sql`sum(${articles.reads})`.mapWith(articles.price).as('reads'),
    latest: sql`max(${articles.createdAt})`.mapWith(articles.createdAt).as('latest'),
    busy: sql`count(*) > 5`.mapWith(Boolean).as('busy'),
  }).from(writers).leftJoin(articles, eq(articles.writerId, writers.id)).groupBy(writers.id, articles.title, articles.organizationId))

export const apiTokens = apiTokensTable()

export const webhooks = webhooksTable()

export const webhookDeliveries = webhookDeliveriesTable()
