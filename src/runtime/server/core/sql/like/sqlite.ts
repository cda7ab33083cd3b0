/**
 * Implements `$like` on SQLite in time linear in the length of the text. The LIKE of SQLite compares the pattern at every position, and
 * D1 limits its patterns to fifty bytes. The conditions compare both sides in lower case. On SQLite, `lower` changes only ASCII letters,
 * so the result is the same as with LIKE.
 */
import { sql, type SQL } from 'drizzle-orm'
import { shape } from '../shape'
import type { Field } from '../../../schema/field'
import { limitExceeded } from '../../error'
import type { Clause } from '../clause'

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
export function sqliteLike(field: Field, pattern: string, limit = Infinity, parameter = 'filter'): Clause {
  const parts = toParts(pattern)
  const text = sql`lower(${field.column})`
  if (parts.length === 3 && parts[0]!.length === 0 && parts[2]!.length === 0 && isText(parts[1]!))
    return contains(field, text, parts[1]!.join(''))
  const fits = new TextEncoder().encode(pattern).length <= limit
  if (parts.every(isText) && (!fits || parts.slice(1).some(({ length }) => length > MAX_SHORT_PART)))
    return inOrder(
      field,
      text,
      parts.map(part => part.join('')),
    )
  if (!fits) throw limitExceeded(`\`${parameter}\`: $like with \`_\` accepts at most ${limit} bytes on this database.`, parameter)
  const [part, whole] = [contains(field, text, longestText(parts.slice(1))), like(field, pattern)]
  // The search for a part saves nothing if the pattern has text only at its beginning, or if the part is a single character.
  if (part.values[0] === '' || [...part.values[0] as string].length === 1) return whole
  return {
    shape: shape`${field.column} like with part`,
    values: [...part.values, ...whole.values],
    build: () => sql`(${part.build()} and ${whole.build()})`,
  }
}

const isText = (part: Part): part is readonly string[] => part.every(item => item !== ANY_CHARACTER)

function like({ column }: Field, pattern: string): Clause {
  return { shape: shape`${column} like`, values: [pattern], build: () => sql`${column} like ${sql.param(pattern)} escape '\\'` }
}

function contains({ column }: Field, text: SQL, part: string): Clause {
  return { shape: shape`${column} part`, values: [part], build: () => sql`instr(${text}, ${sql.param(part)}) > 0` }
}

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
function inOrder(field: Field, text: SQL, parts: readonly string[]): Clause {
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (parts.length === 1) {
    return { shape: shape`${field.column} whole`, values: [first], build: () => sql`${text} = ${sql.param(first)} collate binary` }
  }
  const middle = JSON.stringify(parts.slice(1, -1))
  const longest = parts.reduce((longest, part) => part.length > longest.length ? part : longest)
  const [headLength, tailLength, middleCount] = [[...first].length, [...last].length, parts.length - 2]
  const nextPart = sql`(${sql.param(middle)} ->> k)`
  const nextRest = sql`substr(rest, instr(rest, ${nextPart}) + length(${nextPart}))`
  const step = sql`select k + 1, ${nextRest} from found where k < ${sql.param(middleCount)} and instr(rest, ${nextPart}) > 0`
  // If `rest` is shorter than the last part, `substr` returns all of `rest`, which differs from that part.
  const endsWithLast = sql`substr(rest, ${sql.param(-tailLength)}, ${sql.param(tailLength)}) = ${sql.param(last)} collate binary`
  const match = sql`select 1 from found where k = ${sql.param(middleCount)} and ${endsWithLast}`
  const rest = sql`substr(${text}, ${sql.param(headLength + 1)})`
  return {
    shape: shape`${field.column} parts`,
    values: [
      longest, headLength, first, headLength + 1, middle, middle, middleCount, middle, middleCount, -tailLength, tailLength, last,
    ],
    build: () => {
      const startsWithFirst = sql`substr(${text}, 1, ${sql.param(headLength)}) = ${sql.param(first)} collate binary`
      const found = sql`with recursive found(k, rest) as (select 0, ${rest} union all ${step}) ${match}`
      return sql`(instr(${text}, ${sql.param(longest)}) > 0 and ${startsWithFirst} and exists (${found}))`
    },
  }
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
