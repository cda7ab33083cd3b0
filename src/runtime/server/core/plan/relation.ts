/** Plans the relation routes, which read related records and change links. The plans apply the permissions and row scope of both sides. */
import type { Operation } from '../../../shared/operations'
import type { ManyToMany, Relation } from '../../schema/model'
import type { Call } from '../request/session'
import { quote, unknownIds, validationFailed } from '../error'
import { keyFields, readableFields, select } from '../access/fields'
import { authorize, callFor } from '../access/authorize'
import { assertRemovable, authorizeLink, requireManyToMany, requireRouteRelation, type LinkMode } from '../access/links'
import { parseData } from '../parse/body'
import { toKey, type Key } from '../../schema/record-id'
import type { LinkRequest, Metadata, RelatedQuery, RelationLinks } from '../parse/relation'
import type { Plan } from '../access/row-scope'
import { requireTenantId } from '../access/tenant'
import { planList, type ListPlan } from './read'
import type { ReadPlan } from './read-plan'

export interface RelatedPlan extends Plan {
  readonly key: Key
  readonly relation: Relation
  readonly metadata: boolean
  /** The plan of the list of related records. */
  readonly include: readonly [{ readonly plan: ListPlan, readonly through?: Plan }]
}

export async function planRelated(query: RelatedQuery, call: Call): Promise<RelatedPlan> {
  const relation = await requireRouteRelation(call, query.relation)
  const { target } = relation
  const listPlan = await planList(query.list, callFor(call, target, 'read'))
  // The route has authorized only the resource of the record. The list also needs the permissions of the related resource.
  await authorize(call, target, listOperations(query))
  const metadata = query.metadata && relation.kind === 'manyToMany'
  if (metadata) await authorizeMetadata(relation, call)
  return {
    resource: call.resource,
    trash: 'active',
    key: query.key,
    relation,
    metadata,
    include: [{ plan: { ...listPlan, ofRecord: true }, ...relation.kind === 'manyToMany' && { through: planJunction(relation) } }],
  }
}

function listOperations({ list }: RelatedQuery): readonly Operation[] {
  return ['read', ...list.aggregates.length > 0 ? ['aggregate' as const] : [], ...list.trash === 'active' ? [] : ['viewDeleted' as const]]
}

/** The junction table contains the metadata of the links. A registered junction requires its own read permission. */
async function authorizeMetadata({ junction }: ManyToMany, call: Call): Promise<void> {
  if (!junction.registered) return
  await authorize(call, junction.resource, ['read'])
}

export interface LinkPlan extends Plan {
  readonly key: Key
  readonly mode: LinkMode
  /** Whether the request changes several relations. If so, the response has one entry per relation. */
  readonly severalRelations: boolean
  readonly include: readonly LinkTarget[]
}

export interface LinkTarget {
  readonly relation: ManyToMany
  readonly ids: readonly string[]
  readonly keys: readonly Key[]
  /** The values of the junction row of each id, in the order of `ids`. The plan does not validate the values of a registered junction. */
  readonly metadata: readonly Metadata[]
  /** The tenant of the new junction rows, if the junction has a tenant column. */
  readonly tenantId?: unknown
  /** Reads the records to link. */
  readonly plan: ReadPlan
  /** Selects the rows of the junction. */
  readonly through: Plan
}

export async function planLink(request: LinkRequest, call: Call): Promise<LinkPlan> {
  const relations: ManyToMany[] = []
  for (const { relation } of request.links) relations.push(await requireManyToMany(relation, call))
  // Authorization precedes the validation of ids and metadata, because validation errors disclose the columns of a junction.
  for (const relation of relations) await authorizeLink(relation, request.mode, call)
  const include: LinkTarget[] = []
  for (const [index, links] of request.links.entries()) include.push(await planLinkTarget(relations[index]!, links, call))
  for (const relation of relations) assertRemovable(relation, request.mode)
  return {
    resource: call.resource,
    trash: 'active',
    key: request.key,
    mode: request.mode,
    severalRelations: request.severalRelations,
    include,
  }
}

export async function planLinkTarget(
  relation: ManyToMany, { ids, metadata, metadataById }: RelationLinks, call: Call,
): Promise<LinkTarget> {
  const { target, junction, name } = relation
  const keys = ids.map(id => toKey(target, id))
  const unknown = ids.filter((_, index) => !keys[index])
  if (unknown.length > 0) throw unknownIds(name, unknown)
  const parsed = new Map<Metadata, Metadata>()
  for (const values of [metadata, ...metadataById.values()]) parsed.set(values, await parseMetadata(relation, values, call))
  return {
    relation,
    ids,
    keys: keys as Key[],
    metadata: ids.map(id => parsed.get(metadataById.get(id) ?? metadata)!),
    ...junction.resource.tenant && { tenantId: requireTenantId(call, junction.resource) },
    plan: {
      resource: target,
      trash: 'active',
      selection: select(target, field => keyFields(target).byName.has(field.name) || relation.foreignColumns.includes(field)),
      where: [],
      order: [],
      count: false,
      include: [],
    },
    through: planJunction(relation),
  }
}

const planJunction = ({ junction }: ManyToMany): Plan => ({ resource: junction.resource, trash: 'active' })

/**
 * Checks the metadata of links. For an unregistered junction, it validates the columns as in an update. For a registered junction, it
 * checks only the names: the write validates each link as a create, when it knows the keys.
 */
async function parseMetadata(
  { junction: { resource, registered, sourceKey, targetKey } }: ManyToMany,
  metadata: Metadata,
  call: Call,
): Promise<Metadata> {
  const keys = new Set([...sourceKey.columns, ...targetKey.columns])
  const key = Object.keys(metadata).find(name => keys.has(name))
  if (key !== undefined)
    throw validationFailed([
      { path: ['metadata', key], message: 'The ids of the link set this column. Remove it from `metadata`.', code: 'unrecognized_keys' },
    ])
  if (!registered)
    return Object.keys(metadata).length === 0
      ? metadata
      : (await parseData(metadata, resource, 'update', async () => readableFields(call, resource))).values
  const unknown = Object.keys(metadata).filter(name => !resource.fields.has(name) && !resource.schemas.create.hasKey(name))
  const issues = unknown.map(name => ({ path: ['metadata', name], message: `Unknown field ${quote(name)}.`, code: 'unrecognized_keys' }))
  if (issues.length > 0) throw validationFailed(issues)
  return metadata
}
