/** Times that drivers return as text become the same JSON with and without a `Date` in between. */
import { datetime, mysqlTable, timestamp as mysqlTimestamp } from 'drizzle-orm/mysql-core'
import { date, pgTable, timestamp } from 'drizzle-orm/pg-core'
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decoderOf, sqlTypeOf } from '../../../../src/runtime/server/drizzle/index.ts'
import { createTimeReader } from '../../../../src/runtime/server/schema/time-text.ts'

const pg = pgTable('events', { zoned: timestamp({ withTimezone: true }), local: timestamp(), day: date({ mode: 'date' }) })
const mysql = mysqlTable('events', { datetime: datetime({ fsp: 6 }), timestamp: mysqlTimestamp({ fsp: 3 }) })
const sqlite = sqliteTable('events', { at: integer({ mode: 'timestamp' }) })

const COLUMNS = { zoned: pg.zoned, local: pg.local, datetime: mysql.datetime, timestamp: mysql.timestamp }

const digits = (length: number, max: number) => fc.integer({ min: 0, max }).map(value => String(value).padStart(length, '0'))
const year = fc
  .oneof(fc.integer({ min: 1900, max: 2100 }), fc.integer({ min: 0, max: 99_999 }))
  .map(value => String(value).padStart(4, '0'))
const fraction = fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,6}$/))
/** Also days and months that do not exist: MySQL stores some of them, depending on its mode. */
const time = fc.tuple(year, digits(2, 12), digits(2, 31), digits(2, 23), digits(2, 59), digits(2, 59), fraction)
  .map(([year, month, day, hours, minutes, seconds, rest]) => `${year}-${month}-${day} ${hours}:${minutes}:${seconds}${rest}`)
const ending = fc.constantFrom('', '+00', '+01', '-03:30', '+00 BC', ' BC')

describe.each(Object.entries(COLUMNS))('%s', (_, column) => {
  const decode = decoderOf(column)!
  const read = createTimeReader(decode, sqlTypeOf(column))!

  it('returns what the date would be in JSON, or leaves it to the date', () => {
    fc.assert(fc.property(time, ending, (text, end) => {
      const found = read(text + end)
      if (found !== undefined) expect(found).toBe((decode(text + end) as Date).toJSON())
    }), { numRuns: 20_000 })
  })

  it('reads usual times without a date', () => {
    const end = column === pg.zoned ? '+00' : ''
    expect(read(`2026-01-05 09:08:07${end}`)).toBe('2026-01-05T09:08:07.000Z')
    expect(read(`2026-12-28 23:59:59.5${end}`)).toBe('2026-12-28T23:59:59.500Z')
    expect(read(`1999-10-20 00:00:00.12${end}`)).toBe('1999-10-20T00:00:00.120Z')
    expect(read(`2026-01-10 00:00:00.123456${end}`)).toBe('2026-01-10T00:00:00.123Z')
  })

  it.each([
    '2026-01-29 00:00:00',
    '2026-00-05 00:00:00',
    '2026-01-00 00:00:00',
    '0050-01-05 00:00:00',
    '2026-01-05',
    'infinity',
    '',
    5,
    new Date(),
  ])('leaves %s to the date', value =>
    expect(read(typeof value === 'string' && column === pg.zoned ? `${value}+00` : value)).toBeUndefined(),
  )
})

it('leaves times with another offset to the date', () => {
  const read = createTimeReader(decoderOf(pg.zoned)!, sqlTypeOf(pg.zoned))!
  for (const end of ['+02', '-00', '+00:30', '']) expect(read(`2026-01-05 00:00:00${end}`)).toBeUndefined()
})

it('does not read other values than times of Postgres and MySQL', () => {
  expect(createTimeReader(decoderOf(sqlite.at)!, sqlTypeOf(sqlite.at))).toBeUndefined()
  expect(createTimeReader(decoderOf(pg.day)!, sqlTypeOf(pg.day))?.('2026-01-05')).toBeUndefined()
})
