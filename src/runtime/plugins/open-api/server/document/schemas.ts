/** The JSON Schemas of a resource: its records in responses, its bodies and its filter. They contain only what the caller can use. */
import { COUNT_OPERATOR, COUNT_PROPERTY } from '../../../../shared/relation-counts'
import { COMPARISONS, OPERATORS, type OperatorName } from '../../../../shared/operators'
import type {
  AggregateFunction, DescribedField, DescribedLimits, DescribedResource, JsonSchema,
} from '../../../../shared/types/description'
import type { Kind } from '../../../../shared/kinds'
import { refOf, schemaName } from './names'

const VALUES: Readonly<Record<Kind, JsonSchema>> = {
  text: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date-time' },
  bigint: { type: 'string', pattern: '^-?\\d+$' },
  decimal: { type: 'string' },
  json: {},
  blob: { type: 'string', contentEncoding: 'base64' },
  custom: {},
}

export function orNull(schema: JsonSchema): JsonSchema {
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] }
}

function valueSchema({ kind, enum: values }: Pick<DescribedField, 'kind' | 'enum'>): JsonSchema {
  return values ? { ...VALUES[kind], enum: values } : VALUES[kind]
}

function fieldSchema({ label, nullable, ...field }: DescribedField): JsonSchema {
  return { title: label, ...nullable ? orNull(valueSchema(field)) : valueSchema(field) }
}

/** The id of a record in a path or in a body. The id of several columns is text. */
export function idSchema({ primaryKey, fields }: DescribedResource): JsonSchema {
  const kind = primaryKey.length === 1 ? fields[primaryKey[0]!]!.kind : undefined
  return kind === 'integer' || kind === 'number' ? { type: kind } : { type: 'string' }
}

/** Returns the schemas of a resource by name. */
export function resourceSchemas(
  name: string, described: DescribedResource, { filter: { extended } }: DescribedLimits,
): Readonly<Record<string, JsonSchema>> {
  const { label, fields, relations, validation, capabilities: { canRead, canAggregate } } = described
  const readable = Object.entries(fields).filter(([, { readable }]) => readable)
  const properties = Object.fromEntries(readable.map(([name, field]) => [name, fieldSchema(field)]))
  const included = Object.entries(relations).filter(([, { includable }]) => includable).map(([name, { kind, target }]) =>
    [name, kind === 'one' ? orNull(refOf(target, 'read')) : { type: 'array', items: refOf(target, 'read') }] as const)
  return {
    ...readable.length > 0 && {
      [schemaName(name)]: {
        type: 'object', title: label, properties, required: readable.flatMap(([name, { lazy }]) => lazy ? [] : [name]),
      },
    },
    ...canRead && {
      [schemaName(name, 'read')]: {
        type: 'object', title: label,
        description: '`fields` selects the properties. `include` adds the related records, and `counts` their numbers.',
        properties: { ...properties, ...Object.fromEntries(included), ...countsSchema(described) },
      },
    },
    ...(canRead || canAggregate) && { [schemaName(name, 'filter')]: filterSchema(name, described, extended) },
    ...canAggregate && { [schemaName(name, 'aggregate')]: aggregateSchema(described) },
    ...validation.create && { [schemaName(name, 'create')]: embed(validation.create, schemaName(name, 'create')) },
    ...validation.update && { [schemaName(name, 'update')]: embed(validation.update, schemaName(name, 'update')) },
  }
}

function countsSchema({ relations }: DescribedResource): Readonly<Record<string, JsonSchema>> {
  const counted = Object.entries(relations).filter(([, { countable }]) => countable)
  if (counted.length === 0) return {}
  const properties = Object.fromEntries(counted.map(([name]) => [name, { type: 'integer', minimum: 0 }]))
  return { [COUNT_PROPERTY]: { type: 'object', properties } }
}

/** References within a schema begin at its root. In the document, they begin at the component. */
export function embed(schema: JsonSchema, name: string): JsonSchema {
  return embedValue(schema, `#/components/schemas/${name}`) as JsonSchema
}

function embedValue(value: unknown, root: string): unknown {
  if (Array.isArray(value)) return value.map(part => embedValue(part, root))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) =>
    [key, key === '$ref' && typeof part === 'string' && part.startsWith('#') ? root + part.slice(1) : embedValue(part, root)]))
}

const OPERANDS: Readonly<Record<typeof OPERATORS[OperatorName]['value'], (value: JsonSchema) => JsonSchema>> = {
  value: value => value,
  nullable: orNull,
  list: items => ({ type: 'array', items }),
  range: value => ({ type: 'array', items: value, minItems: 2, maxItems: 2 }),
  pattern: () => ({ type: 'string' }),
  text: () => ({ type: 'string' }),
  boolean: () => ({ type: 'boolean' }),
}

/** The keys that combine conditions of one form. */
function combined(condition: JsonSchema, extended: boolean): Readonly<Record<string, JsonSchema>> {
  const list = { type: 'array', items: condition, minItems: 1 }
  return extended ? { $and: list, $or: list, $not: condition } : { $or: list }
}

const NUMBER = { type: 'integer', minimum: 0 }

/** A condition on the number of related records, with `filters.extended`. */
const COUNT_CONDITION: JsonSchema = {
  type: 'object',
  properties: {
    [COUNT_OPERATOR]: {
      anyOf: [NUMBER, {
        type: 'object',
        properties: Object.fromEntries(COMPARISONS.map(name => [name, NUMBER])),
        additionalProperties: false,
        minProperties: 1,
      }],
    },
  },
  required: [COUNT_OPERATOR],
  additionalProperties: false,
}

function filterSchema(name: string, { fields, relations }: DescribedResource, extended: boolean): JsonSchema {
  const ofFields = Object.entries(fields).filter(([, { operators }]) => operators.length > 0).map(([name, field]) => {
    const value = valueSchema(field)
    const operators = field.operators.map(operator => [operator, OPERANDS[OPERATORS[operator].value](value)])
    const properties = { ...Object.fromEntries(operators) as object, ...extended && combined({ type: 'object' }, extended) }
    const conditions = { type: 'object', properties, additionalProperties: false }
    return [name, { anyOf: [orNull(value), { type: 'array', items: value }, conditions] }]
  })
  const ofRelations = Object.entries(relations).filter(([, { filterable }]) => filterable).map(([name, { target, countable }]) =>
    [name, extended && countable ? { anyOf: [refOf(target, 'filter'), COUNT_CONDITION] } : refOf(target, 'filter')])
  const isEmpty = ofFields.length === 0 && !(extended && ofRelations.length > 0)
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries([...ofFields, ...ofRelations]) as object,
      ...!isEmpty && combined(refOf(name, 'filter'), extended),
    },
    additionalProperties: false,
  }
}

function aggregateSchema({ fields }: DescribedResource): JsonSchema {
  const groups = Object.entries(fields).filter(([, { readable, sortable, kind }]) => readable && (sortable || kind === 'boolean'))
  const results = Object.entries(fields).flatMap(([name, field]) =>
    field.aggregates.map(aggregate => [`${aggregate}_${name}`, resultSchema(aggregate, field)]))
  return {
    type: 'object',
    description: 'The results by name. `group` has the fields of `groupBy`.',
    properties: {
      group: { type: 'object', properties: Object.fromEntries(groups.map(([name, field]) => [name, fieldSchema(field)])) },
      count: { type: 'integer' },
      ...Object.fromEntries(results) as object,
    },
  }
}

const AS_TEXT: ReadonlySet<Kind> = new Set(['bigint', 'decimal'])

function resultSchema(aggregate: AggregateFunction, field: DescribedField): JsonSchema {
  if (aggregate === 'count') return { type: 'integer' }
  if (aggregate === 'min' || aggregate === 'max') return orNull(valueSchema(field))
  return orNull({ type: AS_TEXT.has(field.kind) ? 'string' : 'number' })
}
