/** What is told of junctions: which tables join which resources. For signed-in callers, and tables and resources only. */
import { getTableName } from 'drizzle-orm'
import type { ManyToMany, Resource } from '../schema/model'
import type { AutoApiContext } from '../registration'
import { openContext, toCall, type Api, type ApiRequest } from './context'
import { notFound, unauthenticated } from './error'
import type { ApiResponse } from './response'
import { isRelationReadable } from './plan/include'

export interface JunctionInfo {
  readonly table: string
  readonly resources: readonly string[]
}

/** @throws 401 for an anonymous caller. */
export async function listJunctions(request: ApiRequest, api: Api): Promise<ApiResponse> {
  await assertSignedIn(request, api)
  const junctions = [...findJunctions(api)].map(([table, resources]): JunctionInfo => ({ table, resources: [...resources].sort() }))
  return { status: 200, body: { junctions, count: junctions.length } }
}

/** By the table's name in the database, or the name it is exported or registered under. */
export async function isJunction(request: ApiRequest, api: Api): Promise<ApiResponse> {
  await assertSignedIn(request, api)
  const table = request.params.last ?? ''
  return {
    status: 200,
    body: {
      table,
      isJunction: relationsOf(api).some(({ junction }) => junction.name === table || getTableName(junction.resource.table) === table),
    },
  }
}

export interface RelationshipInfo {
  readonly name: string
  readonly resource: string
  readonly junction: string
}

/** @throws 404 for a resource that is not registered. */
export async function detectRelationships(request: ApiRequest, api: Api): Promise<ApiResponse> {
  const ctx = await assertSignedIn(request, api)
  const resource = api.resources.get(request.params.last ?? '')
  if (!resource) throw notFound()
  const call = toCall(api, ctx, resource, request.engine)
  const readable = await Promise.all(
    manyToMany(resource).map(async relation => ((await isRelationReadable(call, resource, relation)) ? [relation] : [])),
  )
  const relationships = readable
    .flat()
    .map(({ name, target, junction }): RelationshipInfo => ({
      name,
      resource: target.name,
      junction: getTableName(junction.resource.table),
    }))
  return { status: 200, body: { resource: resource.name, relationships } }
}

async function assertSignedIn(request: ApiRequest, api: Api): Promise<AutoApiContext> {
  const ctx = await openContext(api, request, '', 'read')
  if (ctx.user === null) throw unauthenticated()
  return ctx
}

function findJunctions(api: Api): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const resource of api.resources.values()) {
    for (const { junction, target } of manyToMany(resource)) {
      const table = getTableName(junction.resource.table)
      found.set(table, (found.get(table) ?? new Set()).add(resource.name).add(target.name))
    }
  }
  return found
}

const manyToMany = ({ relations }: Resource) =>
  [...relations.values()].filter((relation): relation is ManyToMany => relation.kind === 'manyToMany')
const relationsOf = ({ resources }: Api) => [...resources.values()].flatMap(manyToMany)
