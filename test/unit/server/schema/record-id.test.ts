/** Record ids: every row has exactly one, in one spelling. */
import fc from 'fast-check'
import { bigint, date, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { integer, primaryKey, sqliteTable } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { toId, toKey } from '../../../../src/runtime/server/schema/record-id'
import { DIALECTS, resourceOf } from '../../../support/tables'

const NUL = '\0'

describe.each(DIALECTS)('an id of a $dialect-core table', ({ tables }) => {
  const users = resourceOf(tables.users)
  const employees = resourceOf(tables.employees)
  const seats = resourceOf(tables.seats)

  it.each([
    ['1', 1],
    ['0', 0],
    ['-5', -5],
    ['2147483647', 2147483647],
  ])('of an integer key is the number in its canonical form: %s', (id, value) => {
    expect(toKey(users, id)).toEqual([value])
    expect(toId(users, [value])).toBe(id)
  })

  it.each([
    '01',
    '1e0',
    '-0',
    '+1',
    '1.0',
    ' 1',
    '1 ',
    '',
    'abc',
    '0x1',
    '1e30',
    '9007199254740993',
    '99999999999999999999',
    '１',
    NUL,
    `1${NUL}`,
    '1,2',
    'null',
    'true',
    '__proto__',
  ])('of an integer key has no other form: %j', (id) => {
    expect(toKey(users, id)).toBeUndefined()
  })

  it.each(['a', '01', '1e0', 'a,b', 'a b', ' a', 'ä', 'A', '%41', '../x', '__proto__', 'bulk'])(
    'of a text key is the text itself: %j',
    (id) => {
      expect(toKey(employees, id)).toEqual([id])
      expect(toId(employees, [id])).toBe(id)
    },
  )

  it('of a text key has no NUL', () => {
    expect(toKey(employees, `a${NUL}`)).toBeUndefined()
  })

  it.each([
    ['red,7', ['red', 7]],
    ['a%2Cb,7', ['a,b', 7]],
    ['50%25,0', ['50%', 0]],
    [',7', ['', 7]],
  ] as const)('of a composite key is its values, each URL-encoded, joined by commas: %s', (id, key) => {
    expect(toKey(seats, id)).toEqual(key)
    expect(toId(seats, key)).toBe(id)
  })

  it.each(['red', 'red,', 'red,7,', 'red,7,8', 'red,07', 'red,7e0', '7,red', 'red;7', 'red,abc', '%,7', 'red,%zz', '', ','])(
    'of a composite key has no other form: %j',
    (id) => {
      expect(toKey(seats, id)).toBeUndefined()
    },
  )

  it('of a composite key converts back to the same key', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 15 }).filter(room => !room.includes(NUL)),
        fc.integer({ min: -1000, max: 1000 }),
        (room, number) => {
          expect(toKey(seats, toId(seats, [room, number]))).toEqual([room, number === 0 ? 0 : number])
        },
      ),
    )
  })

  it('of an integer key is the only text that finds its row', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'0123456789+-.eE_, x'), maxLength: 6 }), (id) => {
      const key = toKey(users, id)
      if (key) expect(toId(users, key)).toBe(id)
    }))
  })
})

describe('an id of another kind of key', () => {
  const key = (type: 'bigint' | 'timestamp' | 'uuid' | 'day') => resourceOf({
    bigint: pgTable('t', { id: bigint({ mode: 'bigint' }).primaryKey(), name: text() }),
    timestamp: pgTable('t', { id: timestamp().primaryKey(), name: text() }),
    uuid: pgTable('t', { id: uuid().primaryKey(), name: text() }),
    day: pgTable('t', { id: date().primaryKey(), name: text() }),
  }[type])

  it.each([
    ['bigint', '9007199254740993', 9007199254740993n],
    ['timestamp', '2024-05-06T07:08:09.123Z', new Date('2024-05-06T07:08:09.123Z')],
    ['uuid', '0198c0de-0000-7000-8000-000000000001', '0198c0de-0000-7000-8000-000000000001'],
    ['day', '2024-05-06', '2024-05-06'],
  ] as const)('is the value in its JSON form: %s', (type, id, value) => {
    expect(toKey(key(type), id)).toEqual([value])
    expect(toId(key(type), [value])).toBe(id)
  })

  it.each([
    ['bigint', '09'],
    ['bigint', '9'.repeat(5000)],
    ['bigint', '9223372036854775808'],
    ['timestamp', '2024-05-06'],
    ['timestamp', '2024-05-06T07:08:09Z'],
    ['uuid', 'not-a-uuid'],
    ['uuid', '0198c0de00007000800000000000001'],
  ] as const)('has no other form: %s %.30s', (type, id) => {
    expect(toKey(key(type), id)).toBeUndefined()
  })
})

describe('the order of a composite key', () => {
  it('is the order in which the table declares it', () => {
    const grid = resourceOf(
      sqliteTable('grid', { x: integer().notNull(), y: integer().notNull() }, t => [primaryKey({ columns: [t.y, t.x] })]),
    )
    expect(toId(grid, [1, 2])).toBe('1,2')
    expect(grid.primaryKey.map(({ name }) => name)).toEqual(['y', 'x'])
  })
})
