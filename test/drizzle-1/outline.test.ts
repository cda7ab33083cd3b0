/** Conditions whose parameters Drizzle 1.0 converts or casts. Their text depends on the column, so they are rendered in each request. */
import { sql } from 'drizzle-orm-1'
import { customType, integer, jsonb, pgTable, sparsevec, text, vector } from 'drizzle-orm-1/pg-core'
import { expect, it } from 'vitest'
import { outline } from '../../src/runtime/server/core/sql/outline'

const document = customType<{ data: object }>({ dataType: () => 'jsonb', codec: 'jsonb' })

const things = pgTable('things', {
  integer: integer(), text: text(), texts: text().array(), json: jsonb(), document: document(),
  vector: vector({ dimensions: 2 }), sparse: sparsevec({ dimensions: 2 }),
})

const outlineOf = (name: keyof typeof things.$inferSelect, value: unknown) =>
  outline(sql`${things[name]} = ${sql.param(value, things[name])}` as never)

it.each([['texts', ['a']], ['json', { a: 1 }], ['document', { a: 1 }], ['vector', [1, 2]], ['sparse', '{1:1}/2']] as const)('%s has no outline', (name, value) => {
  expect(outlineOf(name, value)).toBeUndefined()
})

it.each([['integer', 1], ['text', 'a']] as const)('%s has one, with its value', (name, value) => {
  expect(outlineOf(name, value)?.values).toEqual([value])
})
