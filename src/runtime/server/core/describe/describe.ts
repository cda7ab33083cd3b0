/** Describes the API for one caller: resources, fields, relations, bodies and limits. The description contains no rows. */
import type { AutoApiConfig } from '../../../shared/config'
import { LIMITS } from '../../../shared/limits'
import type { ApiDescription, DescribedLimits, DescribedResource } from '../../../shared/types/description'
import type { AutoApiContext } from '../../registration'
import type { Resource } from '../../schema/model'
import type { Api } from '../api'
import type { ApiRequest } from '../request/api-request'
import { requireSession, type Session } from '../request/session'
import { PARAMETERS } from '../parse/parameters'
import { nameList } from '../parse/params'
import { allowEveryone, handleRequest } from '../pipeline'
import type { ApiResponse } from '../extensions/response'
import { canReadReference, createAccessOf, findRelationAccess, type AccessOf, type RelationAccess, type ResourceAccess } from './access'
import { factsOf } from './facts'
import { describeResource } from './resource'

/**
 * `GET /_schema`, with `?resources=` for some of the resources. It requires no permission, because the description contains only what the
 * caller can use.
 */
export function describeRoute(request: ApiRequest, api: Api): Promise<ApiResponse> {
  return handleRequest(api, request, undefined, {
    operations: ['read'],
    parameters: () => PARAMETERS.schema,
    authorize: allowEveryone,
    run: async session => ({ status: 200, body: await describe(session, nameList(request.query, 'resources')) }),
  })
}

/**
 * Describes the API for the caller of a context.
 * @param names the resources to describe. The names of resources that the caller cannot use are ignored, like names that do not exist.
 * @throws When the API did not create the context.
 */
export function describeFor(context: object, names?: readonly string[]): Promise<ApiDescription> {
  const { api, engine } = requireSession(context)
  // The context can belong to another operation, such as the update of a hook. Its decisions about `read` are not these.
  const ctx = Object.assign(Object.create(context) as AutoApiContext, { resource: '', operation: 'read' })
  return describe({ api, engine, ctx, memo: new Map() }, names)
}

async function describe(session: Session, names?: readonly string[]): Promise<ApiDescription> {
  const { api: { resources, config } } = session
  const accessOf = createAccessOf(session)
  const described: [string, DescribedResource][] = []
  const chosen = names && new Set(names)
  for (const resource of resources.values()) {
    const access = !chosen || chosen.has(resource.name) ? await accessOf(resource) : undefined
    if (access) described.push([resource.name, await describeOne(session, resource, access, accessOf)])
  }
  return { resources: Object.fromEntries(described), limits: limitsOf(config) }
}

async function describeOne(session: Session, resource: Resource, access: ResourceAccess, accessOf: AccessOf): Promise<DescribedResource> {
  const facts = factsOf(resource, session.api)
  const relations = new Map<string, RelationAccess>()
  for (const relation of facts.relations) relations.set(relation.name, await findRelationAccess(session, resource, relation, accessOf))
  const references = new Set<string>()
  for (const { field, reference } of facts.fields)
    if (reference && await canReadReference(session, reference, accessOf)) references.add(field.name)
  return describeResource(resource, facts, { ...access, relations, references })
}

function limitsOf({ pagination, filters, relations, aggregations, bulk, http }: AutoApiConfig): DescribedLimits {
  return {
    pagination: { default: pagination.default, defaultLimit: pagination.defaultLimit, maxLimit: pagination.maxLimit },
    include: { maxDepth: relations.maxDepth, maxIncludes: relations.maxIncludes },
    filter: { extended: filters.extended, conditions: LIMITS.conditions, or: LIMITS.or, in: LIMITS.in, likes: LIMITS.likes },
    sort: LIMITS.sort,
    aggregates: { enabled: aggregations.enabled, functions: LIMITS.aggregates, groupBy: aggregations.maxGroupByFields },
    bulk: { enabled: bulk.enabled, items: bulk.maxBatchSize, transactional: bulk.transactional },
    body: http.maxBodySize,
  }
}
