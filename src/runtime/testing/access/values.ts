/** Valid values for the bodies of test requests. */
import type { JsonSchema } from '../../shared/types/description'
import type { FoundResource } from './discover'

export type Values = Readonly<Record<string, unknown>>

/** Returns a body with every required field: the given values, then those of a record, then values that fit the schema. */
export function createBody({ create, fields }: FoundResource, given: Values, record: Values): Values {
  const required = create?.required ?? [...fields].filter(([, field]) => field.required).map(([name]) => name)
  const own = required.map(name => [name, Object.hasOwn(given, name) ? given[name] : createValue(name, create?.properties?.[name], record)])
  return { ...Object.fromEntries(own), ...given }
}

function createValue(name: string, schema: JsonSchema = {}, record: Values): unknown {
  const known = record[name]
  // Text of a record can be unique. Numbers are often foreign keys, which need a record that exists.
  if (known !== undefined && known !== null && (typeof known !== 'string' || schema.type !== 'string' || hasFixedText(schema))) return known
  return sampleOf(schema)
}

const hasFixedText = ({ enum: values, const: constant, format, pattern }: JsonSchema) =>
  [values, constant, format, pattern].some(keyword => keyword !== undefined)

interface KnownKeywords extends JsonSchema {
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
}

let counter = 0

/** Returns a value of a JSON Schema. Text is different each time. */
export function sampleOf(schema: JsonSchema): unknown {
  const { const: constant, enum: values, anyOf, oneOf, minLength = 0, maxLength = Infinity, minimum = 1 } = schema as KnownKeywords
  if (constant !== undefined) return constant
  if (values) return values[0]
  const [first] = anyOf ?? oneOf ?? []
  if (first) return sampleOf(first)
  const type = typeof schema.type === 'object' ? schema.type[0] : schema.type
  const format = FORMATS[String(schema.format)]
  if (format) return format()
  const text = `test${++counter}`.padEnd(minLength, 'x')
  const samples: Readonly<Record<string, unknown>> = {
    integer: Math.ceil(minimum), number: minimum, boolean: true, array: [], object: {}, null: null,
  }
  return Object.hasOwn(samples, type ?? '') ? samples[type!] : text.slice(0, maxLength)
}

const FORMATS: Readonly<Record<string, () => unknown>> = {
  'date-time': () => '2030-01-01T00:00:00.000Z',
  'date': () => '2030-01-01',
  'time': () => '12:00:00',
  'email': () => `test${++counter}@example.com`,
  'uri': () => `https://example.com/${++counter}`,
  'uuid': () => `00000000-0000-4000-8000-${String(++counter).padStart(12, '0')}`,
}
