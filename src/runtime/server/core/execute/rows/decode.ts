/** Turns the driver's rows, values by position, into records, values by name. */
import type { Row } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { Selection } from '../../access/fields'

export type RecordValues = Record<string, unknown>

/** What becomes of a driver's value: the value Drizzle knows, for hooks and rules, or JSON, where no code looks at it. */
export type ValueForm = 'value' | 'wire'

/** Rows by position to records by name; made once per pair of selections. */
export function decoder(columns: Selection, shown: Selection = columns, form: ValueForm = 'value'): (row: Row) => RecordValues {
  let known = decoders[form].get(columns)
  if (!known) decoders[form].set(columns, known = new WeakMap())
  let decode = known.get(shown)
  if (!decode) known.set(shown, decode = createDecoder(columns, shown, form))
  return decode
}

type Decoders = WeakMap<Selection, WeakMap<Selection, (row: Row) => RecordValues>>

const decoders: Readonly<Record<ValueForm, Decoders>> = { value: new WeakMap(), wire: new WeakMap() }

function createDecoder({ fields }: Selection, shown: Selection, form: ValueForm): (row: Row) => RecordValues {
  const cells = shown.fields.map(field => ({
    name: field.name,
    place: fields.indexOf(field),
    convert: form === 'wire' ? field.toWire : field.decode,
  }))
  return (row) => {
    const record: RecordValues = {}
    for (const { name, place, convert } of cells) record[name] = convert ? convert(row[place]) : row[place]
    return record
  }
}

/** The driver's values of some fields in a row. */
export function valuesAt({ fields }: Selection, wanted: readonly Field[]): (row: Row) => readonly unknown[] {
  const places = wanted.map(field => fields.indexOf(field))
  return row => places.map(place => row[place])
}
