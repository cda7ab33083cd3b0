/** Creates the schemas that validate request bodies. The app provides a schema, or the API generates one from the writable columns. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Table } from 'drizzle-orm'
import { z, type ZodType } from 'zod'
import { elementsOf, schemas, typeOf } from '../drizzle/index'
import { once } from '../../shared/once'
import type { ColumnFacts } from './drizzle/column'
import { findDefaults, type IsDefault } from './schema-defaults'

export interface BodySchema {
  readonly standard: StandardSchemaV1
  /** Whether the API generated the schema. A generated schema validates Drizzle values (such as `Date`). An app's schema validates JSON. */
  readonly generated: boolean
  /** Whether the schema has this key. A schema whose keys cannot be listed checks unknown keys itself. */
  readonly hasKey: (key: string) => boolean
  /** Defaults apply to creates only, so that it returns false for the schema of a create. */
  readonly isDefault: IsDefault
}

/**
 * A generated schema is made when the first body needs it: most servers start more often than they write to each of their tables.
 * @param columns the columns that a client can write. A generated schema contains only these.
 */
export function bodySchema(
  own: StandardSchemaV1 | undefined,
  kind: 'create' | 'update',
  table: Table,
  columns: readonly ColumnFacts[],
): BodySchema {
  const standard = once(() => own ?? pick((kind === 'create' ? schemas.insert : schemas.update)(table, refinements(columns)), columns))
  const keys = once(() => findKeys(standard()))
  return Object.freeze({
    get standard() {
      return standard()
    },
    generated: own === undefined,
    hasKey: key => keys()?.has(key) ?? true,
    isDefault: own && kind === 'update' ? findDefaults(own) : () => false,
  } satisfies BodySchema)
}

type Refine = (schema: ZodType) => ZodType

/** Some columns of MySQL have a length. */
type WithLength = object & { readonly length?: number }

/**
 * Replaces schemas of Drizzle that refuse valid values. Drizzle refuses floats beyond 2^47, uuids without a version, NULL in lists, text
 * that is shorter than a `char` of MySQL, and the bytes of MySQL's binary types. The databases accept them.
 */
function refinements(columns: readonly ColumnFacts[]): Record<string, Refine> {
  return Object.fromEntries(columns.flatMap(({ name, column, kind }): [string, Refine][] => {
    const elements = elementsOf(column)
    if (elements) {
      const refineElement = BY_TYPE[elements.type]?.(elements.column as WithLength)
      return [[name, refineList(elements.kind === 'number' ? () => z.number() : refineElement)]]
    }
    const refine = kind === 'number' ? () => z.number() : BY_TYPE[typeOf(column)]?.(column as WithLength)
    return refine ? [[name, refine]] : []
  }))
}

const BY_TYPE: Readonly<Record<string, (column: WithLength) => Refine>> = {
  PgUUID: () => () => z.guid(),
  MySqlChar: ({ length = 1 }) => () => z.string().max(length),
  ...Object.fromEntries(['MySqlBinary', 'MySqlVarBinary', 'MySqlBlob'].map(type => [type, bytesUpTo])),
}

/** Accepts text too: hooks can set it, and the database stores its UTF-8. */
function bytesUpTo({ length = Infinity }: WithLength): Refine {
  const size = (value: unknown) => typeof value === 'string' ? globalThis.Buffer.byteLength(value) : (value as Uint8Array).byteLength
  return () => z.custom<Uint8Array | string>(value => (typeof value === 'string' || value instanceof Uint8Array) && size(value) <= length)
}

/** Items of a list can be NULL. */
const refineList = (refine: Refine = schema => schema): Refine => schema =>
  schema instanceof z.ZodArray ? z.array(z.nullable(refineList(refine)(schema.element as ZodType))) : refine(schema)

/** Returns the schema for the values of a column. It does not accept null. The schemas of a table are made when the first one is needed. */
export function columnSchemas(table: Table, columns: readonly ColumnFacts[]): (name: string) => ZodType {
  const made = once(() => (schemas.select(table, refinements(columns)) as { shape: Readonly<Record<string, ZodType>> }).shape)
  return (name) => {
    const schema = made()[name]!
    return schema instanceof z.ZodNullable ? (schema.unwrap() as ZodType) : schema
  }
}

function pick(schema: unknown, columns: readonly ColumnFacts[]): ZodType {
  const { shape } = schema as { shape: Record<string, ZodType> }
  return z.strictObject(
    Object.fromEntries(
      columns.flatMap(({ name, optional }) => (shape[name] ? [[name, optional ? shape[name].optional() : shape[name]]] : [])),
    ),
  )
}

/**
 * Lists the keys of an object schema (Zod, Valibot). It looks inside pipes and transforms. Returns `undefined` for other schemas.
 * @param closed whether an object that also accepts other keys has no list
 */
export function findKeys(schema: unknown, closed = false): ReadonlySet<string> | undefined {
  const { shape, entries, def, pipe, type } = schema as {
    shape?: object
    entries?: object
    def?: { in?: unknown, innerType?: unknown, catchall?: unknown }
    pipe?: unknown[]
    type?: unknown
  }
  const own = shape ?? entries
  if (own) return closed && acceptsOtherKeys(def?.catchall, type) ? undefined : new Set(Object.keys(own))
  const inner = def?.in ?? def?.innerType ?? pipe?.[0]
  return inner ? findKeys(inner, closed) : undefined
}

/** The first is the `catchall` of Zod, the second the `type` of Valibot. */
const acceptsOtherKeys = (catchall: unknown, type: unknown) =>
  (catchall !== undefined && !(catchall instanceof z.ZodNever)) || type === 'loose_object' || type === 'object_with_rest'
