/**
 * Finds the form of the values of a custom type. TypeScript knows the type of its values, but the server does not, so the functions of the
 * type convert samples when the server starts.
 */
import { isPlainObject } from '../../shared/is-object'
import { is, SQL, type Column } from 'drizzle-orm'
import { makePgArray } from 'drizzle-orm/pg-core'
import { isDeepStrictEqual } from 'node:util'
import { INVALID, WIRE_FORMATS, type Kind, type WireFormat } from '../../shared/wire'
import { decoderOf, encodeValue, sqlTypeOf } from '../drizzle/index'
import { samplesOf, VALUES } from './custom-samples'
import { parsed } from './own-wire'
import type { Wire } from './wire'

/** The kind of a value as JSON. `undefined` says nothing, as `NaN` of text that is no number, and other text is the name of a class. */
function formOf(value: unknown): Kind | { readonly missing: string } | undefined {
  switch (typeof value) {
    case 'string': return 'text'
    case 'number': return Number.isNaN(value) ? undefined : 'number'
    case 'boolean': return 'boolean'
    case 'bigint': return 'bigint'
    case 'undefined': return undefined
    case 'object': break
    default: return { missing: typeof value }
  }
  if (value === null) return undefined
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : 'date'
  if (value instanceof Uint8Array) return 'blob'
  if (!Array.isArray(value) && !isPlainObject(value)) return { missing: value.constructor?.name || 'object' }
  for (const inner of Object.values(value)) {
    const form = formOf(inner)
    if (typeof form === 'object') return form
    if (form === 'date' || form === 'bigint' || form === 'blob') return { missing: `${form} in an object` }
  }
  return 'json'
}

/** Whether JSON of the value leads to the same stored value, although it is no plain value: `toDriver` accepts both. */
function acceptsJson(column: Column, value: unknown): boolean {
  const encoded = encodedAs(column, value)
  const json = parsed(JSON.stringify(value) ?? '')
  return encoded !== undefined && typeof encoded !== 'object' && json !== undefined && encodedAs(column, json) === encoded
}

function encodedAs(column: Column, value: unknown): unknown {
  try {
    return encodeValue(column, value)
  }
  catch {
    return undefined
  }
}

interface Forms { readonly kinds: ReadonlySet<Kind>, readonly missing?: string, readonly samples: readonly unknown[] }

function formsOf(column: Column, decode: (raw: unknown) => unknown, samples: readonly unknown[]): Forms {
  const kinds = new Set<Kind>()
  const known: unknown[] = []
  for (const sample of samples) {
    const value = attempt(() => decode(sample))
    const form = attempt(() => formOf(value))
    if (form === undefined) continue
    if (typeof form !== 'object') kinds.add(form)
    else if (attempt(() => acceptsJson(column, value))) kinds.add('custom')
    else return { kinds, missing: form.missing, samples: known }
    known.push(value)
  }
  return { kinds, samples: known }
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  }
  catch {
    return undefined
  }
}

/** Whether the values are those of the driver: the type has no `fromDriver`, or one that returns its parameter. */
export function readsDriverValues(column: Column): boolean {
  const decode = decoderOf(column)
  return !decode || samplesOf(column).every(sample => attempt(() => decode(sample)) === sample)
}

export function customWire(column: Column): Wire {
  const type = sqlTypeOf(column)
  const samples = samplesOf(column)
  const decode = decoderOf(column)
  if (!decode || readsDriverValues(column)) return storedWire(column, type, samples[0])
  const read = formsOf(column, decode, samples)
  const isKnown = read.kinds.size > 0 || read.missing !== undefined
  const { kinds, missing, samples: known } = isKnown ? read : formsOf(column, value => keptBy(column, decode, value), VALUES)
  if (missing) return { ...CUSTOM, missing }
  const [kind, ...others] = kinds
  // In JSON, these are text: nobody could tell which of the kinds a text stands for.
  if (others.length > 0 && AS_TEXT.some(one => kinds.has(one))) return { ...CUSTOM, missing: [...kinds].join(' or ') }
  if (kind === undefined) return { ...CUSTOM, toJson: value => toKnownJson(column, value) }
  if (kind === 'json' || others.length > 0) return jsonWire(column, type, decode, kinds, known)
  return { kind, ...FORMATS[kind] }
}

/** The value, if the type reads back what it wrote. */
function keptBy(column: Column, decode: (raw: unknown) => unknown, value: unknown): unknown {
  const encoded = encodeValue(column, value)
  return !is(encoded, SQL) && isDeepStrictEqual(decode(encoded), value) ? value : undefined
}

const AS_TEXT: readonly Kind[] = ['date', 'bigint', 'blob']

const CUSTOM: Wire = { kind: 'custom', ...WIRE_FORMATS.custom }

const FORMATS: Readonly<Record<Kind, WireFormat>> = WIRE_FORMATS

/** The format of values that no function of the type converts when it reads them. */
function storedWire(column: Column, type: string, sample: unknown): Wire {
  const kind = formOf(sample) as Kind
  if (kind === 'blob') return { kind, ...WIRE_FORMATS.blob }
  if (kind !== 'json') {
    // Scalars are passed on as they are: the database converts them.
    if (!isStable(column, sample)) return { ...CUSTOM, missing: ONE_WAY }
    return { kind, fromJson: value => value, fromText: text => lenient(kind, text) }
  }
  if (!type.endsWith('[]')) return jsonWire(column, type, value => value, new Set(['json']), [sample])
  const isPassedOn = encodedAs(column, sample) === sample
  const fromJson = (value: unknown) => !Array.isArray(value) ? INVALID : isPassedOn ? makePgArray(value) : value
  return { kind, fromJson, fromText: text => fromJson(parsed(text)) }
}

const ONE_WAY = '`toDriver` converts values and no `fromDriver` converts them back'

/** Whether a value that was read can be written again. `toDriver` can make it lower case once more, but not JSON of JSON. */
function isStable(column: Column, sample: unknown): boolean {
  const encoded = encodedAs(column, sample)
  if (encoded === undefined || is(encoded, SQL) || isDeepStrictEqual(encoded, sample)) return true
  return isDeepStrictEqual(encodedAs(column, encoded), encoded)
}

function lenient(kind: Kind, text: string): unknown {
  const value = WIRE_FORMATS[kind].fromText(text)
  return value === INVALID ? WIRE_FORMATS.text.fromText(text) : value
}

/** Objects, lists, and values of several kinds. Without `toDriver`, the database gets them as the text of their JSON. */
function jsonWire(
  column: Column, type: string, decode: (raw: unknown) => unknown, kinds: ReadonlySet<Kind>, known: readonly unknown[],
): Wire {
  const isPassedOn = known.length > 0 && known.every(value => encodedAs(column, value) === value)
  const isReadBack = () => known.every(value => isDeepStrictEqual(attempt(() => decode(JSON.stringify(value))), value))
  const writesJson = isPassedOn && (/^jsonb?\b/i.test(type) || isReadBack())
  const fromJson = (value: unknown) => writesJson ? JSON.stringify(value) : value
  return {
    kind: kinds.has('json') && !kinds.has('custom') ? 'json' : 'custom',
    fromJson,
    fromText: text => fromJson(parsed(text) ?? text),
  }
}

/** @throws {TypeError} For a value without a form in JSON. `JSON.stringify` would return another value, such as `{}`. */
function toKnownJson(column: Column, value: unknown): unknown {
  const form = formOf(value)
  if (form === 'text' || form === 'number' || form === 'boolean' || form === 'json' || form === undefined) return value
  const found = typeof form === 'object' ? form.missing : form
  throw new TypeError(`[auto-api] The custom type of the column \`${column.name}\` returned a value without a form in JSON (${found}). `
    + 'Define one with the option `wire` of the registration.')
}
