/** The text formats of column types: dates, times, intervals and network addresses. */

/** Matches NUL characters and lone surrogates. Postgres refuses NUL characters, and UTF-8 cannot represent lone surrogates. */
const UNSTORABLE = /\0|\p{Surrogate}/u

export const isStorableText = (text: string): boolean => !UNSTORABLE.test(text)

const DATE_TEXT = /^(\d{4,7})-(\d{2})-(\d{2})(?:[T ](.+))?$/i

const TIME_TEXT = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:Z|[+-](\d{2})(?::?(\d{2}))?(?::\d{2})?)?$/i

/** Whether the text is a date, with or without a time, in the format of ISO 8601 or of the databases. */
export function isDateText(text: string): boolean {
  const [, year, month, day, time] = DATE_TEXT.exec(text) ?? []
  if (year === undefined || Number(year) < 1 || Number(month) < 1 || Number(month) > 12) return false
  return Number(day) >= 1 && Number(day) <= daysOf(Number(year), Number(month)) && (time === undefined || isTimeText(time))
}

const daysOf = (year: number, month: number) => new Date(Date.UTC(2000 + year % 400, month, 0)).getUTCDate()

export function isTimeText(text: string): boolean {
  const found = TIME_TEXT.exec(text)
  if (!found) return false
  const [hour, minute, second, hours, minutes] = found.slice(1).map(part => Number(part ?? 0)) as [number, number, number, number, number]
  const isLast = hour === 24 && minute === 0 && second === 0
  return (hour <= 23 || isLast) && minute <= 59 && second <= 59 && hours <= 15 && minutes <= 59
}

/** The units of an interval, in all spellings that Postgres accepts. */
const UNITS = [
  '(?:micro|milli)?s(?:ec(?:ond)?s?)?',
  '[um]s(?:ecs?)?',
  'm(?:in(?:ute)?s?)?',
  'h(?:(?:ou)?rs?)?',
  'd(?:ays?)?',
  'w(?:eeks?)?',
  'mon(?:th)?s?',
  'y(?:(?:ea)?rs?)?',
  'dec(?:ade)?s?',
  'c(?:ent(?:ury|uries)?)?',
  'mil(?:lenni(?:um|a))?s?',
].join('|')

const AMOUNT = '[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)'

const WORD = new RegExp(`^(?:[+-]?\\d+(?::\\d{1,2}){1,2}(?:\\.\\d*)?|[+-]?\\d+-\\d+|${AMOUNT}(?:${UNITS})?|${UNITS})$`, 'i')

const ISO_INTERVAL = /^P(?=.*\d)[-\dYMWDTHS.:]+$/i

/** Checks each word of an interval roughly: `1 day 02:03:04`, `P1Y2M`, `@ 3 mons ago`. The database checks the rest. */
export function isInterval(text: string): boolean {
  if (text.length > 200) return false
  if (ISO_INTERVAL.test(text) || INFINITY_TEXT.test(text)) return true
  const words = text.trim().replace(/^@/, '').trim().split(/[\s,]+/)
  if (words.at(-1)!.toLowerCase() === 'ago') words.pop()
  return words.some(word => /\d/.test(word)) && words.every(word => WORD.test(word))
}

export const INFINITY_TEXT = /^[+-]?infinity$/i

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/

export function isAddress(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  if (more.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return false
  if (IPV4.test(address)) return Number(bits ?? 0) <= 32
  return Number(bits ?? 0) <= 128 && /^[\da-f:.]+$/i.test(address) && address.includes(':') && URL.canParse(`http://[${address}]`)
}

/** Matches an IPv4 network, including short forms such as `10.1/16`. */
export const NETWORK = /^\d{1,3}(?:\.\d{1,3}){0,3}(?:\/\d{1,2})?$/
