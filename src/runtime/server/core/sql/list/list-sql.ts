/** Types and helpers for the lists of tuples that each dialect builds. */
import type { Engine } from '../../../engines/engine'
import type { ComparableColumn } from '../conditions'
import type { Where } from '../where'

export type Tuple = readonly unknown[]

/**
 * Builds a list in parentheses, for the right side of IN.
 * @param exact whether the columns are compared by bytes.
 */
export type ListSql = (engine: Engine, columns: readonly ComparableColumn[], tuples: readonly Tuple[], exact: boolean) => Where

/**
 * Repeats the last tuple until the length is a power of two. Lists then have few different lengths, which produce few statements.
 * If the rounded length exceeds `maxLength`, the list does not change.
 */
export function padded(tuples: readonly Tuple[], maxLength = Infinity): readonly Tuple[] {
  const rounded = 2 ** Math.ceil(Math.log2(tuples.length))
  const length = rounded > maxLength ? tuples.length : rounded
  return [...tuples, ...Array.from({ length: length - tuples.length }, () => tuples.at(-1)!)]
}
