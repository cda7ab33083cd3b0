/** Plans the text search of a filter: `$like` conditions, whose cost grows with the size of the rows. */
import type { Field } from '../../schema/field'
import type { Selection } from '../access/fields'
import type { Filter } from '../parse/filter'

export interface Search {
  /** The columns to search. */
  readonly fields: readonly Field[]
  /** Several or long patterns, which cost many times as much as one. */
  readonly heavy: boolean
}

const PATTERNS = 2
const CHARACTERS = 128

/** Empty for a filter without `$like`. */
export function planSearch(filter: Filter, readable: Selection): { readonly search?: Search } {
  const likes = [...filter.conditions, ...filter.or?.flat() ?? []].filter(({ operator }) => operator === '$like')
  if (likes.length === 0) return {}
  const names = new Set(likes.map(({ name }) => name))
  const characters = likes.reduce((sum, { value }) => sum + String(value).length, 0)
  return {
    search: { fields: readable.fields.filter(({ name }) => names.has(name)), heavy: likes.length > PATTERNS || characters > CHARACTERS },
  }
}
