/** What a filter searches for in text: the conditions whose cost grows with the size of the rows. */
import type { Field } from '../../schema/field'
import type { Selection } from '../access/fields'
import type { Filter } from '../parse/filter'

export interface Search {
  /** The columns that are searched. */
  readonly fields: readonly Field[]
  /** Several patterns, or long ones: many times the work of one. */
  readonly heavy: boolean
}

const PATTERNS = 2
const CHARACTERS = 128

/** Nothing where the filter has no `$like`. */
export function planSearch(ask: Filter, readable: Selection): { readonly search?: Search } {
  const likes = [...ask.conditions, ...ask.or?.flat() ?? []].filter(({ operator }) => operator === '$like')
  if (likes.length === 0) return {}
  const names = new Set(likes.map(({ name }) => name))
  const characters = likes.reduce((sum, { value }) => sum + String(value).length, 0)
  return {
    search: { fields: readable.fields.filter(({ name }) => names.has(name)), heavy: likes.length > PATTERNS || characters > CHARACTERS },
  }
}
