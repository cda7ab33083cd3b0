/** Dates as people read them. */

const UNITS = [
  ['year', 31_536_000], ['month', 2_592_000], ['week', 604_800], ['day', 86_400], ['hour', 3600], ['minute', 60],
] as const satisfies readonly (readonly [Intl.RelativeTimeFormatUnit, number])[]

/** Returns `3 days ago`. */
export function toRelative(date: string, current: number, locale = 'en'): string {
  const seconds = (Date.parse(date) - current) / 1000
  if (Number.isNaN(seconds)) return date
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return unit === 'second' ? format.format(0, 'second') : format.format(Math.round(seconds / size), unit)
}

/** Days after which a date is clearer than the time since then. */
const RELATIVE_DAYS = 7

/** Returns `3 days ago` for a time of the last or next days, else the date: `12 Mar 2026`. */
export function toNear(date: string, current: number, locale = 'en', timeZone?: string): string {
  const time = Date.parse(date)
  if (Number.isNaN(time)) return date
  return Math.abs(time - current) < RELATIVE_DAYS * 86_400_000
    ? toRelative(date, current, locale)
    : new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone }).format(time)
}

/** Returns the date with the time to the minute: `12 Mar 2026, 17:43`. */
export function toExact(date: string, locale = 'en', timeZone?: string): string {
  const time = Date.parse(date)
  return Number.isNaN(time) ? date : new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(time)
}

/** Returns `2026-11-22 17:43`, in the time zone of the reader. */
export function toLocal(date: string): string {
  const value = new Date(date)
  if (Number.isNaN(value.getTime())) return date
  const two = (part: number) => String(part).padStart(2, '0')
  return `${value.getFullYear()}-${two(value.getMonth() + 1)}-${two(value.getDate())} ${two(value.getHours())}:${two(value.getMinutes())}`
}

/** Returns the value of an `<input type="datetime-local">` for a date of the API. */
export const toInput = (date: string): string => toLocal(date).replace(' ', 'T')
