/** The visibility matrix: the response to each request of each caller for each reason. Written by hand, from the contract. */
import type { CallerName, ReasonName } from './reasons'
import type { RequestName } from './requests'

/**
 * - `404 CODE`: refused with this status and code; nothing is written.
 * - `absent`: the response has neither the row nor its part of totals and counts; nothing is written.
 * - `done`: the reason does not concern the request. It succeeds, or returns 412 if its tag is stale.
 */
export type Cell = `${400 | 401 | 403 | 404 | 409} ${Uppercase<string>}` | 'absent' | 'done'

type Cells = Record<RequestName, Cell>

/** Row visibility: as if the row did not exist. Creating a row and reading about junctions does not depend on it. */
const outOfSight: Cells = {
  'list': 'absent',
  'list by cursor': 'absent',
  'list with trash': 'absent',
  'list by a related record': 'absent',
  'list with counts': 'absent',
  'list sorted by a count': 'absent',
  'aggregate': 'absent',
  'get': '404 NOT_FOUND',
  'get with trash': '404 NOT_FOUND',
  'get with counts': '404 NOT_FOUND',
  'get if none matches': '404 NOT_FOUND',
  'create': 'done',
  'update': '404 NOT_FOUND',
  'delete': '404 NOT_FOUND',
  'purge': '404 NOT_FOUND',
  'restore': '404 NOT_FOUND',
  'update with a stale tag': '404 NOT_FOUND',
  'purge with a stale tag': '404 NOT_FOUND',
  'restore with a stale tag': '404 NOT_FOUND',
  'bulk create': 'done',
  'bulk update': '404 BULK_FAILED',
  'bulk update with a stale tag': '404 BULK_FAILED',
  'bulk delete': '404 BULK_FAILED',
  'bulk purge': '404 BULK_FAILED',
  'bulk restore': '404 BULK_FAILED',
  'related': '404 NOT_FOUND',
  'related, from the other side': 'absent',
  'link': '404 NOT_FOUND',
  'link, from the other side': '404 NOT_FOUND',
  'unlink': '404 NOT_FOUND',
  'unlink, from the other side': '404 NOT_FOUND',
  'replace links': '404 NOT_FOUND',
  // The caller cannot see the link, so it stays.
  'replace links, from the other side': 'absent',
  'replace all links': '404 NOT_FOUND',
  'permissions on the row': 'absent',
  'permissions on the resource': 'done',
  'all permissions': 'done',
  'schema': 'done',
  'junctions': 'done',
  'is a junction': 'done',
  'detect junctions': 'done',
}

const everything: Cells = {
  'list': 'done',
  'list by cursor': 'done',
  'list with trash': 'done',
  'list by a related record': 'done',
  'list with counts': 'done',
  'list sorted by a count': 'done',
  'aggregate': 'done',
  'get': 'done',
  'get with trash': 'done',
  'get with counts': 'done',
  'get if none matches': 'done',
  'create': 'done',
  'update': 'done',
  'delete': 'done',
  'purge': 'done',
  'restore': 'done',
  'update with a stale tag': 'done',
  'purge with a stale tag': 'done',
  'restore with a stale tag': 'done',
  'bulk create': 'done',
  'bulk update': 'done',
  'bulk update with a stale tag': 'done',
  'bulk delete': 'done',
  'bulk purge': 'done',
  'bulk restore': 'done',
  'related': 'done',
  'related, from the other side': 'done',
  'link': 'done',
  'link, from the other side': 'done',
  'unlink': 'done',
  'unlink, from the other side': 'done',
  'replace links': 'done',
  'replace links, from the other side': 'done',
  'replace all links': 'done',
  'permissions on the row': 'done',
  'permissions on the resource': 'done',
  'all permissions': 'done',
  'schema': 'done',
  'junctions': 'done',
  'is a junction': 'done',
  'detect junctions': 'done',
}

/** These requests name a tag: the authorization of articles is not checked. */
const FROM_TAGS = [
  'related, from the other side',
  'link, from the other side',
  'unlink, from the other side',
  'replace links, from the other side',
] as const
/** These requests describe junction tables: every signed-in caller can send them. */
const ABOUT_TABLES = ['junctions', 'is a junction', 'detect junctions'] as const
/** Every caller can read their capabilities; all are false then. */
const ABOUT_CALLER = ['permissions on the row', 'permissions on the resource', 'all permissions', 'schema'] as const
/** These requests create a row and set its tenant. */
const CREATING = ['create', 'bulk create'] as const

const all = (names: readonly RequestName[], cell: Cell) => Object.fromEntries(names.map(name => [name, cell]))
const these = (names: readonly RequestName[], cells: Cells) => Object.fromEntries(names.map(name => [name, cells[name]]))

/** A refusal before the request is parsed is the same for every request. */
const refused = (cell: Cell): Cells => ({
  ...everything,
  ...all(Object.keys(everything) as RequestName[], cell),
  ...all(ABOUT_CALLER, 'absent'),
  ...all(ABOUT_TABLES, 'done'),
})
const anonymously = (cells: Cells): Cells => ({ ...cells, ...all(ABOUT_TABLES, '401 UNAUTHENTICATED') })
/** Staff see the rows of every tenant, and must choose the tenant of a new row. */
const withoutChoosing = (cells: Cells): Cells => ({ ...cells, ...all(CREATING, '403 TENANT_REQUIRED') })
/** Only the article's own routes are refused: an app can show the rows linked to a tag. */
const refusedExceptFromTags = (cell: Cell, seen: Cells): Cells => ({ ...refused(cell), ...these(FROM_TAGS, seen) })

const tenantRequired = refused('403 TENANT_REQUIRED')

const inTrash: Cells = {
  ...outOfSight,
  'list with trash': 'done',
  'get with trash': 'done',
  'purge': 'done',
  'restore': 'done',
  'purge with a stale tag': 'done',
  'restore with a stale tag': 'done',
  'bulk purge': 'done',
  'bulk restore': 'done',
}

const notInTrash: Cells = {
  ...everything, 'restore': '404 NOT_FOUND', 'restore with a stale tag': '404 NOT_FOUND', 'bulk restore': '404 BULK_FAILED',
}

/** A reason that is the same for every caller of the row's tenant. */
const insideTheTenant = (cells: Cells): Record<CallerName, Cells> => ({
  'an anonymous caller': anonymously(cells),
  'a member': cells,
  'a member of another tenant': outOfSight,
  'a caller without a tenant': tenantRequired,
  'the super-admin': cells,
  'the super-admin without a tenant': tenantRequired,
  'cross-tenant staff': withoutChoosing(cells),
  'cross-tenant staff who chose a tenant': cells,
})

const ofAnotherTenant: Record<CallerName, Cells> = {
  'an anonymous caller': anonymously(outOfSight),
  'a member': outOfSight,
  'a member of another tenant': everything,
  'a caller without a tenant': tenantRequired,
  'the super-admin': outOfSight,
  'the super-admin without a tenant': tenantRequired,
  'cross-tenant staff': withoutChoosing(everything),
  'cross-tenant staff who chose a tenant': everything,
}

/** Refused for every caller before the tenant is resolved. */
const closed: Record<CallerName, Cells> = {
  'an anonymous caller': anonymously(refusedExceptFromTags('401 UNAUTHENTICATED', everything)),
  'a member': refusedExceptFromTags('403 FORBIDDEN', everything),
  'a member of another tenant': refusedExceptFromTags('403 FORBIDDEN', outOfSight),
  'a caller without a tenant': refusedExceptFromTags('403 FORBIDDEN', tenantRequired),
  'the super-admin': refusedExceptFromTags('403 FORBIDDEN', everything),
  'the super-admin without a tenant': refusedExceptFromTags('403 FORBIDDEN', tenantRequired),
  'cross-tenant staff': refusedExceptFromTags('403 FORBIDDEN', everything),
  'cross-tenant staff who chose a tenant': refusedExceptFromTags('403 FORBIDDEN', everything),
}

export const EXPECTED: Record<ReasonName, Record<CallerName, Cells>> = {
  'nothing hides the row': insideTheTenant(everything),
  'the row is another tenant\'s': ofAnotherTenant,
  'the row is another tenant\'s, which the caller names': ofAnotherTenant,
  'listFilter refuses the row': insideTheTenant(outOfSight),
  'rows of a plugin refuse the row': insideTheTenant(outOfSight),
  'objectLevel refuses the row': insideTheTenant(outOfSight),
  'the row is in the trash': insideTheTenant(inTrash),
  'the row is not in the trash': insideTheTenant(notInTrash),
  'there is no such row': insideTheTenant(outOfSight),
  'the permission is missing': {
    'an anonymous caller': anonymously(refused('401 UNAUTHENTICATED')),
    'a member': refused('403 FORBIDDEN'),
    'a member of another tenant': refused('403 FORBIDDEN'),
    'a caller without a tenant': refused('403 FORBIDDEN'),
    // '*' includes every permission.
    'the super-admin': everything,
    'the super-admin without a tenant': tenantRequired,
    'cross-tenant staff': refused('403 FORBIDDEN'),
    'cross-tenant staff who chose a tenant': refused('403 FORBIDDEN'),
  },
  // '*' also passes `false`.
  'the permission is false': { ...closed, 'the super-admin': everything, 'the super-admin without a tenant': tenantRequired },
  'the resource has no authorization': closed,
}
