/** The operations of the generated routes of a resource. Each appears only if the caller can use it. */
import { ROUTES, type Method, type RouteName } from '../../../../shared/routes'
import type { DescribedRelation, JsonSchema } from '../../../../shared/types/description'
import { operationId } from '../../../../server/plugin/description'
import { errorResponses, type ErrorKind } from './errors'
import type { Documented, OnResource, Operation, Response } from './model'
import { refOf, refTo, toTemplate } from './names'
import {
  aggregateParameter, canInclude, canUpsert, changeParameters, CONFIRM, createParameters, deleteParameters, groupParameters, idParameter,
  includingParameters, pageParameters, readParameters, upsertParameters,
} from './parameters'
import { idSchema } from './schemas'
import { parameterRef, type SharedSchema } from './shared'

export const JSON_CONTENT = 'application/json'

/** An operation before its errors and its name are added. */
interface Draft {
  readonly summary: string
  readonly parameters?: Operation['parameters']
  readonly body?: JsonSchema
  readonly status?: 200 | 201
  /** Whether the response of a create can also be that of an update. */
  readonly updates?: true
  readonly response: JsonSchema
  readonly headers?: readonly string[]
  readonly errors: ErrorKind
  /** For a relation: its name, which replaces `{relation}` of the path. */
  readonly relation?: string
}

type ResourceRoute = Extract<typeof ROUTES[number], { readonly path: `/:resource${string}` }>['name']

const ref = (name: SharedSchema) => refTo(name)

function object(properties: Readonly<Record<string, JsonSchema>>, required = Object.keys(properties)): JsonSchema {
  return { type: 'object', properties, ...required.length > 0 && { required } }
}

const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
const listOf = (items: JsonSchema) => object({ data: list(items), meta: ref('api.listMeta') })
const bulkOf = (items: JsonSchema) => object({ data: list(items), meta: ref('api.bulkMeta') })
const AFFECTED_BULK = { allOf: [ref('api.affected'), object({ meta: ref('api.bulkMeta') })] }
const anyOf = (...schemas: readonly JsonSchema[]): JsonSchema => ({ anyOf: schemas })

const issued = (key: string) => object({
  [key]: { type: 'string', description: 'The secret. Only this response has it.' },
  [`${key}AlreadyIssued`]: { type: 'boolean', description: 'The secret was in the first response to this key.' },
}, [])

/** The record in the response of a create. That of an API token or a webhook also has the secret. */
function createdRecord(on: OnResource): JsonSchema {
  const key = on.facts.secrets.get(on.name)
  return key === undefined ? writtenRecord(on) : { allOf: [writtenRecord(on), issued(key)] }
}

/** Whether the caller can update a record, and a body can contain something: the permission can also be that of a route of a plugin. */
const hasUpdate = ({ described: { capabilities, fields, relations } }: OnResource) => capabilities.canUpdate
  && (Object.values(fields).some(({ writable }) => writable.update) || Object.values(relations).some(({ nested }) => nested !== undefined))

/** With `include`, the record also has the related records of a read. */
const writtenRecord = (on: OnResource): JsonSchema =>
  canInclude(on) ? { allOf: [refOf(on.name), refOf(on.name, 'read')] } : refOf(on.name)

const bodyOf = ({ name, described }: OnResource, kind: 'create' | 'update'): JsonSchema =>
  described.validation[kind] ? refOf(name, kind) : { type: 'object' }

function idList(on: OnResource): JsonSchema {
  const id = idSchema(on.described)
  const isRequired = on.facts.requiresIfMatch(on.name)
  const tagged = object({ id, ifMatch: { type: 'string' } }, isRequired ? ['id', 'ifMatch'] : ['id'])
  return { type: 'array', minItems: 1, maxItems: on.limits.bulk.items, items: isRequired ? tagged : anyOf(id, tagged) }
}

const groupBody = (on: OnResource) => anyOf(object({ ids: idList(on) }), object({ deletionId: { type: 'string' } }))

function items(on: OnResource, item: JsonSchema): JsonSchema {
  return object({ items: { type: 'array', minItems: 1, maxItems: on.limits.bulk.items, items: item } })
}

function linkBody(on: OnResource): JsonSchema {
  const id = { type: ['string', 'integer'] }
  return object({
    ids: { type: 'array', items: id, maxItems: on.limits.bulk.items },
    metadata: { type: 'object', description: 'Values of other columns of the junction table, for all links.' },
    metadataById: { type: 'object', additionalProperties: { type: 'object' }, description: 'Values for single links, by id.' },
  }, ['ids'])
}

type Build = (on: OnResource) => readonly Draft[]

const when = (condition: boolean, create: () => Draft): readonly Draft[] => condition ? [create()] : []

const LINKS = {
  add: 'Add links', remove: 'Remove links', replace: 'Replace links',
} as const satisfies Readonly<Record<keyof NonNullable<DescribedRelation['linkable']>, string>>

const includableOf = ({ described: { relations } }: OnResource) => Object.entries(relations).filter(([, { includable }]) => includable)

function relationsOf({ described: { relations } }: OnResource, mode: keyof typeof LINKS): string[] {
  return Object.entries(relations).filter(([, { linkable }]) => linkable?.[mode]).map(([name]) => name)
}

const link = (mode: keyof typeof LINKS): Build => on =>
  relationsOf(on, mode).map(relation => ({
    summary: `${LINKS[mode]}: ${on.described.relations[relation]!.label}`, relation, errors: 'change',
    parameters: [idParameter(on.described), ...createParameters(on)], body: linkBody(on), response: ref('api.links'),
  }))

/** The title of a resource is part of every summary, because generated clients and pages show it. */
const BUILD: Readonly<Record<ResourceRoute, Build>> = {
  'list': on => when(on.described.capabilities.canRead, () => ({
    summary: `List: ${on.described.label}`, errors: 'read', response: listOf(refOf(on.name, 'read')), headers: ['ETag'],
    parameters: [...readParameters(on), ...pageParameters(on), ...aggregateParameter(on), parameterRef('ifNoneMatch')],
  })),
  'create': on => when(on.described.capabilities.canCreate, () => ({
    summary: `Create: ${on.described.label}`, status: 201, headers: ['ETag', 'Location'],
    ...canUpsert(on) ? { errors: 'change', updates: true } : { errors: 'create' },
    parameters: [...upsertParameters(on), ...includingParameters(on)], body: bodyOf(on, 'create'), response: createdRecord(on),
  })),
  'aggregate': on => when(on.described.capabilities.canAggregate, () => ({
    summary: `Aggregate: ${on.described.label}`, errors: 'read', headers: ['ETag'],
    parameters: [...groupParameters(on), parameterRef('ifNoneMatch')],
    response: object({ data: list(refOf(on.name, 'aggregate')), meta: object({ total: { type: 'integer' } }) }),
  })),
  'resource-permissions': on => [{
    summary: `Permissions: ${on.described.label}`, errors: 'read', headers: ['ETag'], response: ref('api.capabilities'),
    parameters: [{
      name: 'ids', in: 'query', style: 'form', explode: false, schema: list({ type: 'string' }),
      description: 'Records for which the response also has the permissions.',
    }],
  }],
  'bulk-create': on => when(on.described.capabilities.canCreate && on.limits.bulk.enabled, () => ({
    summary: `Create many: ${on.described.label}`, errors: 'bulk',
    parameters: [...upsertParameters(on), ...includingParameters(on)],
    body: items(on, bodyOf(on, 'create')), response: bulkOf(createdRecord(on)),
  })),
  'bulk-update': on => when(hasUpdate(on) && on.limits.bulk.enabled, () => ({
    summary: `Update many: ${on.described.label}`, errors: 'bulk',
    parameters: [...createParameters(on), ...includingParameters(on)], response: bulkOf(writtenRecord(on)),
    body: items(on, object({ id: idSchema(on.described), data: bodyOf(on, 'update'), ifMatch: { type: 'string' } },
      on.facts.requiresIfMatch(on.name) ? ['id', 'data', 'ifMatch'] : ['id', 'data'])),
  })),
  'bulk-delete': on => when((on.described.capabilities.canDelete || on.described.capabilities.canPurge) && on.limits.bulk.enabled, () => ({
    summary: `Delete many: ${on.described.label}`, errors: 'bulk', parameters: [...deleteParameters(on), ...createParameters(on)],
    body: on.described.trash && on.described.capabilities.canPurge ? groupBody(on) : object({ ids: idList(on) }),
    response: anyOf(bulkOf(ref('api.bulkDeletion')), AFFECTED_BULK),
  })),
  'bulk-restore': on => when(on.described.capabilities.canRestore && on.limits.bulk.enabled, () => ({
    summary: `Restore many: ${on.described.label}`, errors: 'bulk', parameters: [...createParameters(on), CONFIRM],
    body: groupBody(on), response: anyOf(bulkOf(refOf(on.name)), AFFECTED_BULK),
  })),
  'get': on => when(on.described.capabilities.canRead, () => ({
    summary: `Get: ${on.described.label}`, errors: 'record', response: refOf(on.name, 'read'), headers: ['ETag'],
    parameters: [idParameter(on.described), ...readParameters(on), parameterRef('ifNoneMatch')],
  })),
  'update': on => when(hasUpdate(on), () => ({
    summary: `Update: ${on.described.label}`, errors: 'change', headers: ['ETag'],
    parameters: [...changeParameters(on), ...includingParameters(on)], body: bodyOf(on, 'update'), response: writtenRecord(on),
  })),
  'delete': on => when(on.described.capabilities.canDelete || on.described.capabilities.canPurge, () => ({
    summary: `Delete: ${on.described.label}`, errors: 'change', parameters: [...changeParameters(on), ...deleteParameters(on)],
    response: anyOf(ref('api.deletion'), ref('api.affected')),
  })),
  'restore': on => when(on.described.capabilities.canRestore, () => ({
    summary: `Restore: ${on.described.label}`, errors: 'change', headers: ['ETag'],
    parameters: [...changeParameters(on), CONFIRM], response: anyOf(refOf(on.name), ref('api.affected')),
  })),
  'related': on => includableOf(on).map(([relation, { label, target }]) => ({
    summary: `Related records: ${label}`, relation, errors: 'record', headers: ['ETag'],
    parameters: [idParameter(on.described), ...relatedParameters(on, target), parameterRef('ifNoneMatch')],
    response: listOf({ allOf: [refOf(target, 'read'), object({ _junction: { type: 'object' } }, [])] }),
  })),
  'relation-replace': link('replace'),
  'relation-add': link('add'),
  'relation-remove': link('remove'),
  'relations-replace': on => when(relationsOf(on, 'replace').length > 0, () => {
    const named = (schema: JsonSchema) => Object.fromEntries(relationsOf(on, 'replace').map(name => [name, schema]))
    return {
      summary: `Replace links of several relations: ${on.described.label}`, errors: 'change',
      parameters: [idParameter(on.described), ...createParameters(on)],
      body: object({ relations: { ...object(named(linkBody(on)), []), minProperties: 1, additionalProperties: false } }),
      response: object({ relations: object(named(ref('api.links')), []) }),
    }
  }),
}

/** A list of related records has the parameters of the related resource. */
function relatedParameters(on: OnResource, target: string): NonNullable<Operation['parameters']> {
  const related = on.resources[target]
  if (!related) return []
  const onTarget: OnResource = { ...on, name: target, described: related }
  return [
    ...readParameters(onTarget), ...pageParameters(onTarget), ...aggregateParameter(onTarget),
    { name: 'includeMetadata', in: 'query', schema: { type: 'boolean' }, description: 'Whether `_junction` has the columns of each link.' },
  ]
}

function toOperation(draft: Draft, id: string, on: OnResource): Operation {
  const { summary, parameters = [], body, response, status = 200, updates, headers = [], errors } = draft
  const success = (description: string, names: readonly string[]): Response => ({
    description,
    ...names.length > 0 && { headers: Object.fromEntries(names.map(name => [name, { schema: { type: 'string' } }])) },
    content: { [JSON_CONTENT]: { schema: response } },
  })
  const isConditional = parameters.some(parameter => '$ref' in parameter && parameter.$ref.endsWith('/ifNoneMatch'))
  return {
    operationId: id,
    tags: [on.name],
    summary,
    ...parameters.length > 0 && { parameters },
    ...body && { requestBody: { required: true, content: { [JSON_CONTENT]: { schema: body } } } },
    responses: {
      ...updates && { 200: success('The record that had the values of `onConflict`.', ['ETag']) },
      [status]: success(status === 201 ? 'The created record.' : 'The result.', headers),
      ...isConditional && { 304: { description: 'The client has this response.' } },
      ...errorResponses(errors, on.facts),
    },
  }
}

const OF_RESOURCE = ROUTES.filter(({ path }) => path.startsWith('/:resource')) as unknown as
  readonly { readonly name: ResourceRoute, readonly method: Method, readonly path: string }[]

/** Returns the operations of the generated routes that the caller can use. Routes that a file of the app replaces are not among them. */
export function resourceOperations(on: OnResource): readonly Documented[] {
  return OF_RESOURCE.flatMap(({ name, method, path }) => {
    const below = path.replace(':resource', on.name)
    if (on.facts.isAppRoute(method, below)) return []
    return BUILD[name](on).map((draft) => {
      const { relation } = draft
      const id = operationId(on.name, ...relation === undefined ? [name] : [relation, RELATION_OPERATIONS[name] ?? name])
      const template = toTemplate(relation === undefined ? below : below.replace(':relation', relation))
      return { method, path: on.facts.prefix + template, operation: toOperation(draft, id, on) }
    })
  })
}

/** The operations of a relation in the ids: `posts.tags.add`. */
const RELATION_OPERATIONS: Readonly<Partial<Record<RouteName, string>>> = {
  'related': 'list', 'relation-add': 'add', 'relation-remove': 'remove', 'relation-replace': 'replace',
}
