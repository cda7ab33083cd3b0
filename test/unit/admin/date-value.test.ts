import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromDay, fromParts, toDay, toParts } from '../../../src/runtime/admin/model/date-value'

describe('the parts of a date', () => {
  it('of a time of the API are those of the reader, and lead back to it', () => {
    const minutes = fc.date({ min: new Date('1970-01-02'), max: new Date('2400-01-01'), noInvalidDate: true })
      .map(date => new Date(Math.floor(date.getTime() / 60_000) * 60_000).toISOString())
    // An hour that happens twice a year can be meant only once.
    fc.assert(fc.property(minutes, time => Math.abs(Date.parse(fromParts(toParts(time)!)) - Date.parse(time)) <= 3_600_000))
    const noon = new Date(2026, 1, 28, 12, 30)
    expect(toParts(noon.toISOString())).toEqual({ year: 2026, month: 2, day: 28, hour: 12, minute: 30 })
    expect(fromParts({ year: 2026, month: 2, day: 28, hour: 12, minute: 30 })).toBe(noon.toISOString())
  })

  it('can have a year that is not complete yet', () => {
    expect(new Date(fromParts({ year: 20, month: 6, day: 1, hour: 0, minute: 0 })).getFullYear()).toBe(20)
    expect(fromDay({ year: 20, month: 6, day: 1 })).toBe('0020-06-01')
  })

  it('of a day have no time zone', () => {
    expect(toDay('2026-02-28')).toEqual({ year: 2026, month: 2, day: 28, hour: 0, minute: 0 })
    expect(fromDay(toDay('2026-02-28')!)).toBe('2026-02-28')
  })

  it('of other texts do not exist', () => expect([toParts(''), toParts('soon'), toDay(''), toDay('28.2.2026')]).toEqual(Array(4).fill(undefined)))
})
