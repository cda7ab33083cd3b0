/** The facts about a resource that are the same for every caller. They are created once, on the first request for a description. */
import { is, SQL } from 'drizzle-orm'
import type { Resource, Relation } from '../../schema/model'
import type { Field } from '../../schema/field'
import { customBody, generatedBody } from '../../schema/json-schema'
import { operatorsOf } from '../../schema/operators-of'
import { resourceOf } from '../../schema/relation-columns'
import { FUNCTIONS } from '../parse/aggregate'
import { canAggregate } from '../plan/aggregate'
import type { DescribedField, DescribedTrash, JsonSchema } from '../../../shared/types/description'
import { omitProperties } from './bodies'
import { toLabel } from './label'
import { memoizedPair } from '../memoized'
import type { Session } from '../request/session'

export interface ResourceFacts {
  readonly label: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** Every column that is not hidden. */
  readonly fields: readonly FieldFacts[]
  readonly relations: readonly Relation[]
  /** The JSON Schemas of the bodies, without hidden columns and columns that no client can write. */
  readonly validation: { readonly create?: JsonSchema, readonly update?: JsonSchema }
  readonly trash?: DescribedTrash
  /** The names of the fields with a rule. */
  readonly ruled: readonly string[]
}

export interface FieldFacts {
  readonly field: Field
  readonly required: boolean
  readonly reference?: ReferenceFacts
  /** The properties that do not depend on the caller. */
  readonly described: Omit<DescribedField, 'readable' | 'writable' | 'required' | 'references'>
}

export interface ReferenceFacts {
  readonly target: Resource
  readonly field: string
  readonly relation?: Relation
}

type Metadata = Readonly<Record<string, unknown>>

type FieldMetadata = Metadata & { readonly label?: string }

interface ResourceMetadata extends Metadata {
  readonly label?: string
  readonly fields?: Readonly<Record<string, FieldMetadata>>
}

type ApiFacts = Pick<Session['api'], 'resources' | 'config'>

/** Returns the same object for every request. */
export const factsOf = memoizedPair(createFacts)

function createFacts(resource: Resource, { resources, config }: ApiFacts): ResourceFacts {
  const { label, fields: ofFields = {}, ...metadata }: ResourceMetadata = resource.metadata ?? {}
  const validation = { create: bodyOf(resource, 'create'), update: bodyOf(resource, 'update') }
  const shown = [...resource.fields.values()].filter(({ name }) => !resource.hidden.has(name))
  const trash = trashOf(resource)
  return {
    label: label ?? toLabel(resource.name),
    metadata,
    fields: shown.map((field): FieldFacts => {
      const reference = referenceOf(field, resource, resources)
      return {
        field,
        required: resource.writable.create.has(field.name) && isRequired(field, resource, validation.create),
        ...reference && { reference },
        described: describeField(field, resource, ofFields[field.name] ?? {}, config.filters.extended),
      }
    }),
    relations: [...resource.relations.values()],
    validation,
    ...trash && { trash },
    ruled: Object.keys(resource.auth?.fields ?? {}).filter(name => !resource.hidden.has(name)),
  }
}

function bodyOf(resource: Resource, kind: 'create' | 'update'): JsonSchema | undefined {
  const { generated, standard } = resource.schemas[kind]
  const schema = generated ? generatedBody(resource, kind) : customBody(standard, `${resource.name}.validation.${kind}`)
  return schema && omitProperties(schema, name => resource.hidden.has(name) || resource.dropped[kind].has(name))
}

function isRequired({ name, optional }: Field, { roles, schemas }: Resource, create: JsonSchema | undefined): boolean {
  if (schemas.create.generated || !create) return !optional && name !== roles.createdAt?.name
  return create.required?.includes(name) ?? false
}

function describeField(
  field: Field, resource: Resource, { label, ...metadata }: FieldMetadata, extended: boolean,
): FieldFacts['described'] {
  const { name, wire, nullable, generated, ordered, lazy, column } = field
  const role = roleOf(field, resource)
  const operators = operatorsOf(field, extended)
  return {
    label: label ?? toLabel(name),
    kind: wire,
    nullable,
    ...lazy && { lazy },
    hasDefault: generated || column.hasDefault || role === 'createdAt',
    ...constantDefault(field),
    primaryKey: resource.primaryKey.includes(field),
    ...role && { role },
    ...column.enumValues?.length && { enum: [...column.enumValues] },
    operators,
    sortable: ordered,
    searchable: operators.includes('$like'),
    aggregates: FUNCTIONS.filter(name => canAggregate(name, field)),
    metadata,
  }
}

/** A form cannot show default values of these kinds. */
const WITHOUT_DEFAULT: ReadonlySet<string> = new Set(['blob', 'custom'])

function constantDefault({ column, wire, generated, toJson }: Field): { readonly default?: unknown } {
  const value: unknown = column.default
  if (value === undefined || value === null || generated || is(value, SQL) || WITHOUT_DEFAULT.has(wire)) return {}
  // The description is frozen, so it needs its own copy of the value.
  return { default: JSON.parse(JSON.stringify(toJson ? toJson(value) : value)) as unknown }
}

function roleOf(field: Field, { roles, tenant }: Resource): DescribedField['role'] {
  if (tenant === field) return 'tenant'
  return Object.entries(roles).find(([, column]) => column === field)?.[0] as DescribedField['role']
}

/** Finds the foreign key over this column. A key with one column has priority over a composite key. */
function referenceOf({ name }: Field, resource: Resource, resources: ReadonlyMap<string, Resource>): ReferenceFacts | undefined {
  const keys = resource.foreignKeys.filter(({ columns }) => columns.includes(name)).toSorted((a, b) => a.columns.length - b.columns.length)
  for (const { columns, foreignTable, foreignColumns } of keys) {
    const target = resourceOf(foreignTable, resources)
    if (!target) continue
    const relation = [...resource.relations.values()].find(relation =>
      relation.kind === 'one' && relation.target === target
      && sameNames(relation.columns, columns) && sameNames(relation.foreignColumns, foreignColumns),
    )
    return { target, field: foreignColumns[columns.indexOf(name)]!, ...relation && { relation } }
  }
  return undefined
}

const sameNames = (fields: readonly Field[], names: readonly string[]) => fields.map(({ name }) => name).join() === names.join()

function trashOf({ roles, auth }: Resource): DescribedTrash | undefined {
  if (!roles.deletedAt) return undefined
  const { cascade, retentionDays } = auth?.softDelete ?? {}
  return { cascade: cascade !== 'off', reason: roles.deletedReason !== undefined, ...retentionDays !== undefined && { retentionDays } }
}
