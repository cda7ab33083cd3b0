/** The parameters of the query string that each generated route knows, and what happens to others: the option `http.strictParameters`. */
import type { RouteName } from '../../../shared/routes'
import { didYouMean } from '../../../shared/suggest'
import type { AutoApiConfig } from '../../../shared/config'
import type { ApiRequest } from '../request/api-request'
import { invalidQuery, quote, shorten } from '../error'
import { logPrefix, printable } from '../process/log'
import { canWrite } from '../request/prefer'

const GET = ['fields', 'include', 'counts', 'includeDeleted', 'onlyDeleted'] as const
const GROUPS = ['aggregate', 'groupBy', 'having', 'filter', 'sort', 'page', 'limit', 'includeDeleted', 'onlyDeleted'] as const
const DELETE = ['force', 'reason', 'confirm'] as const
const RESTORE = ['confirm'] as const
const CREATE = ['onConflict', 'include'] as const
const UPDATE = ['include'] as const
const NONE = [] as const

export const LIST_PARAMETERS: readonly string[] = Object.freeze([...new Set([...GET, ...GROUPS, 'cursor', 'cursorFields', 'count'])])

/** Every write also has `dryRun`. */
export const PARAMETERS: Readonly<Record<RouteName, readonly string[]>> = {
  'list': LIST_PARAMETERS,
  'create': CREATE,
  'aggregate': GROUPS,
  'resource-permissions': ['ids'],
  'bulk-create': CREATE,
  'bulk-update': UPDATE,
  'bulk-delete': DELETE,
  'bulk-restore': RESTORE,
  'get': GET,
  'update': UPDATE,
  'delete': DELETE,
  'restore': RESTORE,
  'related': [...LIST_PARAMETERS, 'includeMetadata'],
  'relation-replace': NONE,
  'relation-add': NONE,
  'relation-remove': NONE,
  'relations-replace': NONE,
  'permissions': NONE,
  'schema': ['resources'],
  'm2m-junctions': NONE,
  'm2m-is-junction': NONE,
  'm2m-detect': NONE,
}

/**
 * Refuses or reports the first parameter that is not known.
 * @throws `INVALID_QUERY` with `strictParameters: true`
 */
export function assertParameters(known: readonly string[], request: ApiRequest, { http: { strictParameters } }: AutoApiConfig): void {
  const all = canWrite(request) ? [...known, 'dryRun'] : known
  const unknown = Object.keys(request.query).find(name => !all.includes(name) && !(name.startsWith('filter[') && all.includes('filter')))
  if (unknown === undefined) return
  const message = `${quote(unknown)} is not a parameter of this route.${didYouMean(unknown.replace(/\[.*$/s, ''), all)}`
  if (strictParameters === true) throw invalidQuery(message, shorten(unknown))
  console.warn(logPrefix(request.event), printable(request.method), printable(request.path), printable(message))
}
