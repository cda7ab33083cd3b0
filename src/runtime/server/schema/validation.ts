/** Validates bodies by a schema of the app, or by one generated from the columns that a client can write. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Table } from 'drizzle-orm'
import { createInsertSchema, createSelectSchema, createUpdateSchema } from 'drizzle-zod'
import { z, type ZodType } from 'zod'
import type { ColumnFacts } from './drizzle/column'

export interface BodySchema {
  readonly standard: StandardSchemaV1
  /** Generated from the table: it validates Drizzle values (such as `Date`). An app's own schema validates JSON. */
  readonly generated: boolean
  /** Whether the schema has this key. A schema whose keys cannot be listed checks unknown keys itself. */
  readonly hasKey: (key: string) => boolean
}

/** @param columns the columns that a client can write; a generated schema has no others */
export function bodySchema(
  own: StandardSchemaV1 | undefined,
  kind: 'create' | 'update',
  table: Table,
  columns: readonly ColumnFacts[],
): BodySchema {
  const standard = own ?? pick((kind === 'create' ? createInsertSchema : createUpdateSchema)(table, refinements(columns) as never), columns)
  const keys = findKeys(standard)
  return Object.freeze({ standard, generated: own === undefined, hasKey: key => keys?.has(key) ?? true } satisfies BodySchema)
}

/** drizzle-zod accepts less than the databases: no floats beyond 2^47, no uuids without a version. */
function refinements(columns: readonly ColumnFacts[]): Record<string, () => ZodType> {
  return Object.fromEntries(columns.flatMap(({ name, column, kind }): [string, () => ZodType][] => {
    if (kind === 'number') return [[name, () => z.number()]]
    return column.columnType === 'PgUUID' ? [[name, () => z.guid()]] : []
  }))
}

/** The schema of each column's values, without null. */
export function columnSchemas(table: Table, columns: readonly ColumnFacts[]): Record<string, ZodType> {
  const { shape } = createSelectSchema(table, refinements(columns) as never) as unknown as { shape: Record<string, ZodType> }
  return Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [name, schema instanceof z.ZodNullable ? (schema.unwrap() as ZodType) : schema]),
  )
}

function pick(schema: unknown, columns: readonly ColumnFacts[]): ZodType {
  const { shape } = schema as { shape: Record<string, ZodType> }
  return z.strictObject(
    Object.fromEntries(
      columns.flatMap(({ name, optional }) => (shape[name] ? [[name, optional ? shape[name].optional() : shape[name]]] : [])),
    ),
  )
}

/** The keys of an object schema (Zod, Valibot), through pipes and transforms. */
function findKeys(schema: unknown): ReadonlySet<string> | undefined {
  const { shape, entries, def, pipe } = schema as {
    shape?: object
    entries?: object
    def?: { in?: unknown, innerType?: unknown }
    pipe?: unknown[]
  }
  const own = shape ?? entries
  if (own) return new Set(Object.keys(own))
  const inner = def?.in ?? def?.innerType ?? pipe?.[0]
  return inner ? findKeys(inner) : undefined
}
