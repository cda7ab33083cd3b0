/** Plans the text search of a filter. The cost of a `$like` condition grows with the size of the rows. */
import type { Field } from '../../schema/field'
import type { Selection } from '../access/fields'
import type { Filter } from '../parse/filter'

export interface Search {
  /** The columns to search. */
  readonly fields: readonly Field[]
  /** Whether the patterns are many or long. Such a search costs many times as much as a single short pattern. */
  readonly heavy: boolean
}

/** Above one of these limits, a search is heavy. */
const MAX_PATTERNS = 2
const MAX_CHARACTERS = 128

/** Returns an empty object for a filter without `$like`. */
export function planSearch(filter: Filter, readable: Selection): { readonly search?: Search } {
  const likes = [...filter.conditions, ...filter.or?.flat() ?? []].filter(({ operator }) => operator === '$like')
  if (likes.length === 0) return {}
  const names = new Set(likes.map(({ name }) => name))
  const characters = likes.reduce((sum, { value }) => sum + String(value).length, 0)
  const heavy = likes.length > MAX_PATTERNS || characters > MAX_CHARACTERS
  return { search: { fields: readable.fields.filter(({ name }) => names.has(name)), heavy } }
}
