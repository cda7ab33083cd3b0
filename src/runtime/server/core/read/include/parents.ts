/** Matches included rows with their parents by the columns of the relation. */
import type { Row } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { Selection } from '../../access/fields'
import type { RecordValues } from '../rows/decode'

/** The records of one level of includes. `records[i]` appears `occurrences[i]` times in the response. */
export interface Level {
  readonly records: readonly RecordValues[]
  readonly occurrences: readonly number[]
}

interface Parent {
  /** The key values that its children reference. */
  readonly values: readonly unknown[]
  /** The number of times that records with these key values appear in the response. */
  occurrences: number
}

export type Parents = ReadonlyMap<string, Parent>

type ValuesOf = (row: Row) => readonly unknown[]

export function parentsOf(
  rows: readonly Row[],
  keys: readonly (string | undefined)[],
  occurrences: readonly number[],
  valuesOf: ValuesOf,
): Parents {
  const parents = new Map<string, Parent>()
  keys.forEach((key, index) => {
    if (key === undefined) return
    const parent = parents.get(key)
    if (parent) parent.occurrences += occurrences[index]!
    else parents.set(key, { values: valuesOf(rows[index]!), occurrences: occurrences[index]! })
  })
  return parents
}

/** Returns a function that reads a key from a row as text. If a column is NULL, the key is `undefined`, because NULL matches no row. */
export function keyAt(columns: Selection, keyColumns: readonly Field[]): (row: Row) => string | undefined {
  const positions = keyColumns.map(field => columns.fields.indexOf(field))
  return row => keyText(row, positions)
}

export function keyText(row: Row, positions: readonly number[]): string | undefined {
  if (positions.length === 1) return isNull(row[positions[0]!]) ? undefined : String(row[positions[0]!])
  return positions.some(position => isNull(row[position])) ? undefined : JSON.stringify(positions.map(position => String(row[position])))
}

const isNull = (value: unknown) => value === null || value === undefined
