/** The functions of a dialect that compare columns with a list of tuples. */
import type { Engine } from '../../../engines/engine'
import type { Clause, ComparableColumn } from '../clause'

export type Tuple = readonly unknown[]

/**
 * A list in parentheses, for the right of IN.
 * @param exact whether the columns are compared by bytes.
 */
export type ListSql = (engine: Engine, columns: readonly ComparableColumn[], tuples: readonly Tuple[], exact: boolean) => Clause

/** Rounds a list up to a power of two by repeating its last tuple: few lengths, so few statements. */
export function padded(tuples: readonly Tuple[], maxLength = Infinity): readonly Tuple[] {
  const rounded = 2 ** Math.ceil(Math.log2(tuples.length))
  const length = rounded > maxLength ? tuples.length : rounded
  return [...tuples, ...Array.from({ length: length - tuples.length }, () => tuples.at(-1)!)]
}
