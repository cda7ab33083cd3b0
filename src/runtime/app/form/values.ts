/** The values of a form: what the inputs hold, what a request sends, and what has changed. */
import { hashKey } from '@tanstack/vue-query'
import { stringify } from '../../shared/query'
import type { DescribedField, DescribedResource } from '../../shared/types/description'

export type Values = Record<string, unknown>

/** Copies values in their wire format: dates become text. */
export function copy<T>(value: T): T {
  return value === undefined ? value : JSON.parse(stringify(value)) as T
}

/** An input without a value holds an empty text. */
const toComparable = (value: unknown) => value === '' || value === undefined ? null : value
const isEqual = (a: unknown, b: unknown) => a === b || hashKey([toComparable(a)]) === hashKey([toComparable(b)])

/** Returns the names of the fields with different values. A missing value, `null` and an empty text are equal. */
export function differing(a: Values, b: Values): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(name => !isEqual(a[name], b[name]))
}

/** Returns the first values of a new record: those of the caller, or the defaults of the body's schema and of the table. */
export function initialValues({ validation, fields }: DescribedResource, defaults: Values): Values {
  const names = namesOf(fields, 'create')
  const known = names.map(name => [name, validation.create?.properties?.[name]?.default ?? fields[name]!.default] as const)
  return copy({ ...Object.fromEntries(known.filter(([, value]) => value !== undefined)), ...defaults })
}

/** Returns the values of a record that an update can change. */
export function valuesOf({ fields }: DescribedResource, record: Values): Values {
  return copy(Object.fromEntries(namesOf(fields, 'update').filter(name => record[name] !== undefined).map(name => [name, record[name]])))
}

export function namesOf(fields: DescribedResource['fields'], kind: 'create' | 'update'): string[] {
  return Object.keys(fields).filter(name => fields[name]!.writable[kind])
}

/** Returns the values as a request sends them. Most columns do not accept the empty text of an empty input. */
export function toBody(values: Values, fields: Readonly<Record<string, DescribedField>>, kind: 'create' | 'update'): Values {
  return Object.fromEntries(Object.entries(copy(values)).flatMap(([name, value]) => {
    const sent = value === '' ? toEmpty(fields[name], kind) : value
    return sent === undefined ? [] : [[name, sent]]
  }))
}

function toEmpty(field: DescribedField | undefined, kind: 'create' | 'update'): '' | null | undefined {
  if (!field) return ''
  if (field.nullable) return null
  if (field.kind === 'text' && !field.enum) return ''
  return kind === 'create' ? undefined : null
}
