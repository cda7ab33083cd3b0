/** Every column type of a dialect, and custom types over all kinds of stored values. Each comes with values as SQL literals. */
import { getTableColumns, type Table } from 'drizzle-orm'
import * as my from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as lite from 'drizzle-orm/sqlite-core'
import { sqlTypeOf } from '../../../src/runtime/server/drizzle/index'
import type { Dialect } from '../../../src/runtime/shared/dialects'

export interface TypeCase {
  readonly name: string
  readonly table: Table
  readonly copy: Table
  readonly create: readonly string[]
  /** SQL literals. */
  readonly literals: readonly string[]
}

/** The name of the property, a builder of a column, and SQL literals. */
type Row = readonly [name: string, column: unknown, ...literals: string[]]

type Define = (type: string, conversions?: object) => unknown

const TEXTS = [`'a'`, `''`, `'it''s 日本 👩‍🚀'`, `'1'`, `'true'`, `'=1+1'`, `'AQID'`, `'{"a":1}'`, `' x '`]
const LARGE = ['9223372036854775807', '-9223372036854775808', '9007199254740993', '0']
const DOUBLES = ['0', '0.1', '-1.5', '123456.789', '1e20', '1.5e-7']
const quotedAll = (texts: readonly string[]) => texts.map(text => `'${text}'`)

interface Types { readonly text: string, readonly integer: string, readonly bytes: string, readonly json: string }

/** Custom types that every dialect has. */
function customs(define: Define, types: Types, toBytes: (hex: string) => string): Row[] {
  const bytes = ['', '00', 'ff00fe8081', '616263'].map(toBytes)
  return [
    ['bareText', define(types.text), ...TEXTS],
    ['passedText', define(types.text, { toDriver: (value: unknown) => value, fromDriver: (value: unknown) => value }), ...TEXTS],
    ['lowerText', define(types.text, { toDriver: (value: string) => value.toLowerCase() }), `'a'`, `'1'`],
    [
      'coordinates',
      define(types.text, {
        toDriver: ({ x, y }: { x: number, y: number }) => `${x};${y}`,
        fromDriver: (value: string) => {
          const [x, y] = value.split(';').map(Number)
          return { x, y }
        },
      }),
      `'1;2'`,
      `'0;-1.5'`,
    ],
    [
      'list',
      define(types.text, { toDriver: (value: string[]) => value.join(','), fromDriver: (value: string) => value.split(',') }),
      `'a,b'`,
      `'1'`,
    ],
    [
      'dateInText',
      define(types.text, { toDriver: (value: Date) => value.toISOString(), fromDriver: (value: string) => new Date(value) }),
      `'2024-02-29T12:30:15.123Z'`,
    ],
    [
      'dateLoosely',
      define(types.text, { toDriver: String, fromDriver: (value: string) => new Date(value) }),
      `'Thu Feb 29 2024 12:30:15 GMT+0000 (Coordinated Universal Time)'`,
    ],
    ['bigintInText', define(types.text, { toDriver: String, fromDriver: BigInt }), `'9007199254740993'`, `'0'`],
    [
      'yesOrNo',
      define(types.text, { toDriver: (value: boolean) => (value ? 'Y' : 'N'), fromDriver: (value: string) => value === 'Y' }),
      `'Y'`,
      `'N'`,
    ],
    [
      'jsonInText',
      define(types.text, { toDriver: JSON.stringify, fromDriver: JSON.parse }),
      `'{"a":[1,null]}'`,
      `'"1"'`,
      `'1'`,
      `'true'`,
      `'"a"'`,
    ],
    [
      'bytesInText',
      define(types.text, {
        toDriver: (value: Uint8Array) => Buffer.from(value).toString('hex'),
        fromDriver: (value: string) => Buffer.from(value, 'hex'),
      }),
      `'00ff'`,
      `'616263'`,
    ],
    [
      'hidden',
      define(types.text, {
        toDriver: (value: string) => `enc:${[...value].reverse().join('')}`,
        fromDriver: (value: string) => {
          if (!value.startsWith('enc:')) throw new Error('not encrypted')
          return [...value.slice(4)].reverse().join('')
        },
      }),
      `'enc:cba'`,
      `'enc:1'`,
    ],
    ['bareInteger', define(types.integer), '0', '-5', '2147483647'],
    [
      'cents',
      define(types.integer, { toDriver: (value: number) => Math.round(value * 100), fromDriver: (value: number) => Number(value) / 100 }),
      '150',
      '-1',
      '0',
    ],
    [
      'next',
      define(types.integer, { toDriver: (value: number) => value + 1, fromDriver: (value: number) => Number(value) - 1 }),
      '1',
      '10',
    ],
    [
      'dateInInteger',
      define(types.integer, {
        toDriver: (value: Date) => value.getTime() / 1000,
        fromDriver: (value: number) => new Date(Number(value) * 1000),
      }),
      '1709209815',
      '0',
    ],
    ['textOfInteger', define(types.integer, { toDriver: Number, fromDriver: (value: number) => `#${value}`.slice(1) }), '7', '0'],
    [
      'flag',
      define(types.integer, { toDriver: (value: boolean) => (value ? 1 : 0), fromDriver: (value: number) => Number(value) === 1 }),
      '1',
      '0',
    ],
    ['bareBytes', define(types.bytes), ...bytes],
    ['readBytes', define(types.bytes, { fromDriver: (value: Uint8Array) => new Uint8Array(value) }), ...bytes],
    ['writtenBytes', define(types.bytes, { toDriver: (value: Uint8Array) => Buffer.from(value) }), ...bytes],
    [
      'bothBytes',
      define(types.bytes, {
        toDriver: (value: Uint8Array) => Buffer.from(value),
        fromDriver: (value: Uint8Array) => new Uint8Array(value),
      }),
      ...bytes,
    ],
    [
      'hexOfBytes',
      define(types.bytes, {
        toDriver: (value: string) => Buffer.from(value, 'hex'),
        fromDriver: (value: Uint8Array) => Buffer.from(value).toString('hex'),
      }),
      ...bytes,
    ],
    [
      'textOfBytes',
      define(types.bytes, {
        toDriver: (value: string) => Buffer.from(value),
        fromDriver: (value: Uint8Array) => Buffer.from(value).toString(),
      }),
      toBytes('616263'),
    ],
    ['bareJson', define(types.json), `'{"a":1}'`, `'[1]'`, `'"a"'`, `'"1"'`, '\'1\''],
    [
      'readJson',
      define(types.json, { fromDriver: (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value) }),
      `'{"a":1}'`,
      `'[1]'`,
      '\'1\'',
    ],
    ['writtenJson', define(types.json, { toDriver: JSON.stringify }), `'{"a":1}'`, `'[1]'`],
  ]
}

function sqlite(): Row[] {
  const define: Define = (type, conversions) => lite.customType({ dataType: () => type, ...conversions } as never)('value')
  const hex = (digits: string) => `x'${digits}'`
  return [
    ['text', lite.text('value'), ...TEXTS],
    ['enum', lite.text('value', { enum: ['low', 'it\'s'] }), `'low'`, `'it''s'`],
    ['integer', lite.integer('value'), '0', '-1', '9007199254740991'],
    ['boolean', lite.integer('value', { mode: 'boolean' }), '1', '0'],
    ['seconds', lite.integer('value', { mode: 'timestamp' }), '1709209815', '0', '-1'],
    ['milliseconds', lite.integer('value', { mode: 'timestamp_ms' }), '1709209815123', '0'],
    ['numeric', lite.numeric('value'), '1.5', '9223372036854775807', '0'],
    ['numericNumber', lite.numeric('value', { mode: 'number' }), '1.5', '0', '-2'],
    ['numericBigint', lite.numeric('value', { mode: 'bigint' }), ...LARGE],
    ['real', lite.real('value'), ...DOUBLES],
    ['json', lite.text('value', { mode: 'json' }), `'{"a":[1,null]}'`, `'"1"'`, '\'1\'', `'true'`, `'"a,b"'`],
    ['blob', lite.blob('value', { mode: 'buffer' }), ...['', '00', 'ff00fe8081'].map(hex)],
    ['blobJson', lite.blob('value', { mode: 'json' }), hex('7b2261223a317d'), hex('223122')],
    ['blobBigint', lite.blob('value', { mode: 'bigint' }), hex('39303037313939323534373430393933')],
    // In SQLite, this type writes JSON and reads text: it has no form in JSON.
    ...customs(define, { text: 'text', integer: 'integer', bytes: 'blob', json: 'text' }, hex).filter(([name]) => name !== 'writtenJson'),
  ]
}

function postgres(): Row[] {
  const define: Define = (type, conversions) => pg.customType({ dataType: () => type, ...conversions } as never)('value')
  const level = pg.pgEnum('kept_level', ['low', 'it\'s'])
  const times = ['2024-02-29 12:30:15.123', '1999-12-31 23:59:59', '0044-03-15 10:00:00 BC']
  const zoned = ['2024-02-29 12:30:15.123+02', '1999-12-31 23:59:59+00']
  return [
    ['text', pg.text('value'), ...TEXTS],
    ['varchar', pg.varchar('value', { length: 50 }), ...TEXTS],
    ['char', pg.char('value', { length: 3 }), `'abc'`, `'a'`],
    ['enum', level('value'), `'low'`, `'it''s'`],
    ['uuid', pg.uuid('value'), `'11111111-1111-4111-8111-111111111111'`],
    ['smallint', pg.smallint('value'), '0', '-32768'],
    ['integer', pg.integer('value'), '0', '2147483647'],
    ['bigint53', pg.bigint('value', { mode: 'number' }), '9007199254740991'],
    ['bigint64', pg.bigint('value', { mode: 'bigint' }), ...LARGE],
    ['serial', pg.serial('value'), '1'],
    ['bigserial', pg.bigserial('value', { mode: 'bigint' }), ...LARGE],
    ['numeric', pg.numeric('value'), '123456789012345678901234567890.5', '0.10', '-1'],
    ['numericNumber', pg.numeric('value', { mode: 'number' }), '1.5', '0'],
    ['numericBigint', pg.numeric('value', { mode: 'bigint' }), ...LARGE],
    ['real', pg.real('value'), '0.1', '1.2345678', '0', '1e20'],
    ['double', pg.doublePrecision('value'), ...DOUBLES],
    ['boolean', pg.boolean('value'), 'true', 'false'],
    ['date', pg.date('value', { mode: 'date' }), `'2024-02-29'`],
    ['day', pg.date('value'), ...quotedAll(['2024-02-29', 'infinity', '0044-03-15 BC'])],
    ['time', pg.time('value'), ...quotedAll(['12:30:15.5', '00:00:00', '24:00:00'])],
    ['zonedTime', pg.time('value', { withTimezone: true }), ...quotedAll(['12:30:15+02', '00:00:00-05:30'])],
    ['interval', pg.interval('value'), ...quotedAll(['1 day 02:00:00', '-3 mons', '1 year'])],
    ['local', pg.timestamp('value', { precision: 3 }), ...quotedAll(times.slice(0, 2))],
    ['zoned', pg.timestamp('value', { precision: 3, withTimezone: true }), ...quotedAll(zoned)],
    ['localText', pg.timestamp('value', { mode: 'string' }), ...quotedAll([...times, 'infinity', '2024-02-29 12:30:15.123456'])],
    [
      'zonedText',
      pg.timestamp('value', { mode: 'string', withTimezone: true }),
      ...quotedAll([...zoned, '-infinity', '2024-02-29 12:30:15.1234+05:30']),
    ],
    ['seconds', pg.timestamp('value', { mode: 'string', precision: 0 }), ...quotedAll(['2024-02-29 12:30:15'])],
    ['json', pg.json('value'), ...quotedAll(['{"a":[1,null]}', '"1"', '1', 'true'])],
    ['jsonb', pg.jsonb('value'), ...quotedAll(['{"a":[1,null]}', '"1"', '1', 'true'])],
    ['inet', pg.inet('value'), ...quotedAll(['10.0.0.1', '10.0.0.1/8', '::1'])],
    ['cidr', pg.cidr('value'), `'10.0.0.0/8'`],
    ['macaddr', pg.macaddr('value'), `'08:00:2b:01:02:03'`],
    ['macaddr8', pg.macaddr8('value'), `'08:00:2b:01:02:03:04:05'`],
    ['point', pg.point('value'), `'(1,-2.5)'`],
    ['pointXy', pg.point('value', { mode: 'xy' }), `'(1,-2.5)'`],
    ['line', pg.line('value'), `'{1,2,3}'`],
    ['lineAbc', pg.line('value', { mode: 'abc' }), `'{1,2,3}'`],
    ['bit', pg.bit('value', { dimensions: 3 }), `'101'`],
    ['texts', pg.text('value').array(), ...quotedAll(['{a,"b,c",NULL}', '{}', '{1}'])],
    ['integers', pg.integer('value').array(), ...quotedAll(['{1,NULL}', '{}'])],
    ['bigints', pg.bigint('value', { mode: 'bigint' }).array(), ...quotedAll(['{9007199254740993,NULL}', '{}'])],
    ['numerics', pg.numeric('value').array(), ...quotedAll(['{9007199254740993.5}'])],
    ['booleans', pg.boolean('value').array(), ...quotedAll(['{t,f}'])],
    ['doubles', pg.doublePrecision('value').array(), ...quotedAll(['{0.1,1e20}'])],
    ['uuids', pg.uuid('value').array(), ...quotedAll(['{11111111-1111-4111-8111-111111111111}'])],
    ['days', pg.date('value').array(), ...quotedAll(['{2024-02-29}'])],
    ['dates', pg.date('value', { mode: 'date' }).array(), ...quotedAll(['{2024-02-29}'])],
    ['instants', pg.timestamp('value', { withTimezone: true }).array(), ...quotedAll(['{"2024-02-29 12:30:15.123+02",NULL}'])],
    ['locals', pg.timestamp('value', { mode: 'string' }).array(), ...quotedAll(['{"2024-02-29 12:30:15.123",NULL}'])],
    ['bareTexts', define('text[]'), ...quotedAll(['{a,"b,c",NULL}', '{}'])],
    ['bareIntegers', define('integer[]'), ...quotedAll(['{1,2}', '{}'])],
    ['barePoint', define('point'), `'(1,2)'`],
    ['bareTimestamp', define('timestamptz'), `'2024-02-29 12:30:15.123+00'`],
    ['bareBoolean', define('boolean'), 'true', 'false'],
    ['bareNumeric', define('numeric'), '1.50'],
    ...customs(define, { text: 'text', integer: 'integer', bytes: 'bytea', json: 'jsonb' }, digits => `'\\x${digits}'`),
  ]
}

function mysql(): Row[] {
  const define: Define = (type, conversions) => my.customType({ dataType: () => type, ...conversions } as never)('value')
  const hex = (digits: string) => `x'${digits}'`
  const bytes = ['', '00', 'ff00fe8081', '616263'].map(hex)
  const times = quotedAll(['2024-02-29 12:30:15.123', '1999-12-31 23:59:59'])
  return [
    ['varchar', my.varchar('value', { length: 50 }), ...TEXTS],
    ['char', my.char('value', { length: 3 }), `'abc'`, `'a'`],
    ['text', my.text('value'), ...TEXTS],
    ['tinytext', my.tinytext('value'), ...TEXTS],
    ['enum', my.mysqlEnum('value', ['low', 'mid']), `'low'`, `'mid'`],
    ['tinyint', my.tinyint('value'), '0', '-128'],
    ['smallint', my.smallint('value'), '0', '-32768'],
    ['mediumint', my.mediumint('value'), '0', '8388607'],
    ['int', my.int('value'), '0', '2147483647'],
    ['unsigned', my.int('value', { unsigned: true }), '4294967295'],
    ['bigint53', my.bigint('value', { mode: 'number' }), '9007199254740991'],
    ['bigint64', my.bigint('value', { mode: 'bigint' }), ...LARGE],
    ['ubigint', my.bigint('value', { mode: 'bigint', unsigned: true }), '18446744073709551615'],
    ['decimal', my.decimal('value', { precision: 40, scale: 7 }), '12345678901234567890.5', '0', '-1.25'],
    ['decimalNumber', my.decimal('value', { mode: 'number', precision: 12, scale: 3 }), '1.5', '0'],
    ['decimalBigint', my.decimal('value', { mode: 'bigint', precision: 30 }), ...LARGE],
    ['double', my.double('value'), ...DOUBLES],
    ['real', my.real('value'), ...DOUBLES],
    ['float', my.float('value'), '0.1', '1.2345678', '0', '1e20', '16777216', '123456.789'],
    ['boolean', my.boolean('value'), 'true', 'false'],
    ['date', my.date('value'), `'2024-02-29'`],
    ['day', my.date('value', { mode: 'string' }), `'2024-02-29'`],
    ['time', my.time('value'), ...quotedAll(['12:30:15', '-100:00:00'])],
    ['timeFsp', my.time('value', { fsp: 3 }), ...quotedAll(['12:30:15.500'])],
    ['year', my.year('value'), '2024', '1999'],
    ['datetime', my.datetime('value', { fsp: 3 }), ...times],
    ['timestamp', my.timestamp('value', { fsp: 3 }), ...times],
    ['datetimeText', my.datetime('value', { mode: 'string', fsp: 6 }), ...times, `'2024-02-29 12:30:15.123456'`],
    ['timestampText', my.timestamp('value', { mode: 'string', fsp: 3 }), ...times],
    ['seconds', my.datetime('value', { mode: 'string' }), `'2024-02-29 12:30:15'`],
    ['json', my.json('value'), ...quotedAll(['{"a":[1,null]}', '"1"', '1', 'true'])],
    ['binary', my.binary('value', { length: 4 }), hex('ff00fe80'), hex('61626364')],
    ['varbinary', my.varbinary('value', { length: 10 }), ...bytes],
    ...customs(define, { text: 'varchar(100)', integer: 'int', bytes: 'varbinary(100)', json: 'json' }, hex),
  ]
}

const ROWS: Readonly<
  Record<Dialect, { rows: () => Row[], table: (name: string, columns: object) => Table, key: () => { primaryKey: () => unknown } }>
> = {
  sqlite: { rows: sqlite, table: lite.sqliteTable as never, key: () => lite.text('id') },
  pg: { rows: postgres, table: pg.pgTable as never, key: () => pg.varchar('id', { length: 20 }) },
  mysql: { rows: mysql, table: my.mysqlTable as never, key: () => my.varchar('id', { length: 20 }) },
}

/** What must exist before the tables. */
export const BEFORE: Readonly<Partial<Record<Dialect, string>>> = { pg: `create type kept_level as enum ('low', 'it''s')` }

export function typeCases(dialect: Dialect): TypeCase[] {
  const { rows, table, key } = ROWS[dialect]
  const toSnake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  return rows().map(([name, column, ...literals], index) => {
    // A builder belongs to one table.
    const again = rows()[index]![1]
    const [source, copy] = [column, again].map((value, which) =>
      table(`${which ? 'copy' : 'kept'}_${toSnake(name)}`, { id: key().primaryKey(), value }),
    ) as [Table, Table]
    const type = sqlTypeOf(getTableColumns(source).value!)
    const create = ['kept', 'copy'].map(prefix => `create table ${prefix}_${toSnake(name)} (id varchar(20) primary key, value ${type})`)
    const inserted = `insert into kept_${toSnake(name)} values ${literals.map((literal, at) => `('r${at}', ${literal})`).join(', ')}`
    return { name, table: source, copy, create: [...create, inserted], literals }
  })
}

/** The stored value as text that differs if any byte or digit differs. */
export const STORED: Readonly<Record<Dialect, (type: string) => string>> = {
  sqlite: () => 'quote(value)',
  pg: () => 'cast(value as text)',
  mysql: type => type === 'float' ? 'hex(value + 0e0)' : /binary/.test(type) ? 'hex(value)' : 'cast(value as char)',
}
