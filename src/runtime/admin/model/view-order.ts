/** The order of saved views, and which of them a list shows. */

/** The parameters of the URL that describe a list. The number of a page and an open record do not. */
export const KEPT = ['sort', 'filter', 'q', 'limit'] as const

type Values = Readonly<Record<string, unknown>>

/** Returns the part of a URL that a view keeps. */
export function keptQuery(query: Values): Record<string, string | string[]> {
  return Object.fromEntries(KEPT.flatMap((key) => {
    const value = query[key]
    if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return []
    return [[key, Array.isArray(value) ? value.map(String) : String(value)]]
  }))
}

/** Whether two URLs show the same list. */
export const isSameQuery = (a: Values, b: Values): boolean => toKey(a) === toKey(b)

const toKey = (query: Values) => JSON.stringify(KEPT.map(key => inOrder([query[key] ?? []].flat().map(String))))

/** The order of filters does not matter, unless one is an alternative to the one before it. */
const inOrder = (texts: string[]) => texts.some(text => text.startsWith('or:')) ? texts : texts.sort()

/** Moves an entry by one or more places. It stays at both ends. */
export function moveEntry<T>(entries: readonly T[], entry: T, step: number): T[] {
  const from = entries.indexOf(entry)
  if (from === -1) return [...entries]
  return placeEntry(entries, entry, from + step)
}

/** Puts an entry at a place. */
export function placeEntry<T>(entries: readonly T[], entry: T, place: number): T[] {
  const rest = entries.filter(one => one !== entry)
  const index = Math.min(Math.max(0, place), rest.length)
  return rest.length === entries.length ? [...entries] : [...rest.slice(0, index), entry, ...rest.slice(index)]
}

/** Replaces the view with the same name at its place, or adds it at the end. */
export const saveEntry = <T extends { readonly name: string }>(entries: readonly T[], entry: T): T[] =>
  entries.some(({ name }) => name === entry.name) ? entries.map(one => one.name === entry.name ? entry : one) : [...entries, entry]
