/** The routes that list junction tables and the resources that they connect. The caller must be signed in. */
import { getTableName } from 'drizzle-orm'
import type { RouteName } from '../../../shared/routes'
import type { ManyToMany, Resource } from '../../schema/model'
import type { Api } from '../api'
import type { ApiRequest } from '../request/api-request'
import { forResource } from '../request/call'
import type { Session } from '../request/session'
import { notFound } from '../error'
import type { ApiResponse } from '../extensions/response'
import { PARAMETERS } from '../parse/parameters'
import { assertSignedIn, handleRequest } from '../pipeline'
import { isRelationReadable } from '../access/readable-relation'

export interface JunctionInfo {
  readonly table: string
  readonly resources: readonly string[]
}

/** `GET /_m2m/junctions`. @throws 401 for an anonymous caller. */
export function listJunctions(request: ApiRequest, api: Api): Promise<ApiResponse> {
  return runForSignedIn(request, api, 'm2m-junctions', async () => {
    const junctions = [...findJunctions(api)].map(([table, resources]): JunctionInfo => ({ table, resources: [...resources].sort() }))
    return { junctions, count: junctions.length }
  })
}

/** `GET /_m2m/is-junction/:table`. `:table` is the table's name in the database, its export name, or its registered name. */
export function isJunction(request: ApiRequest, api: Api): Promise<ApiResponse> {
  return runForSignedIn(request, api, 'm2m-is-junction', async () => {
    const table = request.params.last ?? ''
    return {
      table,
      isJunction: relationsOf(api).some(({ junction }) => junction.name === table || getTableName(junction.resource.table) === table),
    }
  })
}

export interface RelationshipInfo {
  readonly name: string
  readonly resource: string
  readonly junction: string
}

/** `GET /_m2m/detect/:name`. @throws 404 for a resource that is not registered. */
export function detectRelationships(request: ApiRequest, api: Api): Promise<ApiResponse> {
  return runForSignedIn(request, api, 'm2m-detect', async (session) => {
    const resource = api.resources.get(request.params.last ?? '')
    if (!resource) throw notFound()
    const call = forResource(session, resource, session.ctx)
    const readable = await Promise.all(
      manyToMany(resource).map(async relation => ((await isRelationReadable(call, resource, relation)) ? [relation] : [])),
    )
    const relationships = readable.flat().map(({ name, target, junction }): RelationshipInfo => ({
      name,
      resource: target.name,
      junction: getTableName(junction.resource.table),
    }))
    return { resource: resource.name, relationships }
  })
}

function runForSignedIn(
  request: ApiRequest, api: Api, name: RouteName, toBody: (session: Session) => Promise<object>,
): Promise<ApiResponse> {
  return handleRequest(api, request, undefined, {
    operations: ['read'],
    parameters: () => PARAMETERS[name],
    authorize: assertSignedIn,
    run: async session => ({ status: 200, body: await toBody(session) }),
  })
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
