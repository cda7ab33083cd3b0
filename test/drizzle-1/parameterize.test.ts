/** Conditions whose parameters Drizzle 1.0 converts or casts. Their text depends on the column, so they are rendered in each request. */
import { sql } from 'drizzle-orm-1'
import { customType, integer, jsonb, pgTable, sparsevec, text, vector } from 'drizzle-orm-1/pg-core'
import { expect, it } from 'vitest'
import type { Engine } from '../../src/runtime/server/engines/engine'
import { parameterize } from '../../src/runtime/server/core/sql/parameterize'

const document = customType<{ data: object }>({ dataType: () => 'jsonb', codec: 'jsonb' })

const things = pgTable('things', {
  integer: integer(), text: text(), texts: text().array(), json: jsonb(), document: document(),
  vector: vector({ dimensions: 2 }), sparse: sparsevec({ dimensions: 2 }),
})

const isRendered = (name: keyof typeof things.$inferSelect, value: unknown) => {
  let rendered = false
  const engine = { render: () => {
    rendered = true
    return { text: '', values: [] }
  } } as unknown as Engine
  const { values } = parameterize(engine, sql`${things[name]} = ${sql.param(value, things[name])}` as never)
  return { rendered, values }
}

it.each([
  ['texts', ['a']],
  ['json', { a: 1 }],
  ['document', { a: 1 }],
  ['vector', [1, 2]],
  ['sparse', '{1:1}/2'],
] as const)('%s is rendered', (name, value) => {
  expect(isRendered(name, value).rendered).toBe(true)
})

it.each([['integer', 1], ['text', 'a']] as const)('%s is not, and has its value', (name, value) => {
  expect(isRendered(name, value)).toEqual({ rendered: false, values: [value] })
})
