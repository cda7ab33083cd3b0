/** A range of time as the filters of the audit log have it: two values such as `2026-11-22T17:43`, in the time zone of the reader. */

/** Days of the ranges that a person can choose at once. Today is one day. */
export const RANGES = [1, 7, 30] as const

const two = (part: number) => String(part).padStart(2, '0')

/** Returns the start of the day some days ago: today for 1. */
export function startOf(days: number, now: Date): string {
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days + 1)
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}T00:00`
}

/** Returns the date of one end of a range, with the time if it is not midnight. `undefined` if it is no date. */
export function endText(local: string, locale: string): string | undefined {
  const time = Date.parse(local)
  if (Number.isNaN(time)) return undefined
  const hasTime = /T(?!00:00)/.test(local)
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...hasTime && { timeStyle: 'short' } }).format(time)
}

/**
 * Returns the date that the API takes; `undefined` if it is no date.
 * @param zone `UTC` until the page is hydrated, because the server does not know the time zone of the reader
 */
export const toIso = (local: string, zone: 'UTC' | 'local' = 'local'): string | undefined => {
  const time = Date.parse(zone === 'UTC' && /T[\d:.]+$/.test(local) ? `${local}Z` : local)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
