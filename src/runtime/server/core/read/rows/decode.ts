/** Turns the driver's rows (values by position) into records (values by name). */
import type { Row } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { Selection } from '../../access/fields'
import { jsonSize, PUNCTUATION } from '../../process/size'
import { memoizedPair } from '../../memoized'

export type RecordValues = Record<string, unknown>

/** The form of a record's values. Hooks and rules need `value`: values as Drizzle returns them. The response needs `wire`: JSON values. */
export type ValueForm = 'value' | 'wire'

type Decode = (row: Row) => RecordValues

const DECODERS: Readonly<Record<ValueForm, (columns: Selection, shown: Selection) => Decode>> = {
  value: memoizedPair((columns, shown) => createDecoder(columns, shown, 'value')),
  wire: memoizedPair((columns, shown) => createDecoder(columns, shown, 'wire')),
}

/** Returns a function that turns rows with `columns` into records with the fields of `shown`. Caches it per pair of selections. */
export const decoder = (columns: Selection, shown: Selection = columns, form: ValueForm = 'value'): Decode => DECODERS[form](columns, shown)

function createDecoder({ fields }: Selection, shown: Selection, form: ValueForm): (row: Row) => RecordValues {
  const cells = shown.fields.map(field => ({
    name: field.name,
    position: fields.indexOf(field),
    convert: form === 'wire' ? field.toWire : field.decode,
  }))
  return (row) => {
    const record: RecordValues = {}
    for (const { name, position, convert } of cells) record[name] = convert ? convert(row[position]) : row[position]
    return record
  }
}

/** Returns a function that measures the JSON of the record that {@link decoder} makes of a row. Caches it like a decoder. */
export const sizer = (columns: Selection, shown: Selection = columns): (row: Row) => number => sizers(columns, shown)

const sizers = memoizedPair(createSizer)

function createSizer({ fields }: Selection, shown: Selection): (row: Row) => number {
  const positions = shown.fields.map(field => fields.indexOf(field))
  const names = shown.fields.reduce((size, { name }) => size + name.length + PUNCTUATION, PUNCTUATION)
  return (row) => {
    let size = names
    for (const position of positions) size += jsonSize(row[position], Infinity)
    return size
  }
}

/** Returns a function that reads the driver's values of some fields from a row. */
export function valuesAt({ fields }: Selection, wanted: readonly Field[]): (row: Row) => readonly unknown[] {
  const positions = wanted.map(field => fields.indexOf(field))
  return row => positions.map(position => row[position])
}
