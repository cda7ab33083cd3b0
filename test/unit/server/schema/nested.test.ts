/** Mistakes in the option `nested` of a registration: each names the relation and what to change. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, it } from 'vitest'
import type { ResourceRegistration } from '../../../../src/runtime/server/registration'
import { createResources } from '../../../../src/runtime/server/schema/resource'
import { DEFAULT_CONFIG } from '../../../../src/runtime/shared/defaults'

const orders = sqliteTable('orders', { id: integer('id').primaryKey(), code: text('code').unique() })
const lines = sqliteTable('lines', { id: integer('id').primaryKey(), orderId: integer('order_id').references(() => orders.id) })
const labels = sqliteTable('labels', { id: integer('id').primaryKey(), code: text('code').references(() => orders.code) })

const create = (nested: Record<string, object>) => createResources(
  Object.entries({ orders, lines, labels }).map(([name, schema]): ResourceRegistration => ({ name, schema, ...nested[name] })),
  [], DEFAULT_CONFIG,
)

it('finds the relation and the actions', () => {
  const { relation, actions } = create({ orders: { nested: { lines: ['create', 'delete'] } } }).get('orders')!.nested.get('lines')!
  expect([relation.target.name, [...actions]]).toEqual(['lines', ['create', 'delete']])
})

it.each([
  [{ orders: { nested: { line: ['create'] } } }, '`orders.nested.line` is not a relation of `orders`. Did you mean `lines`?'],
  [{ lines: { nested: { order: ['update'] } } }, '`lines.nested.order` is not a relation to children'],
  [{ orders: { nested: { labels: ['create'] } } }, '`orders.nested.labels`: the foreign key of `labels` does not refer to the primary key'],
  [{ orders: { nested: { lines: ['create', 'upsert'] } } }, '`orders.nested.lines` names `upsert`, which is none of delete, update, create.'],
])('refuses %j', (nested, message) => {
  expect(() => create(nested)).toThrow(message)
})
