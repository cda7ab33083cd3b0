/** Times that Drizzle reads and writes as text: converts them to the text that the database stores, in UTC. */
import type { Column } from 'drizzle-orm'

const DAY_TEXT = String.raw`(\d{4})-(\d{2})-(\d{2})`
const CLOCK_TEXT = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?`
const OFFSET_TEXT = String.raw`(?:(Z)|([+-])(\d{2})(?::?(\d{2}))?(?::(\d{2}))?)?`

const TIME = new RegExp(`^${DAY_TEXT}(?:[T ]${CLOCK_TEXT}${OFFSET_TEXT})?$`, 'i')

/**
 * The parts of a time in UTC, or `undefined` for text that is no time of a four-digit year, such as `infinity`.
 * @example readTime('2024-03-10T10:00+02:00') // { seconds: '2024-03-10T08:00:00', fraction: '' }
 */
export function readTime(text: string): { readonly seconds: string, readonly fraction: string } | undefined {
  const found = TIME.exec(text)
  if (!found) return undefined
  const numbers = (start: number, end: number) => found.slice(start, end).map(part => Number(part ?? 0))
  const [year, month, day] = numbers(1, 4) as [number, number, number]
  const [hour, minute, second] = numbers(4, 7) as [number, number, number]
  // JavaScript would read a day that does not exist, such as February 30, as a day in March. The database refuses such text.
  const isDay = new Date(Date.UTC(2000 + year % 400, month - 1, day)).getUTCDate() === day
  if (!isDay || hour > 24 || minute > 59 || second > 59) return undefined
  const [hours, minutes, seconds] = numbers(10, 13) as [number, number, number]
  const offset = (hours * 3600 + minutes * 60 + seconds) * (found[9] === '-' ? -1 : 1)
  const time = new Date(0)
  time.setUTCFullYear(year, month - 1, day)
  time.setUTCHours(hour, minute, second - offset)
  return { seconds: time.toISOString().replace('.000Z', ''), fraction: found[7] ?? '' }
}

/**
 * Returns the text that the column stores: `2024-03-10 08:00:00`, with `+00` if the column has a zone. Other text stays as it is.
 * @param value text with or without an offset (without one it is UTC), or a `Date`
 */
export function toStoredTime(value: unknown, column: Column): unknown {
  const text = value instanceof Date ? value.toISOString() : value
  const time = typeof text === 'string' ? readTime(text) : undefined
  if (!time) return text
  const { withTimezone = false } = column as Column & { readonly withTimezone?: boolean }
  return `${time.seconds.replace('T', ' ')}${time.fraction && `.${time.fraction}`}${withTimezone ? '+00' : ''}`
}
