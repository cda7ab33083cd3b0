/** `$like` with a pattern that is longer than the engine's own LIKE takes: found as a part, or followed character by character. */
import { sql, type SQL } from 'drizzle-orm'
import { shape } from '../../engines/shape'
import type { Field } from '../../schema/field'
import type { Clause } from '../query'

/** Numbers, for a character of the pattern is text. */
const ONE = 0
const MANY = 1

type Token = string | typeof ONE | typeof MANY

/**
 * `instr(lower(title), ?) > 0`, and where that does not say it all:
 *
 * exists (
 *   with recursive at(i, j) as (
 *     select 1, 0
 *     union select i + 1, j + (pattern ->> j is not 1) from at where i <= length(text) and (pattern ->> j in (0, 1) or pattern ->> j = substr(text, i, 1))
 *     union select i, j + 1 from at where pattern ->> j = 1
 *   ) select 1 from at where i > length(text) and j = length of the pattern
 * )
 *
 * Both sides in lower case, of which SQLite knows the ASCII letters, as its LIKE does.
 */
export function matchesLong({ column }: Field, pattern: string): Clause {
  const tokens = tokenize(pattern)
  const part = longestPart(tokens)
  const text = sql`lower(${column})`
  const found = sql`instr(${text}, ${sql.param(part)}) > 0`
  if (isPart(tokens)) return { shape: shape`${column} part`, values: [part], build: () => found }
  const json = JSON.stringify(tokens)
  return {
    shape: shape`${column} long`,
    values: [part, json, json, json, json, tokens.length],
    build: () => sql`(${found} and ${follows(text, json, tokens.length)})`,
  }
}

function follows(text: SQL, json: string, length: number): SQL {
  const token = sql`(${sql.param(json)} ->> j)`
  return sql`exists (with recursive place(i, j) as (select 1, 0 union select i + 1, j + (${token} is not ${sql.raw(String(MANY))}) from place where i <= length(${text}) and (${token} in (${sql.raw(`${ONE}, ${MANY}`)}) or ${token} = substr(${text}, i, 1)) union select i, j + 1 from place where ${token} = ${sql.raw(String(MANY))}) select 1 from place where i > length(${text}) and j = ${sql.param(length)})`
}

/** `\` escapes; several `%` in a row are one. */
function tokenize(pattern: string): readonly Token[] {
  const tokens: Token[] = []
  for (const [found, escaped] of pattern.matchAll(/\\(.)|./gsu)) {
    const token = found === '%' ? MANY : found === '_' ? ONE : (escaped ?? found).replace(/[A-Z]/, letter => letter.toLowerCase())
    if (token !== MANY || tokens.at(-1) !== MANY) tokens.push(token)
  }
  return tokens
}

/** `%…%` with nothing but characters between. */
function isPart(tokens: readonly Token[]): boolean {
  return tokens[0] === MANY && tokens.at(-1) === MANY && tokens.slice(1, -1).every(token => typeof token === 'string')
}

/** What every match holds: it is looked for first, and spares most rows the rest. */
function longestPart(tokens: readonly Token[]): string {
  const parts = ['']
  for (const token of tokens) {
    if (typeof token === 'string') parts.push(parts.pop()! + token)
    else parts.push('')
  }
  return parts.reduce((longest, part) => part.length > longest.length ? part : longest)
}
