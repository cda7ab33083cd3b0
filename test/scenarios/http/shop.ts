/** Items with notes, on SQLite: a resource with a field that only some callers can read, and one that no caller can read. */
import Database from 'better-sqlite3'
import { relations } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import type { ResourceAuth, ResourceHooks, ResourceRegistration } from '../../../src/runtime/server/registration'
import { createServer, type Caller, type TestServer } from '../../support/server'

export const items = sqliteTable('items', {
  id: integer('id').primaryKey({ autoIncrement: true }), name: text('name').notNull(), price: integer('price').notNull().default(1),
  cost: integer('cost').notNull().default(1), secret: text('secret').notNull().default('hush'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id'),
})
export const notes = sqliteTable('notes', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  itemId: integer('item_id').references(() => items.id),
  body: text('body').notNull(),
})
const itemRelations = relations(items, ({ many }) => ({ notes: many(notes) }))
const noteRelations = relations(notes, ({ one }) => ({ item: one(items, { fields: [notes.itemId], references: [items.id] }) }))

export const CLERK: Caller = { user: { id: 1, role: 'clerk' } }
export const CHIEF: Caller = { user: { id: 2, role: 'chief' } }

export const ITEMS_AUTH: ResourceAuth<typeof items> = {
  permissions: {
    read: true,
    aggregate: true,
    create: ['clerk', 'chief'],
    update: ['clerk', 'chief', 'writer'],
    delete: ['clerk', 'chief', 'remover'],
    restore: ['clerk', 'chief'],
    purge: ['clerk', 'chief', 'remover'],
    viewDeleted: ['clerk', 'chief'],
  },
  fields: { cost: { read: 'chief' } },
}

export interface Shop {
  readonly server: TestServer
  readonly exec: (sql: string) => void
  readonly get: (sql: string) => unknown
}

export interface ShopOptions {
  readonly config?: Partial<AutoApiConfig>
  readonly auth?: ResourceAuth<typeof items>
  readonly hooks?: ResourceHooks<typeof items>
  readonly registration?: Partial<ResourceRegistration>
  readonly plugins?: readonly unknown[]
  readonly secret?: string
  readonly previousSecret?: string
}

/** Opens a server with three items, and two notes on the first one. */
export async function openShop(options: ShopOptions = {}): Promise<Shop> {
  const { config, auth = ITEMS_AUTH, hooks, registration, plugins, secret, previousSecret } = options
  const client = new Database(':memory:')
  client.exec(`
    create table items (id integer primary key autoincrement, name text not null, price integer not null default 1, cost integer not null default 1, secret text not null default 'hush', deleted_at integer, deletion_id text);
    create table notes (id integer primary key autoincrement, item_id integer references items(id), body text not null);
    insert into items (name, price) values ('pen', 2), ('ink', 3), ('pad', 4);
    insert into notes (item_id, body) values (1, 'one'), (1, 'two')`)
  const server = await createServer({
    db: drizzle({ client }),
    config,
    plugins,
    secret,
    previousSecret,
    registrations: [
      {
        name: 'items',
        schema: items,
        authorization: auth,
        hooks,
        relations: itemRelations,
        hiddenFields: ['secret'],
        ...registration,
      } as ResourceRegistration,
      {
        name: 'notes',
        schema: notes,
        authorization: { permissions: { read: true, create: true, update: true, delete: true } },
        relations: noteRelations,
      },
    ],
  })
  return { server, exec: sql => void client.exec(sql), get: sql => client.prepare(sql).get() }
}
