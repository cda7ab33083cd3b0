/** Reads a filter in brackets, `filter[title][$like]=a`, into the object that the JSON form contains. */
import { isObject } from '../../../shared/is-object'
import { LIMITS } from '../../../shared/limits'
import { invalidQuery, quote } from '../error'
import type { Query } from './params'

/** Converts `filter[a][$gt]=1&filter[$or][0][b]=2` to `{ a: { $gt: '1' }, $or: { 0: { b: '2' } } }`. */
export function fromBrackets(query: Query, keys: readonly string[]): Record<string, unknown> {
  const root: Record<string, unknown> = Object.create(null)
  for (const key of keys) {
    const path = toPath(key)
    let at = root
    for (const part of path.slice(0, -1)) {
      const next = at[part] ??= Object.create(null)
      if (!isObject(next)) throw invalidQuery(`${quote(key)} contradicts another part of the filter.`, 'filter')
      at = next
    }
    const last = path.at(-1)!
    if (Object.hasOwn(at, last)) throw invalidQuery(`${quote(key)} contradicts another part of the filter.`, 'filter')
    at[last] = query[key]
  }
  return root
}

/** Splits a key into its parts: `$or`, branch, relations, field, operator. Ignores a trailing `[]`, with which some clients write lists. */
function toPath(key: string): string[] {
  const text = key.slice('filter'.length).replace(/\[\]$/, '')
  const path = [...text.matchAll(/\[([^[\]]+)\]/g)].map(match => match[1]!)
  if (path.length === 0 || path.length > LIMITS.jsonDepth || path.map(part => `[${part}]`).join('') !== text)
    throw invalidQuery(`${quote(key)} is not a filter.`, 'filter')
  return path
}
