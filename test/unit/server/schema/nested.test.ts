/** Mistakes in the option `nested` of a registration: each names the relation and what to change. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, it } from 'vitest'
import type { ResourceRegistration } from '../../../../src/runtime/server/registration'
import { createResources } from '../../../../src/runtime/server/schema/resource'
import { DEFAULT_CONFIG } from '../../../../src/runtime/shared/defaults'

const orders = sqliteTable('orders', { id: integer('id').primaryKey(), code: text('code').unique() })
const lines = sqliteTable('lines', { id: integer('id').primaryKey(), orderId: integer('order_id').references(() => orders.id) })
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), code: text('code').unique() })
const orderTags = sqliteTable('order_tags', {
  orderId: integer('order_id').notNull().references(() => orders.id), tagId: integer('tag_id').notNull().references(() => tags.id),
}, t => [primaryKey({ columns: [t.orderId, t.tagId] })])
const labels = sqliteTable('labels', { id: integer('id').primaryKey(), code: text('code').references(() => orders.code) })

const create = (nested: Record<string, object>) => createResources(
  Object.entries({ orders, lines, labels, tags, orderTags })
    .map(([name, schema]): ResourceRegistration => ({ name, schema, ...nested[name] })),
  [], DEFAULT_CONFIG,
)

it('finds the relation and the actions', () => {
  const { relation, actions } = create({ orders: { nested: { lines: ['create', 'delete'] } } }).get('orders')!.nested.get('lines')!
  expect([relation.target.name, [...actions]]).toEqual(['lines', ['create', 'delete']])
})

it('finds the links of a many-to-many relation', () => {
  const { relation, actions } = create({ orders: { nested: { tags: ['unlink', 'link'] } } }).get('orders')!.nested.get('tags')!
  expect([relation.kind, [...actions]]).toEqual(['manyToMany', ['unlink', 'link']])
})

it.each([
  [{ orders: { nested: { line: ['create'] } } }, '`orders.nested.line` is not a relation of `orders`. Did you mean `lines`?'],
  [{ lines: { nested: { order: ['update'] } } }, '`lines.nested.order` is not a relation to children'],
  [{ orders: { nested: { labels: ['create'] } } }, '`orders.nested.labels`: the foreign key of `labels` does not refer to the primary key'],
  [{ orders: { nested: { lines: ['create', 'upsert'] } } }, '`orders.nested.lines` names `upsert`, which is none of delete, update, create.'],
  [{ orders: { nested: { lines: ['link'] } } }, '`orders.nested.lines` names `link`, which is for many-to-many relations. Children have delete, update, create.'],
  [{ orders: { nested: { tags: ['create'] } } }, '`orders.nested.tags` names `create`, which is for children. A many-to-many relation has unlink and link.'],
])('refuses %j', (nested, message) => {
  expect(() => create(nested)).toThrow(message)
})
