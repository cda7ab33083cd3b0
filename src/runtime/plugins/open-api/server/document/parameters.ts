/** The parameters of the operations of a resource, with the names that the caller can use. */
import type { DescribedResource, JsonSchema } from '../../../../shared/types/description'
import type { OnResource, Parameter, Reference } from './model'
import { refOf } from './names'
import { idSchema } from './schemas'
import { parameterRef } from './shared'

type Parameters = readonly (Parameter | Reference)[]

export function idParameter(described: DescribedResource): Parameter {
  const { primaryKey } = described
  const description = primaryKey.length > 1
    ? `The values of ${primaryKey.join(', ')}, each URL-encoded, separated by commas.`
    : 'The id of the record.'
  return { name: 'id', in: 'path', required: true, description, schema: idSchema(described) }
}

/** A list whose entries are separated by commas. */
function listParameter(name: string, description: string, items: JsonSchema): Parameter {
  return { name, in: 'query', description, style: 'form', explode: false, schema: { type: 'array', items } }
}

function nameParameter(name: string, description: string, values: readonly string[]): Parameters {
  return values.length > 0 ? [listParameter(name, description, { type: 'string', enum: values })] : []
}

const namesOf = ({ fields }: DescribedResource, is: (field: DescribedResource['fields'][string]) => boolean) =>
  Object.entries(fields).filter(([, field]) => is(field)).map(([name]) => name)

const countable = ({ relations }: DescribedResource) =>
  Object.entries(relations).filter(([, { countable }]) => countable).map(([name]) => name)

const bothOrders = (names: readonly string[]) => names.flatMap(name => [name, `-${name}`])

/** The parameters of a get. */
export function readParameters({ described }: OnResource): Parameters {
  return [
    ...nameParameter('fields', 'The fields of the response.', namesOf(described, ({ readable }) => readable)),
    ...includeParameter(described),
    ...nameParameter('counts', 'The relations to count. Each record gets `_count`.', countable(described)),
    ...trashParameters(described),
  ]
}

function includeParameter({ relations }: DescribedResource): Parameters {
  const names = Object.entries(relations).filter(([, { includable }]) => includable).map(([name]) => name)
  return names.length === 0
    ? []
    : [listParameter('include', 'The relations of the response. A path of names separated by dots includes relations of relations.', {
        anyOf: [{ type: 'string', enum: names }, { type: 'string' }],
      })]
}

/** Whether the response of a write can contain related records: the caller can read the resource and one of its relations. */
export const canInclude = ({ described }: OnResource): boolean =>
  described.capabilities.canRead && Object.values(described.relations).some(({ includable }) => includable)

/** The parameter of writes that answer records. */
export const includingParameters = (on: OnResource): Parameters => canInclude(on) ? includeParameter(on.described) : []

function trashParameters({ trash, capabilities: { canViewDeleted } }: DescribedResource): Parameters {
  return trash && canViewDeleted ? [parameterRef('includeDeleted'), parameterRef('onlyDeleted')] : []
}

export function filterParameter({ name, described }: Pick<OnResource, 'name' | 'described'>): Parameters {
  if (namesOf(described, ({ operators }) => operators.length > 0).length === 0) return []
  return [{
    name: 'filter', in: 'query', style: 'deepObject', explode: true, schema: refOf(name, 'filter'),
    description: 'Conditions, with the names of fields and operators in brackets, or as one JSON text.',
  }]
}

const SORT = 'The order. `-` sorts in descending order. A path sorts by a field of a related record, or by the number of related records.'

/** The values of related records that can sort a list: fields of to-one relations, and numbers of records. */
function relatedSorts({ described, resources }: OnResource): readonly string[] {
  return Object.entries(described.relations).filter(([, { filterable }]) => filterable).flatMap(([name, { kind, target }]) => {
    if (kind !== 'one') return [`${name}.$count`]
    const fields = Object.hasOwn(resources, target) ? namesOf(resources[target]!, ({ sortable }) => sortable) : []
    return fields.map(field => `${name}.${field}`)
  })
}

/** The parameters of a list, without those that choose its fields. */
export function pageParameters(on: OnResource): Parameters {
  const sortable = namesOf(on.described, ({ sortable }) => sortable)
  return [
    ...filterParameter(on),
    ...nameParameter('sort', SORT, bothOrders([...sortable, ...relatedSorts(on)])),
    ...(['page', 'limit', 'cursor', 'count'] as const).map(parameterRef),
    ...nameParameter('cursorFields', 'The fields of the order of a list by cursor.', bothOrders(sortable)),
  ]
}

export function aggregateParameter({ described: { fields, capabilities }, limits }: OnResource): Parameters {
  if (!capabilities.canAggregate || !limits.aggregates.enabled) return []
  const results = Object.entries(fields).flatMap(([name, { aggregates }]) => aggregates.map(aggregate => `${aggregate}(${name})`))
  return [listParameter('aggregate', 'The results to compute.', { type: 'string', enum: ['count', ...results] })]
}

/** The parameters of `/aggregate`. */
export function groupParameters(on: OnResource): Parameters {
  const groups = namesOf(on.described, ({ readable, sortable, kind }) => readable && (sortable || kind === 'boolean'))
  return [
    ...aggregateParameter(on),
    ...nameParameter('groupBy', 'One result for each combination of values of these fields.', groups),
    {
      name: 'having', in: 'query', description: 'Conditions on the results as JSON, such as `{"count":{"$gt":5}}`.',
      content: { 'application/json': { schema: { type: 'object' } } },
    },
    ...filterParameter(on),
    listParameter('sort', 'The order, by fields of `groupBy` and results such as `-count`.', { type: 'string' }),
    parameterRef('page'), parameterRef('limit'),
    ...trashParameters(on.described),
  ]
}

const dryRun = () => parameterRef('dryRun')

const keyed = ({ facts }: OnResource) => facts.hasIdempotency ? [parameterRef('idempotencyKey')] : []

export const createParameters = (on: OnResource): Parameters => [dryRun(), ...keyed(on)]

const ON_CONFLICT = listParameter(
  'onConflict', 'The columns of a unique constraint. A record that has their values is updated instead.',
  { type: 'string' },
)

/** An upsert by a caller who cannot update is no more than a create. One of records with secrets could not show them, so it is refused. */
export const canUpsert = ({ name, facts, described: { capabilities } }: OnResource): boolean =>
  capabilities.canCreate && capabilities.canUpdate && !facts.secrets.has(name)

/** The parameters of a create. */
export const upsertParameters = (on: OnResource): Parameters => [...canUpsert(on) ? [ON_CONFLICT] : [], ...createParameters(on)]

/** The parameters of a write of one record. */
export function changeParameters(on: OnResource): Parameters {
  const isRequired = on.facts.requiresIfMatch(on.name)
  return [idParameter(on.described), dryRun(), parameterRef(isRequired ? 'ifMatchRequired' : 'ifMatch'), ...keyed(on)]
}

export const CONFIRM: Parameter = {
  name: 'confirm', in: 'query', schema: { type: 'string' },
  description: '`confirm` of the result of a dry run. If the write would change other records, the response is 409.',
}

const REASON: Parameter = { name: 'reason', in: 'query', description: 'The reason of the delete.', schema: { type: 'string' } }

/** `force` turns a delete into a purge. Of two permissions, the caller can have one. */
export function deleteParameters({ described: { capabilities: { canDelete, canPurge }, trash } }: OnResource): Parameters {
  return [
    ...canPurge
      ? [{
          name: 'force', in: 'query' as const, ...!canDelete && { required: true },
          description: 'Whether the record is deleted permanently.', schema: { type: 'boolean', ...!canDelete && { const: true } },
        }]
      : [],
    ...trash?.reason ? [REASON] : [],
    CONFIRM,
  ]
}
