/** Converts the schemas of request bodies to JSON Schema. A generated schema describes the wire format of each column. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { z, type ZodType } from 'zod'
import type { JsonSchema } from '../../shared/types/description'
import type { Kind } from '../../shared/wire'
import { elementsOf, typeOf } from '../drizzle/index'
import type { ColumnFacts } from './drizzle/column'
import type { Resource } from './model'
import { columnSchemas } from './validation'

const DATE_TIME: JsonSchema = { type: 'string', format: 'date-time' }

/** Kinds whose JSON differs from the value that the column's Zod schema validates. */
const WIRE_SCHEMAS: Readonly<Partial<Record<Kind, JsonSchema>>> = {
  date: DATE_TIME,
  bigint: { type: 'string', pattern: '^-?\\d+$' },
  decimal: { type: 'string', pattern: '^-?\\d+(?:\\.\\d+)?$' },
  blob: { type: 'string', contentEncoding: 'base64' },
  custom: {},
}

const SCALARS: Readonly<Partial<Record<Kind, JsonSchema>>> = {
  text: { type: 'string' }, number: { type: 'number' }, integer: { type: 'integer' }, boolean: { type: 'boolean' },
}

/** Date columns in `string` mode: their text is a date without a time. */
const DAYS: ReadonlySet<string> = new Set(['PgDateString', 'MySqlDateString'])

/** Returns the JSON Schema of a generated body. It contains every writable column. */
export function generatedBody({ table, facts, fields, writable, roles }: Resource, kind: 'create' | 'update'): JsonSchema {
  const schemaOf = columnSchemas(table, facts.columns)
  const columns = facts.columns.filter(({ name }) => writable[kind].has(name))
  // The server sets `createdAt` if the client does not send it.
  const required = kind === 'update' ? [] : columns.filter(({ name, optional }) => !optional && name !== roles.createdAt?.name)
  return {
    type: 'object',
    properties: Object.fromEntries(columns.map(column =>
      [column.name, valueSchema(column, fields.get(column.name)!.wire, schemaOf(column.name))])),
    ...required.length > 0 && { required: required.map(({ name }) => name) },
    additionalProperties: false,
  }
}

function valueSchema({ column, kind, nullable }: ColumnFacts, wire: Kind, schema: ZodType): JsonSchema {
  const isList = elementsOf(column) !== undefined || String(column.dataType).startsWith('array')
  // The schema of Drizzle checks other values than those in JSON, and it accepts every value of a custom type.
  const value = wire === 'json' && !isList ? {} : WIRE_SCHEMAS[wire] ?? (kind === wire ? fromZod(schema) : SCALARS[wire] ?? {})
  const described = DAYS.has(typeOf(column)) ? { ...value, format: 'date' } : value
  return nullable && Object.keys(described).length > 0 ? { anyOf: [described, { type: 'null' }] } : described
}

/**
 * Returns the JSON Schema of an app's own schema, which validates JSON. Zod schemas are converted here, because they can contain types
 * that Zod's own conversion refuses, such as `z.coerce.date()`. Other libraries convert their schemas themselves.
 * @param io whether the JSON is that of the input of the schema or of its output
 * @returns `undefined` if the library cannot convert the schema
 */
export function customBody(schema: StandardSchemaV1, where: string, io: 'input' | 'output' = 'input'): JsonSchema | undefined {
  try {
    if ('_zod' in schema) return fromZod(schema as unknown as ZodType, io)
    const { jsonSchema } = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>
    return jsonSchema && toPlain(jsonSchema[io]({ target: 'draft-2020-12' }))
  }
  catch (error) {
    console.warn(`[auto-api] \`${where}\` cannot be converted to JSON Schema, so the description of the API leaves it out.`, error)
    return undefined
  }
}

function fromZod(schema: ZodType, io: 'input' | 'output' = 'input'): JsonSchema {
  return toPlain(z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, DATE_TIME)
      if (zodSchema._zod.def.type === 'bigint') Object.assign(jsonSchema, WIRE_SCHEMAS.bigint)
    },
  }))
}

/** Copies the schema as JSON, without functions and symbols. */
function toPlain(schema: object): JsonSchema {
  const { $schema: _, ...plain } = JSON.parse(JSON.stringify(schema)) as JsonSchema
  return plain
}
