/** Times as texts, in UTC, so that the server and the browser render the same. */

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

/** `3 Jan 2026` */
export const dayOf = (time: string): string => DAY.format(new Date(time))

/** `3 Jan 2026, 14:05` */
export const minuteOf = (time: string): string => `${dayOf(time)}, ${time.slice(11, 16)}`
