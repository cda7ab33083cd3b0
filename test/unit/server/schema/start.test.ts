/** A start makes no Zod schema: servers on demand start often, and write to few of their tables. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, it, vi } from 'vitest'
import { schemas } from '../../../../src/runtime/server/drizzle/index'
import { createResources } from '../../../../src/runtime/server/schema/resource'
import { DEFAULT_CONFIG } from '../../../../src/runtime/shared/defaults'

const notes = sqliteTable('notes', { id: integer('id').primaryKey(), text: text('text', { length: 5 }).notNull() })

it('makes the schemas of a table when a value or a body needs them, once', () => {
  const [select, insert, update] = (['select', 'insert', 'update'] as const).map(name => vi.spyOn(schemas, name))
  const counts = () => [select, insert, update].map(spy => spy!.mock.calls.length)
  const { fields, schemas: bodies } = createResources([{ name: 'notes', schema: notes }], [], DEFAULT_CONFIG).get('notes')!
  expect(counts()).toEqual([0, 0, 0])
  for (const value of ['fits', 'too long']) expect(fields.get('text')!.fits(value)).toBe(value === 'fits')
  expect(counts()).toEqual([1, 0, 0])
  expect([bodies.create.hasKey('text'), bodies.create.hasKey('other'), bodies.create.standard === bodies.create.standard]).toEqual([true, false, true])
  expect(counts()).toEqual([1, 1, 0])
  expect(bodies.update.hasKey('text')).toBe(true)
  expect(counts()).toEqual([1, 1, 1])
})
