/** A list that continues after a position searches an index from there on. It does not read the rows before the position again. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { index, integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import { expect, it } from 'vitest'
import { allFields } from '../../../../../src/runtime/server/core/access/fields'
import { after } from '../../../../../src/runtime/server/core/sql/keyset'
import type { Engine } from '../../../../../src/runtime/server/engines/engine'
import { createResources } from '../../../../../src/runtime/server/schema/resource'
import { DEFAULT_CONFIG } from '../../../../../src/runtime/shared/defaults'

const items = sqliteTable(
  'items',
  { id: integer('id').primaryKey(), a: integer('a').notNull(), b: integer('b'), c: integer('c').notNull() },
  table => [index('by_a').on(table.a, table.c), index('by_b').on(table.b, table.id)],
)
const { byName } = allFields(createResources([{ name: 'items', schema: items }], [{ items }], DEFAULT_CONFIG).get('items')!)

const client = new Database(':memory:')
client.exec(
  'create table items (id integer primary key, a integer not null, b integer, c integer not null); create index by_a on items (a, c); create index by_b on items (b, id)',
)
const db = drizzle({ client })

it.each([
  ['id', true, true, '(rowid>?)'],
  // All columns in one direction, none of them nullable: both columns of the index.
  ['a,c', true, true, 'by_a ((a,c)>(?,?))'],
  ['-a,-c', true, true, 'by_a ((a,c)<(?,?))'],
  // Otherwise the first column.
  ['a,id', true, false, 'by_a (a>?)'],
  ['-a,-id', false, false, 'by_a (a<?)'],
  ['a,-id', true, true, 'by_a (a>?)'],
  ['-a,id', true, true, 'by_a (a<?)'],
  ['b,id', true, true, 'by_b (b>?)'],
  ['-b,-id', false, true, 'by_b (b<?)'],
])('in the order %s, NULL first: %s, tuples: %s', (sort, nullsLow, tupleComparison, search) => {
  const order = sort.split(',').map(part => ({ field: byName.get(part.replace('-', ''))!, descending: part.startsWith('-') }))
  const condition = after({ adapter: { nullsLow, tupleComparison } } as Engine, order, order.map(() => 5))
  const { sql, params } = db.select({ id: items.id }).from(items).where(condition.getSQL()).toSQL()
  const steps = client.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(...params).map(({ detail }) => detail)
  expect(steps).toEqual([expect.stringMatching(/^SEARCH items USING /)])
  expect(steps[0]).toContain(search)
})
