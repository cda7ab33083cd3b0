/** Converts the text in which drivers of Postgres and MySQL return times directly to JSON, without a `Date` in between. */
import { readTime } from '../drizzle/time-text'

const SAMPLE = '2026-01-28 23:59:58.765'
const SAMPLE_AS_JSON = '2026-01-28T23:59:58.765Z'

/** From the year 1000 to 9999, up to the 28th of a month: every such day exists. */
const TIME = String.raw`[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?`

/**
 * Returns a function that converts a driver value to the same JSON as `decode` and `Date.toJSON`. It returns `undefined` for values that
 * `decode` has to convert. Returns `undefined` if the column has no such values.
 * @param decode converts a driver value to the Drizzle value
 * @param sqlType the column's type. Postgres adds the offset of the session to times with a zone.
 * @example createTimeReader(text => new Date(text), 'timestamp with time zone')!('2026-01-28 12:00:00.5+00') // '2026-01-28T12:00:00.500Z'
 */
export function createTimeReader(
  decode: (raw: unknown) => unknown, sqlType: string,
): ((raw: unknown) => string | undefined) | undefined {
  const ending = sqlType.endsWith('with time zone') ? '+00' : ''
  const time = decode(SAMPLE + ending)
  if (!(time instanceof Date) || time.toJSON() !== SAMPLE_AS_JSON) return undefined
  const pattern = new RegExp(`^${TIME}${ending.replace('+', String.raw`\+`)}$`)
  return (raw) => {
    if (typeof raw !== 'string' || !pattern.test(raw)) return undefined
    return `${raw.slice(0, 10)}T${raw.slice(11, 19)}${fractionOf(raw, raw.length - ending.length)}Z`
  }
}

/** Three digits: a `Date` has no smaller parts. */
function fractionOf(text: string, end: number): string {
  if (end === 19) return '.000'
  return end >= 23 ? text.slice(19, 23) : text.slice(19, end) + '0'.repeat(23 - end)
}

const UTC = new RegExp(String.raw`^${TIME}(?:\+00)?$`)

/**
 * Converts the text of a time in `string` mode to ISO 8601 in UTC, with at least three digits of the second. Times that ISO 8601 has no
 * four-digit years for, and `infinity`, stay as the database writes them.
 * @example toIsoTime('2024-03-10 10:00:00.1234+02') // '2024-03-10T08:00:00.1234Z'
 */
export function toIsoTime(text: string): string {
  if (UTC.test(text)) {
    const end = text.endsWith('+00') ? text.length - 3 : text.length
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${digitsOf(text.slice(20, end))}Z`
  }
  const time = readTime(text)
  return time ? `${time.seconds}.${digitsOf(time.fraction)}Z` : text
}

/** MySQL writes all digits that a column can have, and Postgres leaves out zeros at the end. */
const digitsOf = (fraction: string) => (fraction.length > 3 ? fraction.replace(/0+$/, '') : fraction).padEnd(3, '0')
