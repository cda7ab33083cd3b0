/** Dates as an input of a date edits them: the numbers of a calendar, in the time zone of the reader for a time. */

export interface DateParts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
}

/** Returns the parts of a time of the API, in the time zone of the reader. `undefined` if it is none. */
export function toParts(value: string): DateParts | undefined {
  const date = new Date(value)
  if (value === '' || Number.isNaN(date.getTime())) return undefined
  return {
    year: date.getFullYear(), month: date.getMonth() + 1, day: date.getDate(), hour: date.getHours(), minute: date.getMinutes(),
  }
}

/** Returns the time of the API. */
export function fromParts({ year, month, day, hour, minute }: DateParts): string {
  // The constructor takes the years 0 to 99 for those of the last century.
  const date = new Date(2000, month - 1, day, hour, minute)
  date.setFullYear(year, month - 1, day)
  return date.toISOString()
}

/** Returns the parts of a day such as `2026-02-28`, which has no time zone. */
export function toDay(value: string): DateParts | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(value) ?? []
  return day === undefined ? undefined : { year: Number(year), month: Number(month), day: Number(day), hour: 0, minute: 0 }
}

/** Returns `2026-02-28`. */
export function fromDay({ year, month, day }: Pick<DateParts, 'year' | 'month' | 'day'>): string {
  const pad = (part: number, length = 2) => String(part).padStart(length, '0')
  return `${pad(year, 4)}-${pad(month)}-${pad(day)}`
}
