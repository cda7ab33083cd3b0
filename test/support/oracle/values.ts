/** How values are sorted, matched and returned, by the kind of their column. */
import type { Kind } from './model'

/** The behaviour in which engines differ. */
export interface Habits {
  /** Whether NULLs sort below or above every value. */
  readonly nulls: 'low' | 'high'
  /** The letters whose case `$like` ignores. */
  readonly letters: 'ASCII' | 'all'
}

export const SQLITE_HABITS: Habits = { nulls: 'low', letters: 'ASCII' }

export function compare(kind: Kind, a: unknown, b: unknown, { nulls }: Habits = SQLITE_HABITS): number {
  if (a === null || b === null) return (Number(a !== null) - Number(b !== null)) * (nulls === 'low' ? 1 : -1)
  if (kind === 'text') return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string))
  const [x, y] = kind === 'bigint' ? [a as bigint, b as bigint] : kind === 'decimal' ? [scaled(a), scaled(b)] : [Number(a), Number(b)]
  return x < y ? -1 : x > y ? 1 : 0
}

/** Decimals as integers with seven digits after the point, enough for every amount in the data. */
export const SCALE = 10n ** 7n

export function scaled(value: unknown): bigint {
  const [whole, rest = ''] = String(value).split('.')
  const sign = whole!.startsWith('-') ? -1n : 1n
  return sign * (BigInt(whole!.replace('-', '')) * SCALE + BigInt(rest.padEnd(7, '0')))
}

export function toWire(kind: Kind, value: unknown): unknown {
  if (value === null) return null
  if (kind === 'date') return (value as Date).toISOString()
  if (kind === 'blob') return (value as Buffer).toString('base64')
  return kind === 'bigint' ? String(value) : value
}

/** `%` and `_` are wildcards and `\` escapes. Without a wildcard the text can be anywhere in the value. */
export function like(text: string, pattern: string, { letters }: Habits): boolean {
  const lower = LOWER[letters]
  const tokens = toTokens(pattern, lower)
  const wild = tokens.some(token => typeof token !== 'string')
  return meets([...text].map(lower), wild ? tokens : [ANY, ...tokens, ANY])
}

const ANY = Symbol('any')
const ONE = Symbol('one')
type Token = string | typeof ANY | typeof ONE

function toTokens(pattern: string, lower: (character: string) => string): Token[] {
  const tokens: Token[] = []
  const characters = [...pattern]
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index]!
    if (character === '\\' && ['%', '_', '\\'].includes(characters[index + 1]!)) tokens.push(lower(characters[++index]!))
    else tokens.push(character === '%' ? ANY : character === '_' ? ONE : lower(character))
  }
  return tokens
}

const LOWER: Readonly<Record<Habits['letters'], (character: string) => string>> = {
  ASCII: character => character >= 'A' && character <= 'Z' ? character.toLowerCase() : character,
  all: character => character.toLowerCase(),
}

/** The text as the operators compare it that ignore case. */
export const lower = (text: unknown, { letters }: Habits): string => [...text as string].map(LOWER[letters]).join('')

function meets(text: readonly string[], [token, ...rest]: readonly Token[]): boolean {
  if (token === undefined) return text.length === 0
  if (token === ANY) return text.some((_, index) => meets(text.slice(index), rest)) || meets([], rest)
  return text.length > 0 && (token === ONE || token === text[0]) && meets(text.slice(1), rest)
}
