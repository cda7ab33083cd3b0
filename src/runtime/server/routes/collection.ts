/** `/:resource`. A list with `groupBy` has the same response as `/aggregate`. */
import type { Api } from '../core/api'
import type { ApiRequest } from '../core/request/api-request'
import { executeGroups } from '../core/read/aggregate/groups'
import { executeList } from '../core/read/list'
import { executeWrite } from '../core/write/run'
import { parseGroups } from '../core/parse/aggregate'
import { parseList } from '../core/parse/list'
import { readOperations } from '../core/parse/params'
import { parseCreate } from '../core/parse/write'
import { withIncluded } from '../core/entries/included'
import { toRoute, type Route } from '../core/entries/route'
import { planGroups } from '../core/plan/aggregate'
import { planList } from '../core/plan/read'
import { planCreate } from '../core/plan/write'
import { withUpsert } from '../core/entries/upsert/route'
import { createdRecord, groupEnvelope, listEnvelope } from '../core/entries/respond'
import { defineRoutes, type Methods } from '../http/handlers'

const list = toRoute({
  name: 'list',
  operation: readOperations,
  operations: ['read'],
  parse: parseList,
  plan: planList,
  execute: executeList,
  respond: listEnvelope,
})
const groups = toRoute({
  name: 'list',
  operation: readOperations,
  operations: ['read'],
  parse: parseGroups,
  plan: planGroups,
  execute: executeGroups,
  respond: groupEnvelope,
})
const chosen = (request: ApiRequest) => request.query.groupBy === undefined ? list : groups
const listOrGroups: Route = Object.assign((request: ApiRequest, api: Api) => chosen(request)(request, api), {
  operationOf: (request: ApiRequest) => chosen(request).operationOf!(request),
  operations: list.operations!,
})

export const methods = {
  GET: listOrGroups,
  POST: withUpsert('create', toRoute(withIncluded({
    name: 'create',
    operation: 'create',
    parse: parseCreate,
    plan: planCreate,
    execute: executeWrite,
    respond: createdRecord,
  }))),
} satisfies Methods

export default defineRoutes(methods)
