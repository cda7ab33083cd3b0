/** A shop for the tests of batches: orders with lines, and tables that differ in their keys, conditions and rules. */
import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { vi } from 'vitest'
import { batch } from '../../../src/runtime/plugins'
import type { ResourceHooks } from '../../../src/runtime/server/registration'
import type { Caller } from '../../support/server'
import { EVERYTHING, openWorld, type World, type WorldOptions } from '../../scenarios/write/world'

export const orders = sqliteTable('orders', {
  id: integer('id').primaryKey(),
  number: text('number', { length: 20 }).notNull().unique(),
  note: text('note'),
  details: text('details', { mode: 'json' }),
  /** Hidden from everyone. */
  secret: text('secret'),
  /** Only staff can read it. */
  margin: integer('margin'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
})
export const lines = sqliteTable('lines', {
  id: integer('id').primaryKey(),
  orderId: integer('order_id').notNull().references(() => orders.id),
  text: text('text').notNull(),
  amount: integer('amount'),
})
/** The server makes the ids, before the commit. */
export const labels = sqliteTable('labels', { id: text('id').primaryKey().$defaultFn(() => crypto.randomUUID()), name: text('name') })
export const pins = sqliteTable('pins', { id: integer('id').primaryKey(), labelId: text('label_id').references(() => labels.id) })
/** Two columns are the key. */
export const seats = sqliteTable('seats', { room: text('room'), place: integer('place'), guest: text('guest') }, table =>
  [primaryKey({ columns: [table.room, table.place] })])
/** Requires a tag, and allows no restore. */
export const prices = sqliteTable('prices', { id: integer('id').primaryKey(), amount: integer('amount') })
/** A rule in code judges each row. */
export const notes = sqliteTable('notes', {
  id: integer('id').primaryKey(), text: text('text'), noteId: integer('note_id'), deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})
export const noteLinks = sqliteTable('noteLinks', { id: integer('id').primaryKey(), noteId: integer('note_id').references(() => notes.id) })
/** No request can write it. */
export const archive = sqliteTable('archive', { id: integer('id').primaryKey(), text: text('text') })

export const TABLES = { orders, lines, labels, pins, seats, prices, notes, noteLinks, archive }

const ROWS = `insert into orders (id, number) values (1, 'A1'), (2, 'A2'); insert into orders (id, number, deleted_at, deletion_id) values (3, 'A3', 1000, 'd3');
  insert into lines (id, order_id, text) values (1, 1, 'one'); insert into prices values (1, 10); insert into archive values (1, 'old');
  insert into seats values ('red', 1, 'Ada'); insert into notes (id, text) values (1, 'mine'), (2, 'theirs'); insert into labels values ('l1', 'first')`

export const STAFF: Caller = { user: { id: 1 }, permissions: ['staff'] }
export const CLERK: Caller = { user: { id: 2 } }

/** What the hooks of orders and lines have seen, in their order. */
export const seen: unknown[][] = []

interface Identified {
  readonly id?: unknown
}

/** Hooks that record what they are called with. */
export const recording = (resource: string): ResourceHooks => ({
  beforeCreate: (data: object) => void seen.push([resource, 'beforeCreate', { ...data }]),
  beforeUpdate: (id: unknown, data: object) => void seen.push([resource, 'beforeUpdate', id, { ...data }]),
  beforeDelete: (id: unknown) => void seen.push([resource, 'beforeDelete', id]),
  afterCreate: (record: Identified) => void seen.push([resource, 'afterCreate', record.id]),
  afterUpdate: (record: Identified) => void seen.push([resource, 'afterUpdate', record.id]),
  afterDelete: (id: unknown) => void seen.push([resource, 'afterDelete', id]),
}) as never

/** Whether a caller can read or change a note. */
export const judge = vi.fn((row: { readonly text?: unknown }) => row.text !== 'theirs')

export function openShop({ plugins = [batch()], resources, ...options }: Partial<WorldOptions> = {}): Promise<World> {
  seen.length = 0
  return openWorld({
    tables: TABLES as never,
    resources: {
      orders: {
        authorization: { permissions: EVERYTHING, fields: { margin: { read: 'staff', write: 'staff' } } as never },
        hiddenFields: ['secret'],
        hooks: recording('orders'),
      },
      lines: { hooks: recording('lines') },
      prices: { requireIfMatch: true },
      notes: { authorization: { permissions: EVERYTHING, objectLevel: row => judge(row as never) } },
      archive: { authorization: { permissions: { read: true } }, disabled: ['create', 'update', 'delete'] },
      labels: { authorization: { permissions: { ...EVERYTHING, delete: 'staff' }, listFilter: table => sql`${(table as typeof labels).id} <> 'hidden'` } },
      ...resources,
    },
    rows: ROWS,
    plugins,
    ...options,
  })
}

export const create = (resource: string, data: object, as?: string) => ({ resource, operation: 'create', data, ...as !== undefined && { as } })
export const update = (resource: string, id: unknown, data: object, more: object = {}) => ({ resource, operation: 'update', id, data, ...more })
export const remove = (resource: string, id: unknown, more: object = {}) => ({ resource, operation: 'delete', id, ...more })
export const restore = (resource: string, id: unknown, more: object = {}) => ({ resource, operation: 'restore', id, ...more })
export const ref = ($ref: string) => ({ $ref })
