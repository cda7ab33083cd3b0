/** Example of the docs page `webhooks`: the tables of an app with webhooks. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { webhookDeliveriesTable, webhooksTable } from 'nuxt-auto-api/schema/sqlite'

export const webhooks = webhooksTable()
export const webhookDeliveries = webhookDeliveriesTable()

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  title: text('title').notNull(),
})
