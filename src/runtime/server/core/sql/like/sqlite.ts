/**
 * Implements `$like` on SQLite in time linear in the length of the text. The LIKE of SQLite compares the pattern at every position, and
 * D1 limits its patterns to fifty bytes. The conditions compare both sides in lower case. On SQLite, `lower` changes only ASCII letters,
 * so the result is the same as with LIKE.
 */
import type { Field } from '../../../schema/field'
import { limitExceeded } from '../../error'
import { value, where, type Where } from '../where'

/** Represents `_`, which matches any one character. It is a number, because the other characters of a pattern are strings. */
const ANY_CHARACTER = 1

/** The part of a pattern between two `%`. */
type Part = readonly (string | typeof ANY_CHARACTER)[]

/** LIKE is fast enough for parts of at most this length, and for a part at the beginning of the text. */
const MAX_SHORT_PART = 4

/**
 * @param limit the maximum number of bytes in a LIKE pattern
 * @throws `LIMIT_EXCEEDED` for a longer pattern that contains `_`
 */
export function sqliteLike(field: Field, pattern: string, limit = Infinity, parameter = 'filter'): Where {
  const parts = toParts(pattern)
  const text = where`lower(${field.column})`
  if (parts.length === 3 && parts[0]!.length === 0 && parts[2]!.length === 0 && isText(parts[1]!))
    return contains(text, parts[1]!.join(''))
  const fits = new TextEncoder().encode(pattern).length <= limit
  if (parts.every(isText) && (!fits || parts.slice(1).some(({ length }) => length > MAX_SHORT_PART)))
    return inOrder(text, parts.map(part => part.join('')))
  if (!fits) throw limitExceeded(`\`${parameter}\`: $like with \`_\` accepts at most ${limit} bytes on this database.`, parameter)
  const longest = longestText(parts.slice(1))
  const whole = like(field, pattern)
  // The search for a part saves nothing if the pattern has text only at its beginning, or if the part is a single character.
  return [...longest].length < 2 ? whole : where`(${contains(text, longest)} and ${whole})`
}

const isText = (part: Part): part is readonly string[] => part.every(item => item !== ANY_CHARACTER)

const like = ({ column }: Field, pattern: string): Where => where`${column} like ${value(pattern)} escape '\\'`

const contains = (text: Where, part: string): Where => where`instr(${text}, ${value(part)}) > 0`

/**
 * Finds the parts in order. Each part matches at its first position after the previous part, which leaves the most text for the next one.
 * In this SQL, `k` is the number of parts found so far, and `rest` is the text after them. The first condition rejects most rows early.
 *
 * `instr(lower(title), ?) > 0 and substr(lower(title), 1, ?) = ? and exists (
 *   with recursive found(k, rest) as (
 *     select 0, substr(lower(title), ?)
 *     union all select k + 1, substr(rest, instr(rest, ? ->> k) + length(? ->> k)) from found where k < ? and instr(rest, ? ->> k) > 0
 *   ) select 1 from found where k = ? and substr(rest, -length(?)) = ?
 * )`
 */
function inOrder(text: Where, parts: readonly string[]): Where {
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (parts.length === 1) return where`${text} = ${value(first)} collate binary`
  const middle = JSON.stringify(parts.slice(1, -1))
  const longest = parts.reduce((longest, part) => part.length > longest.length ? part : longest)
  const [headLength, tailLength, middleCount] = [[...first].length, [...last].length, parts.length - 2]
  const nextPart = where`(${value(middle)} ->> k)`
  const nextRest = where`substr(rest, instr(rest, ${nextPart}) + length(${nextPart}))`
  const step = where`select k + 1, ${nextRest} from found where k < ${value(middleCount)} and instr(rest, ${nextPart}) > 0`
  // If `rest` is shorter than the last part, `substr` returns all of `rest`, which differs from that part.
  const endsWithLast = where`substr(rest, ${value(-tailLength)}, ${value(tailLength)}) = ${value(last)} collate binary`
  const match = where`select 1 from found where k = ${value(middleCount)} and ${endsWithLast}`
  const rest = where`substr(${text}, ${value(headLength + 1)})`
  const startsWithFirst = where`substr(${text}, 1, ${value(headLength)}) = ${value(first)} collate binary`
  const found = where`with recursive found(k, rest) as (select 0, ${rest} union all ${step}) ${match}`
  return where`(instr(${text}, ${value(longest)}) > 0 and ${startsWithFirst} and exists (${found}))`
}

/** Splits a pattern at `%`. A `\` escapes the next character, and several `%` in a row count as one. */
function toParts(pattern: string): readonly Part[] {
  const parts: (string | typeof ANY_CHARACTER)[][] = [[]]
  let isAfterPercent = false
  for (const [found, escaped] of pattern.matchAll(/\\(.)|./gsu)) {
    if (found === '%' && isAfterPercent) continue
    isAfterPercent = found === '%'
    if (isAfterPercent) parts.push([])
    else parts.at(-1)!.push(found === '_' ? ANY_CHARACTER : (escaped ?? found).replace(/[A-Z]/, letter => letter.toLowerCase()))
  }
  return parts
}

/** The longest text that every match contains. A search for this text rejects most rows early. */
function longestText(parts: readonly Part[]): string {
  const texts = ['', ...parts.flatMap(part => part.map(item => item === ANY_CHARACTER ? '\0' : item).join('').split('\0'))]
  return texts.reduce((longest, text) => text.length > longest.length ? text : longest)
}
