import { integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'

export const orders = sqliteTable('orders', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
})

export const lines = sqliteTable('lines', {
  id: integer('id').primaryKey(),
  orderId: integer('order_id').notNull().references(() => orders.id),
  position: integer('position').notNull(),
  text: text('text').notNull(),
}, t => [unique('positions').on(t.orderId, t.position)])

export const tags = sqliteTable('tags', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
})

export const orderTags = sqliteTable('order_tags', {
  orderId: integer('order_id').notNull().references(() => orders.id),
  tagId: integer('tag_id').notNull().references(() => tags.id),
}, t => [primaryKey({ columns: [t.orderId, t.tagId] })])
