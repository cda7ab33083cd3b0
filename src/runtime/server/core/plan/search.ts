/** Plans the text search of a filter. The cost of a `$like` condition grows with the size of the rows. */
import type { Selection } from '../access/fields'
import type { Search } from '../access/plan'
import { isSearch } from '../../../shared/operators'
import { conditionsOf, isBranches, isRelationFilter, type Filter, type FilterCondition } from '../parse/filter'

/** Above one of these limits, a search is heavy. */
const MAX_PATTERNS = 2
const MAX_CHARACTERS = 128

/** Counts the patterns of the whole filter, because one statement searches for all of them, those of related rows included. */
export function isHeavy(filter: Filter): boolean {
  const likes = conditionsOf(filter).filter(({ operator }) => isSearch(operator))
  return likes.length > MAX_PATTERNS || likes.reduce((sum, { value }) => sum + (value as string).length, 0) > MAX_CHARACTERS
}

/** Returns an empty object for conditions that search no text. If only conditions on related rows have one, the search has no fields. */
export function planSearch(filter: Filter, readable: Selection, heavy: boolean): { readonly search?: Search } {
  if (!conditionsOf(filter).some(({ operator }) => isSearch(operator))) return {}
  const names = new Set(ownConditions(filter).filter(({ operator }) => isSearch(operator)).map(({ name }) => name))
  return { search: { fields: readable.fields.filter(({ name }) => names.has(name)), heavy } }
}

/** The conditions on the fields of the resource itself. */
const ownConditions = (filter: Filter): readonly FilterCondition[] => filter.flatMap((entry) => {
  if (isBranches(entry)) return entry.branches.flatMap(ownConditions)
  return isRelationFilter(entry) ? [] : [entry]
})
