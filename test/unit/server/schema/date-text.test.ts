/** The faster conversion of a date to text returns the same text as JSON. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toIso } from '../../../../src/runtime/shared/wire.ts'

it('converts every date like JSON.stringify, also invalid dates and distant years', () => {
  const near = fc
    .integer({ min: -1, max: 4 })
    .chain(day => fc.integer({ min: -2, max: 86_400_001 }).map(ms => new Date(day * 86_400_000 + ms)))
  fc.assert(
    fc.property(
      fc.array(fc.oneof(near, fc.date(), fc.constant(new Date(Number.NaN)), fc.date({ min: new Date('9999-12-30T00:00:00Z') })), {
        maxLength: 20,
      }),
      (dates) => {
        expect(JSON.stringify(dates.map(toIso))).toBe(JSON.stringify(dates))
      },
    ),
    { numRuns: 2000 },
  )
})
