/** Tests whether a column can hold a value of its kind, so that the API refuses every value that the database would refuse. */
import { is, SQL, type Column } from 'drizzle-orm'
import { EXPECTED, type Kind } from '../../shared/wire'
import { elementsOf, encodeValue, sqlTypeOf, typeOf } from '../drizzle/index'
import { isScalar } from '../engines/driver-scalar'
import { isStorableText, isDateText, isTimeText, isInterval, INFINITY_TEXT, isAddress, NETWORK } from './text-formats'

/** Tests a Drizzle value (such as a `Date`), never null. */
type Test = (value: unknown, column: Column) => boolean

export const text = (test: (text: string) => boolean): Test => value => typeof value === 'string' && test(value)

/** Accepts only years that ISO 8601 writes with four digits, because every dialect accepts these. */
const isYear = (year: number) => year >= 1 && year <= 9999

function isDate(value: unknown): boolean {
  return value instanceof Date && isYear(value.getUTCFullYear())
}

const hexadecimal = (...digits: number[]): Test => text(value =>
  /^[\da-f]+(?:[:.-][\da-f]+)*$/i.test(value) && digits.includes(value.replace(/[:.-]/g, '').length))

/** Tests a single-precision value: it must not overflow to infinity or underflow to zero. */
const isReal: Test = (value, column) => {
  const rounded = Math.fround(value as number)
  return isSignAllowed(value, column) && Number.isFinite(rounded) && (value === 0 || rounded !== 0)
}

/** Refuses a negative value for an `unsigned` type. Only MySQL has unsigned types. */
const isSignAllowed: Test = (value, column) => Number(value) >= 0 || !sqlTypeOf(column).includes('unsigned')

/** Limits the digits before the decimal point. The database rounds the digits after the decimal point. */
const isNumeric: Test = (value, column) => {
  const { precision, scale } = column as Column & { precision?: number, scale?: number }
  const [digits, decimals] = typeOf(column).startsWith('MySql') ? [precision ?? 10, scale ?? 0] : [precision, scale ?? 0]
  if (!isSignAllowed(value, column)) return false
  if (digits === undefined) return true
  if (typeof value === 'number') return Math.abs(value) < 10 ** (digits - decimals)
  // In Postgres, the scale can be larger than the precision. Such a column has no digits before the decimal point.
  return String(value).replace(/^[+-]?0*|\..*$/g, '').length <= Math.max(0, digits - decimals)
}

/** Whether Postgres accepts all strings and property names of a JSON value in `jsonb`. */
function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isStorableJson)
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && isStorableJson(inner))
}

/** Types in which SQLite stores text and numbers unchanged. In all other types, SQLite stores a whole number as an integer. */
const STORED_UNCHANGED = /^(?!.*int).*(?:char|clob|text|blob|real|floa|doub)/i

/** Refuses an integer that a double cannot hold. SQLite would store it, but libSQL's driver would refuse to read the row. */
function isReadable(encoded: unknown, column: Column): boolean {
  if (!typeOf(column).startsWith('SQLite') || typeof encoded === 'bigint' || STORED_UNCHANGED.test(sqlTypeOf(column))) return true
  const number = typeof encoded === 'string' && encoded.length < 400 ? Number(encoded) : encoded
  return !Number.isInteger(number) || Number.isSafeInteger(number)
}

/**
 * Tests the result of a custom type's `toDriver`, which can have any type. Without `toDriver`, the driver receives the value unchanged.
 */
const isCustom: Test = (value, column) => {
  if (typeof value === 'string' && !isStorableText(value)) return false
  try {
    const encoded = encodeValue(column, value)
    return is(encoded, SQL) || (isScalar(encoded) && isReadable(encoded, column))
  }
  catch {
    return false
  }
}

const isArray: Test = (value, column) => {
  const elements = elementsOf(column)!
  const test = testOf(elements.type, elements.kind)
  const isElement = (item: unknown) => item === null || (isStorableJson(item) && (!test || test(item, elements.column)))
  const isNested = (items: unknown, depth: number): boolean =>
    Array.isArray(items) && items.every(item => depth === 1 ? isElement(item) : item === null || isNested(item, depth - 1))
  return isNested(value, elements.depth)
}

/** Accepts times before the common era too. Postgres writes these with `BC`. It would drop the offset of one without a zone. */
const isPostgresTime: Test = (value, column) => text((time) => {
  const inEra = time.replace(/ BC$/i, '')
  return (isDateText(inEra) && (hasZone(column) || !OFFSET.test(inEra))) || INFINITY_TEXT.test(time)
})(value, column)

/** A time of day with an offset. The databases drop the offset if the column has no zone. */
const OFFSET = /:.*(?:Z|[+-]\d{2}(?::?\d{2}){0,2})$/i

const isPostgresDay = text(value => (isDateText(value.replace(/ BC$/i, '')) && !OFFSET.test(value)) || INFINITY_TEXT.test(value))

const isMySqlTime = text(value => isDateText(value) && !/BC$/i.test(value))

const isMySqlDay = text(value => isDateText(value) && !/BC$/i.test(value) && !OFFSET.test(value))

const isPostgresClock: Test = (value, column) =>
  text(time => isTimeText(time) && (hasZone(column) || !OFFSET.test(time)))(value, column)

const hasZone = (column: Column) => (column as Column & { readonly withTimezone?: boolean }).withTimezone === true

const BY_TYPE: Readonly<Record<string, Test>> = {
  PgReal: isReal,
  MySqlFloat: isReal,
  MySqlDouble: isSignAllowed,
  MySqlReal: isSignAllowed,
  PgNumeric: isNumeric,
  PgNumericNumber: isNumeric,
  PgNumericBigInt: isNumeric,
  MySqlDecimal: isNumeric,
  MySqlDecimalNumber: isNumeric,
  MySqlDecimalBigInt: isNumeric,
  PgDateString: isPostgresDay,
  PgTimestampString: isPostgresTime,
  PgTime: isPostgresClock,
  PgInterval: text(isInterval),
  PgInet: text(isAddress),
  PgCidr: text(value => isAddress(value) || NETWORK.test(value)),
  PgMacaddr: hexadecimal(12),
  PgMacaddr8: hexadecimal(12, 16),
  PgJsonb: isStorableJson,
  PgArray: isArray,
  // MySQL drops spaces at the end of a CHAR, so the row would have another value, and another key.
  MySqlChar: text(value => isStorableText(value) && !value.endsWith(' ')),
  MySqlDateString: isMySqlDay,
  MySqlDateTimeString: isMySqlTime,
  MySqlTimestampString: isMySqlTime,
  MySqlTime: text(value => /^-?\d{1,3}:[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?$/.test(value)),
}

const BY_KIND: Readonly<Partial<Record<Kind, Test>>> = { custom: isCustom, date: isDate, text: text(isStorableText) }

const testOf = (type: string, kind: Kind): Test | undefined => BY_TYPE[type] ?? BY_KIND[kind]

/** The name of the expected value in error messages, by column type. Other types use the name of their kind. */
const EXPECTED_OF: Readonly<Record<string, string>> = {
  PgDateString: 'an ISO 8601 date', PgTimestampString: 'an ISO 8601 date',
  MySqlDateString: 'an ISO 8601 date', MySqlDateTimeString: 'an ISO 8601 date', MySqlTimestampString: 'an ISO 8601 date',
  PgTime: 'a time, such as 12:30:00', MySqlTime: 'a time, such as 12:30:00', PgInterval: 'an interval, such as 1 day 02:00:00',
  PgInet: 'an IP address', PgCidr: 'an IP network', PgMacaddr: 'a MAC address', PgMacaddr8: 'a MAC address',
  PgJsonb: 'JSON without NUL characters and halves of surrogate pairs',
}

/** Returns the name of the column's values in error messages. */
export function expectedOf(column: Column, kind: Kind): string {
  const { enumValues, length } = column as Column & { readonly length?: number }
  const isText = kind === 'text'
  const trimmed = typeOf(column) === 'MySqlChar' ? ', without a space at its end' : ''
  return EXPECTED_OF[typeOf(column)]
    ?? (isText && enumValues?.length ? `one of ${enumValues.join(', ')}` : undefined)
    ?? (isText && length !== undefined ? `text of at most ${length} characters${trimmed}` : EXPECTED[kind])
}

/** Creates the check that a column can hold a value of its kind. The column's schema checks length, range and enum. */
export function createValueTest(column: Column, kind: Kind): (value: unknown) => boolean {
  const test = testOf(typeOf(column), kind)
  return test ? value => test(value, column) : () => true
}
