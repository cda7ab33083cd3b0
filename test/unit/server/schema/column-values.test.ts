/** Values in the form in which Postgres returns them are accepted for the same column. */
import { char, mysqlTable } from 'drizzle-orm/mysql-core'
import { date, numeric, pgTable, time, timestamp } from 'drizzle-orm/pg-core'
import { describe, expect, it } from 'vitest'
import { createValueTest, expectedOf } from '../../../../src/runtime/server/schema/column-values'

const t = pgTable('t', {
  day: date('day', { mode: 'string' }),
  at: timestamp('at', { mode: 'string', withTimezone: true }),
  hour: time('hour'),
  small: numeric('small', { precision: 3, scale: 5 }),
})

describe('a column of Postgres', () => {
  it.each([
    ['day', ['0044-03-15 BC', '5874897-12-31', 'infinity']],
    ['at', ['0044-03-15 10:00:00+00 BC', '294276-12-31 23:59:59.999999+00', '2024-01-01 9:05']],
    ['hour', ['24:00:00', '9:30', '23:59:59.999999']],
    ['small', ['0.00123', '-0.00999']],
  ] as const)('accepts values that its type can hold: %s', (name, values) => {
    const holds = createValueTest(t[name], name === 'small' ? 'decimal' : 'text')
    expect(values.filter(value => !holds(value))).toEqual([])
  })

  it.each([
    ['day', ['BC', '2024-02-30 BC', '0000-01-01 BC']],
    ['at', ['10:00 BC', '2024-01-01 25:00']],
    ['hour', ['9', '123:00', '9:30 BC']],
    ['small', ['1', '10.5']],
  ] as const)('refuses values that its type cannot hold: %s', (name, values) => {
    const holds = createValueTest(t[name], name === 'small' ? 'decimal' : 'text')
    expect(values.filter(value => holds(value))).toEqual([])
  })
})

it('a CHAR column of MySQL refuses spaces at the end, which MySQL drops', () => {
  const codes = mysqlTable('codes', { id: char('id', { length: 8 }) })
  const holds = createValueTest(codes.id, 'text')
  expect(['a', ' a', '', 'a\u00A0'].filter(value => !holds(value))).toEqual([])
  expect(['a ', ' '].filter(value => holds(value))).toEqual([])
  expect(expectedOf(codes.id, 'text')).toBe('text of at most 8 characters, without a space at its end')
})
