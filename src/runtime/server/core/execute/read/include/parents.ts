/** Matches included rows with their parents by the key that both hold. */
import type { Row } from '../../../../engines/engine'
import type { Field } from '../../../../schema/field'
import type { Selection } from '../../../access/fields'
import type { RecordValues } from '../../rows/decode'

/** The records of one level, one for each row, and how many times each of them stands in the response. */
export interface Level {
  readonly records: readonly RecordValues[]
  readonly occurrences: readonly number[]
}

interface Parent {
  /** The values that its children hold of it. */
  readonly values: readonly unknown[]
  /** How many times records with these values stand in the response. */
  occurrences: number
}

export type Parents = ReadonlyMap<string, Parent>

type ValuesOf = (row: Row) => readonly unknown[]

export function parentsOf(rows: readonly Row[], keys: readonly (string | undefined)[], times: readonly number[], valuesOf: ValuesOf): Parents {
  const parents = new Map<string, Parent>()
  keys.forEach((key, index) => {
    if (key === undefined) return
    const known = parents.get(key)
    if (known) known.occurrences += times[index]!
    else parents.set(key, { values: valuesOf(rows[index]!), occurrences: times[index]! })
  })
  return parents
}

/** The key that some columns of a row hold, as text; NULL meets nothing. */
export function keyAt(columns: Selection, wanted: readonly Field[]): (row: Row) => string | undefined {
  const places = wanted.map(field => columns.fields.indexOf(field))
  return row => keyText(row, places)
}

export function keyText(row: Row, places: readonly number[]): string | undefined {
  if (places.length === 1) return isNull(row[places[0]!]) ? undefined : String(row[places[0]!])
  return places.some(place => isNull(row[place])) ? undefined : JSON.stringify(places.map(place => String(row[place])))
}

const isNull = (value: unknown) => value === null || value === undefined
