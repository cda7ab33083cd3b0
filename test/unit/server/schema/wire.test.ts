/** The form of each kind of value in a JSON body, in a query string and in a response. */
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { KINDS, INVALID, WIRE_FORMATS, type Kind } from '../../../../src/runtime/shared/wire'
import { DIALECTS, resourceOf, sqlite } from '../../../support/tables'

interface Cases {
  /** JSON input, and the value for Drizzle. */
  json: [unknown, unknown][]
  unfitJson: unknown[]
  text: [string, unknown][]
  unfitText: string[]
  /** A value of Drizzle, and its JSON output. */
  out: [unknown, unknown][]
}

const day = new Date('2024-05-06T00:00:00.000Z')
const moment = new Date('2024-05-06T07:08:09.123Z')
const HUGE = '123456789012345678901234567890'

const WIRE_CASES: Record<Kind, Cases> = {
  text: {
    json: [
      ['', ''],
      ['ä', 'ä'],
      ['1', '1'],
      ['null', 'null'],
    ],
    unfitJson: [1, true, [], {}, 'a\0b'],
    text: [
      ['1', '1'],
      ['', ''],
    ],
    unfitText: ['\0', 'a\0'],
    out: [
      ['a', 'a'],
      ['1', '1'],
    ],
  },
  number: {
    json: [
      [1, 1],
      [-0.5, -0.5],
      [1e300, 1e300],
    ],
    unfitJson: ['1', true, [], {}, Infinity, NaN],
    text: [
      ['1', 1],
      ['-1.5', -1.5],
      ['1e3', 1000],
    ],
    unfitText: ['', ' ', 'abc', '1,5', '0x10', '1e999', 'NaN', 'Infinity', '--1', '1 '],
    out: [[1.5, 1.5]],
  },
  integer: {
    json: [
      [0, 0],
      [-7, -7],
      [9007199254740991, 9007199254740991],
    ],
    unfitJson: ['1', 1.5, true, [1], {}, 9007199254740992, 1e30, NaN],
    text: [
      ['0', 0],
      ['-7', -7],
    ],
    unfitText: ['', ' 1', '1.0', '1e3', 'abc', '0x1', '9007199254740993', '1_000', '+1'],
    out: [[1, 1]],
  },
  boolean: {
    json: [
      [true, true],
      [false, false],
    ],
    unfitJson: [0, 1, 'true', 'false', '', [], {}],
    text: [
      ['true', true],
      ['false', false],
      ['1', true],
      ['0', false],
    ],
    unfitText: ['', 'TRUE', 'yes', 'no', 'on', '2', 'null'],
    out: [[false, false]],
  },
  date: {
    json: [
      ['2024-05-06T07:08:09.123Z', moment],
      ['2024-05-06T09:08:09.123+02:00', moment],
      ['2024-05-06T07:08:09.123', moment],
      ['2024-05-06 07:08:09.123Z', moment],
      ['2024-05-06', day],
      ['2024-05-06T00:00Z', day],
      ['2024-02-29', new Date('2024-02-29T00:00:00.000Z')],
    ],
    unfitJson: [
      0,
      1714953600000,
      true,
      [],
      {},
      '',
      'yesterday',
      '06.05.2024',
      '2024-5-6',
      '2024-13-01',
      '2024-05-32',
      '2023-02-29',
      '2024-02-30',
      '2024-04-31T10:00:00Z',
      '2024-05-06T25:00:00Z',
      '2024-05-06T07:60Z',
      '20240506',
      '2024-05-06T07:08:09+99:00',
    ],
    text: [
      ['2024-05-06', day],
      ['2024-05-06T07:08:09.123Z', moment],
    ],
    unfitText: ['', '1714953600000', 'now', '2024-02-30'],
    out: [
      [moment, '2024-05-06T07:08:09.123Z'],
      ['not a date', 'not a date'],
    ],
  },
  bigint: {
    json: [
      [HUGE, 123456789012345678901234567890n],
      ['-1', -1n],
      [5, 5n],
    ],
    unfitJson: ['', '1.0', '1e3', 'abc', 1.5, 9007199254740992, true, [], {}, '0x10', '9'.repeat(5000)],
    text: [['9007199254740993', 9007199254740993n]],
    unfitText: ['', ' 1', '1n', '1e3', 'abc'],
    out: [
      [9007199254740993n, '9007199254740993'],
      [1n, '1'],
    ],
  },
  decimal: {
    json: [
      ['12345678901234567890.123456789', '12345678901234567890.123456789'],
      ['-0.10', '-0.10'],
      [1.5, '1.5'],
      [3, '3'],
    ],
    unfitJson: ['', 'abc', '1e3', '1,5', '.', true, [], {}, NaN, 1e30, 1e-7, '9'.repeat(5000)],
    text: [['0.10', '0.10']],
    unfitText: ['', '1e3', 'abc', '1.', '--1'],
    out: [
      ['0.10', '0.10'],
      [0.5, '0.5'],
    ],
  },
  json: {
    json: [
      [{ a: [1] }, { a: [1] }],
      [[], []],
      ['a', 'a'],
      [false, false],
    ],
    unfitJson: [],
    text: [],
    unfitText: ['{}', '1', ''],
    out: [[{ a: 1 }, { a: 1 }]],
  },
  blob: {
    json: [
      ['AQID', Buffer.from([1, 2, 3])],
      ['_-8', Buffer.from([255, 239])],
      ['', Buffer.alloc(0)],
    ],
    unfitJson: [1, true, [], {}, 'not base64!', 'AQID\n', 'AQ==ID'],
    text: [['AQID', Buffer.from([1, 2, 3])]],
    unfitText: ['***'],
    out: [
      [Buffer.from([1, 2, 3]), 'AQID'],
      [new Uint8Array([255]), '/w=='],
    ],
  },
  custom: {
    json: [
      [{ x: 1 }, { x: 1 }],
      ['a', 'a'],
    ],
    unfitJson: [],
    text: [['a', 'a']],
    unfitText: ['\0'],
    out: [[{ x: 1 }, { x: 1 }]],
  },
}

const show = (value: unknown) =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof value === 'object' ? JSON.stringify(value) : String(value)

describe.each(KINDS)('the wire form of %s', (kind) => {
  const { fromJson, fromText, toJson } = WIRE_FORMATS[kind]
  const cases = WIRE_CASES[kind]
  const rows = <T>(list: T[], text: (entry: T) => string) => list.map(entry => [text(entry), entry] as const)

  it.each(rows(cases.json, ([json, value]) => `${show(json)} is ${show(value)}`))('from JSON: %s', (_title, [json, value]) => {
    expect(fromJson(json)).toEqual(value)
  })

  it.each(rows(cases.text, ([text, value]) => `${show(text)} is ${show(value)}`))('from text: %s', (_title, [text, value]) => {
    expect(fromText(text)).toEqual(value)
  })

  it.each(rows(cases.unfitJson, show))('refuses an invalid JSON value: %s', (_title, json) => {
    expect(fromJson(json)).toBe(INVALID)
  })

  it.each(rows(cases.unfitText, show))('refuses invalid text: %s', (_title, text) => {
    expect(fromText(text)).toBe(INVALID)
  })

  it.each(rows(cases.out, ([value, json]) => `${show(String(value))} is ${show(json)}`))('in a response: %s', (_title, [value, json]) => {
    expect(toJson ? toJson(value) : value).toEqual(json)
  })
})

describe.each(DIALECTS)('a column of $dialect-core', ({ tables }) => {
  const { fields } = resourceOf(tables.kinds)
  const read = (name: string, json: unknown) => fields.get(name)!.fromJson(json)

  it('accepts the wire form of its kind', () => {
    expect(read('integer', 5)).toBe(5)
    expect(read('boolean', true)).toBe(true)
    expect(read('date', '2024-05-06T07:08:09.123Z')).toEqual(moment)
    expect(read('bigint', '9007199254740993')).toBe(9007199254740993n)
    expect(read('decimal', '0.10')).toBe('0.10')
    expect(read('json', { a: 1 })).toEqual({ a: 1 })
    expect(read('number', 1e300)).toBe(1e300)
  })

  it('refuses a value of its kind beyond the limits of the column', () => {
    const { fields: users } = resourceOf(tables.posts)
    expect(users.get('status')!.fromJson('lost')).toBe(INVALID)
    expect(users.get('status')!.fromText('draft')).toBe('draft')
  })

  it('returns bigints and decimals as strings, and null as null', () => {
    expect(fields.get('bigint')!.toJson!(1n)).toBe('1')
    expect(fields.get('decimal')!.toJson!('0.10')).toBe('0.10')
    expect(fields.get('bigint')!.toJson!(null)).toBeNull()
  })

  it('passes the column\'s driver value on, and null as null', () => {
    for (const field of fields.values()) expect(field.encode(null)).toBeNull()
    const date = fields.get('date')!
    expect(date.encode(moment)).toEqual(date.column.mapToDriverValue(moment))
    expect(date.decode!(null)).toBeNull()
  })
})

describe('a date in SQLite', () => {
  it.each(['timestamp', 'timestamp_ms'] as const)('is read as it was written: %s', (mode) => {
    const field = resourceOf(sqliteTable('t', { id: integer().primaryKey(), at: integer({ mode }) })).fields.get('at')!
    const given = mode === 'timestamp' ? new Date('2024-05-06T07:08:09.000Z') : moment
    expect(field.encode(given)).toBe(mode === 'timestamp' ? given.getTime() / 1000 : given.getTime())
    expect(field.decode!(field.encode(given))).toEqual(given)
  })
})

describe('an integer of 32 bits', () => {
  it.each(DIALECTS.filter(({ dialect }) => dialect !== 'sqlite'))(
    'refuses numbers that its column cannot hold: $dialect-core',
    ({ tables }) => {
      const field = resourceOf(tables.kinds).fields.get('integer')!
      expect(field.fromJson(2147483647)).toBe(2147483647)
      expect(field.fromJson(2147483648)).toBe(INVALID)
    },
  )

  it('holds 53 bits in SQLite', () => {
    expect(resourceOf(sqlite.kinds).fields.get('integer')!.fromJson(2147483648)).toBe(2147483648)
  })
})
