/** The tables of the servers that deliver webhooks until they are killed. */
import { integer as pgInteger, pgTable, serial, text as pgText } from 'drizzle-orm/pg-core'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import * as pgPresets from '../../../src/runtime/plugins/schema-pg'
import * as sqlitePresets from '../../../src/runtime/plugins/schema-sqlite'

export const TABLES = {
  sqlite: {
    items: sqliteTable('items', {
      id: integer('id').primaryKey({ autoIncrement: true }),
      code: text('code').notNull().unique(),
      n: integer('n').notNull(),
      ...sqlitePresets.softDelete(),
    }),
    auditLog: sqlitePresets.auditLogTable(),
    webhooks: sqlitePresets.webhooksTable(),
    webhookDeliveries: sqlitePresets.webhookDeliveriesTable(),
  },
  pg: {
    items: pgTable('items', {
      id: serial('id').primaryKey(),
      code: pgText('code').notNull().unique(),
      n: pgInteger('n').notNull(),
      ...pgPresets.softDelete(),
    }),
    auditLog: pgPresets.auditLogTable(),
    webhooks: pgPresets.webhooksTable(),
    webhookDeliveries: pgPresets.webhookDeliveriesTable(),
  },
} as const

export type Kind = keyof typeof TABLES
