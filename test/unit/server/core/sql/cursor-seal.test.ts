/** Guards that a cursor nobody here made, or that was changed on its way, is never read as another place. */
import fc from 'fast-check'
import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, it } from 'vitest'
import { createCursor, readCursor } from '../../../../../src/runtime/server/core/sql/cursor'
import { planOrder } from '../../../../../src/runtime/server/core/plan/order'
import { allFields } from '../../../../../src/runtime/server/core/access/fields'
import { DEFAULT_CONFIG } from '../../../../../src/runtime/shared/defaults'
import { createResources } from '../../../../../src/runtime/server/schema/resource'

const places = sqliteTable('places', { id: integer('id').primaryKey(), height: real('height'), name: text('name') })
const resource = createResources([{ name: 'places', schema: places }], [{ places }], DEFAULT_CONFIG).get('places')!
const order = planOrder(resource, allFields(resource), [], [])

it('reads every position that it wrote', () => {
  fc.assert(fc.property(fc.maxSafeInteger(), (id) => {
    expect(readCursor(createCursor(resource, order, [id]), resource, order)).toEqual([id])
  }))
})

it('keeps numbers and text exactly, and needs no encoding in a URL', () => {
  const sort = ['height', 'name'].map(name => ({ name, descending: false }))
  const byAll = planOrder(resource, allFields(resource), sort, [])
  const heights = fc.option(fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(1e21, 1e-7, -1.5)))
  const names = fc.option(fc.string({ unit: 'binary' }).filter(name => name.isWellFormed() && !name.includes('\0')))
  fc.assert(fc.property(heights, names, fc.maxSafeInteger(), (height, name, id) => {
    const cursor = createCursor(resource, byAll, [height, name, id])
    expect(cursor).toMatch(/^[\w.*-]+$/)
    // JSON has no -0, and neither have cursors.
    expect(readCursor(cursor, resource, byAll)).toEqual([height === 0 ? 0 : height, name, id])
  }), { numRuns: 1_000 })
})

it('rejects a cursor that differs in one character', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.*'
  fc.assert(fc.property(fc.maxSafeInteger(), fc.nat(), fc.constantFrom(...alphabet), (id, place, character) => {
    const cursor = createCursor(resource, order, [id])
    const at = place % cursor.length
    fc.pre(cursor[at] !== character)
    expect(() => readCursor(cursor.slice(0, at) + character + cursor.slice(at + 1), resource, order)).toThrow()
  }), { numRuns: 5_000 })
})
