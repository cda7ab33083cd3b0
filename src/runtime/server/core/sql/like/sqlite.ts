/**
 * `$like` on SQLite in time linear in the text: its own LIKE compares the pattern at every position, and D1's accepts fifty bytes.
 * Both sides are in lower case, which on SQLite changes ASCII letters only, as in its LIKE.
 */
import { sql, type SQL } from 'drizzle-orm'
import { shape } from '../shape'
import type { Field } from '../../../schema/field'
import { limitExceeded } from '../../error'
import type { Clause } from '../clause'

/** `_`, which matches any one character. A number, because characters of the pattern are text. */
const ONE = 1

/** The pattern between two `%`. */
type Part = readonly (string | typeof ONE)[]

/** LIKE finds parts of at most this length, and the beginning of the text, at hardly any cost. */
const SHORT = 4

/** @param limit bytes of a LIKE pattern. @throws `LIMIT_EXCEEDED` for a pattern with `_` that is longer. */
export function sqliteLike(field: Field, pattern: string, limit = Infinity, parameter = 'filter'): Clause {
  const parts = toParts(pattern)
  const text = sql`lower(${field.column})`
  if (parts.length === 3 && parts[0]!.length === 0 && parts[2]!.length === 0 && isText(parts[1]!))
    return contains(field, text, parts[1]!.join(''))
  const fits = new TextEncoder().encode(pattern).length <= limit
  if (parts.every(isText) && (!fits || parts.slice(1).some(({ length }) => length > SHORT)))
    return inOrder(
      field,
      text,
      parts.map(part => part.join('')),
    )
  if (!fits) throw limitExceeded(`\`${parameter}\`: $like with \`_\` accepts at most ${limit} bytes on this database.`, parameter)
  const [part, whole] = [contains(field, text, longestText(parts.slice(1))), like(field, pattern)]
  // The beginning of the text is found at once, and a single letter rejects few rows.
  if (part.values[0] === '' || [...part.values[0] as string].length === 1) return whole
  return {
    shape: shape`${field.column} like with part`,
    values: [...part.values, ...whole.values],
    build: () => sql`(${part.build()} and ${whole.build()})`,
  }
}

const isText = (part: Part): part is readonly string[] => part.every(item => item !== ONE)

function like({ column }: Field, pattern: string): Clause {
  return { shape: shape`${column} like`, values: [pattern], build: () => sql`${column} like ${sql.param(pattern)} escape '\\'` }
}

function contains({ column }: Field, text: SQL, part: string): Clause {
  return { shape: shape`${column} part`, values: [part], build: () => sql`instr(${text}, ${sql.param(part)}) > 0` }
}

/**
 * The parts in order, each at its first position after the previous part: that leaves the most text for the next part.
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
  const exact = parts.length === 1
  if (exact) return { shape: shape`${field.column} whole`, values: [first], build: () => sql`${text} = ${sql.param(first)} collate binary` }
  const middle = JSON.stringify(parts.slice(1, -1))
  const longest = parts.reduce((longest, part) => part.length > longest.length ? part : longest)
  const [head, tail, count] = [[...first].length, [...last].length, parts.length - 2]
  const part = sql`(${sql.param(middle)} ->> k)`
  const next = sql`substr(rest, instr(rest, ${part}) + length(${part}))`
  const step = sql`select k + 1, ${next} from found where k < ${sql.param(count)} and instr(rest, ${part}) > 0`
  // Of a shorter text, `substr` returns all of it, which differs from the last part.
  const ends = sql`substr(rest, ${sql.param(-tail)}, ${sql.param(tail)}) = ${sql.param(last)} collate binary`
  const end = sql`select 1 from found where k = ${sql.param(count)} and ${ends}`
  const rest = sql`substr(${text}, ${sql.param(head + 1)})`
  return {
    shape: shape`${field.column} parts`,
    values: [longest, head, first, head + 1, middle, middle, count, middle, count, -tail, tail, last],
    build: () => {
      const starts = sql`substr(${text}, 1, ${sql.param(head)}) = ${sql.param(first)} collate binary`
      const found = sql`with recursive found(k, rest) as (select 0, ${rest} union all ${step}) ${end}`
      return sql`(instr(${text}, ${sql.param(longest)}) > 0 and ${starts} and exists (${found}))`
    },
  }
}

/** `\` escapes; several `%` in a row are one. */
function toParts(pattern: string): readonly Part[] {
  const parts: (string | typeof ONE)[][] = [[]]
  let many = false
  for (const [found, escaped] of pattern.matchAll(/\\(.)|./gsu)) {
    if (found === '%' && many) continue
    many = found === '%'
    if (many) parts.push([])
    else parts.at(-1)!.push(found === '_' ? ONE : (escaped ?? found).replace(/[A-Z]/, letter => letter.toLowerCase()))
  }
  return parts
}

/** The longest text that every match contains: searched first, it rejects most rows. */
function longestText(parts: readonly Part[]): string {
  const texts = ['', ...parts.flatMap(part => part.map(item => item === ONE ? '\0' : item).join('').split('\0'))]
  return texts.reduce((longest, text) => text.length > longest.length ? text : longest)
}
