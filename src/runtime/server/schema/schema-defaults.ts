/** Finds the defaults in a schema of the app. An update does not apply them: a value that the client does not send stays as it is. */
import { isPromise } from '../../shared/awaitable'
import { isDeepStrictEqual } from 'node:util'
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** Whether the schema could have set a key that was not sent to this value by a default. */
export type IsDefault = (key: string, value: unknown) => boolean

interface Default {
  readonly schema: StandardSchemaV1
  readonly value: unknown
}

/**
 * Finds the keys whose own schemas return a value for `undefined`. A key has several schemas in a union. Another value than that of the
 * default is computed, for example by a transform of the object. A default that changes, such as the current time, has any value.
 */
export function findDefaults(schema: unknown): IsDefault {
  const defaults = new Map<string, Default[]>()
  for (const properties of objectsIn(schema)) {
    for (const [key, schema] of Object.entries(properties)) {
      const value = valueOf(schema)
      if (value !== undefined) defaults.set(key, [...defaults.get(key) ?? [], { schema, value }])
    }
  }
  return (key, value) => defaults.get(key)?.some(found =>
    isDeepStrictEqual(found.value, value) || !isDeepStrictEqual(found.value, valueOf(found.schema))) ?? false
}

function valueOf(schema: StandardSchemaV1): unknown {
  try {
    const result = schema['~standard'].validate(undefined)
    if (!isPromise(result)) return result.issues ? undefined : result.value
    result.catch(() => {})
    // Differs from every other value.
    return Symbol('not known yet')
  }
  catch {
    return undefined
  }
}

/** Where Zod (in `def`) and Valibot keep the schemas of pipes, transforms, unions and intersections. */
const INNER = ['in', 'out', 'innerType', 'left', 'right', 'wrapped', 'pipe', 'options'] as const

/** The properties of the object schemas in a schema. */
function* objectsIn(schema: unknown): Generator<Readonly<Record<string, StandardSchemaV1>>, void> {
  if (typeof schema !== 'object' || schema === null) return
  const def = (schema as { readonly def?: object | null }).def ?? schema
  const { shape, entries = shape, ...inner } = def as Readonly<Record<string, unknown>>
  if (typeof entries === 'object') return yield entries as Record<string, StandardSchemaV1>
  for (const schema of Array.isArray(def) ? def : INNER.map(name => inner[name])) yield* objectsIn(schema)
}
