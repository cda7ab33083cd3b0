/** A table without a primary key and without a unique constraint. */
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'

export const orderLines = sqliteTable('order_lines', {
  orderId: integer('order_id').notNull(),
  position: integer('position').notNull(),
  amount: integer('amount').notNull(),
})
