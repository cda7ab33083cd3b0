/** The matrix of credentials: what each request needs as scopes, and the response to each kind of credential. Written by hand. */
import { EXPECTED, type Cell } from './expected'
import { PLUGIN_REQUESTS } from './plugin-routes'
import type { PluginRouteName, RequestName, RequestOptions } from './requests'

/** The scopes with which a token can send each request, if its owner can. Without any one of them, the request is refused. */
const SCOPES: Readonly<Record<RequestName, readonly string[]>> = {
  'list': ['articles:read'],
  'list by cursor': ['articles:read'],
  'list with trash': ['articles:read', 'articles:viewDeleted'],
  'list by a related record': ['articles:read', 'tags:read'],
  'list with counts': ['articles:read', 'tags:read'],
  'list sorted by a count': ['articles:read', 'tags:read'],
  'aggregate': ['articles:aggregate'],
  'get': ['articles:read'],
  'get with trash': ['articles:read', 'articles:viewDeleted'],
  'get with counts': ['articles:read', 'tags:read'],
  'get if none matches': ['articles:read'],
  'create': ['articles:create'],
  'update': ['articles:update'],
  'delete': ['articles:delete'],
  'purge': ['articles:purge'],
  'restore': ['articles:restore'],
  'update with a stale tag': ['articles:update'],
  'purge with a stale tag': ['articles:purge'],
  'restore with a stale tag': ['articles:restore'],
  'bulk create': ['articles:create'],
  'bulk update': ['articles:update'],
  'bulk update with a stale tag': ['articles:update'],
  'bulk delete': ['articles:delete'],
  'bulk purge': ['articles:purge'],
  'bulk restore': ['articles:restore'],
  'related': ['articles:read', 'tags:read'],
  'related, from the other side': ['articles:read', 'tags:read'],
  'link': ['articles:update', 'tags:read'],
  'link, from the other side': ['tags:update', 'articles:read'],
  'unlink': ['articles:update', 'tags:read'],
  'unlink, from the other side': ['tags:update', 'articles:read'],
  'replace links': ['articles:update', 'tags:read'],
  'replace links, from the other side': ['tags:update', 'articles:read'],
  'replace all links': ['articles:update', 'tags:read'],
  'permissions on the row': ['articles:read', 'articles:update', 'articles:delete'],
  'permissions on the resource': ['articles:read', 'articles:update', 'articles:delete'],
  'all permissions': ['articles:read', 'articles:update', 'articles:delete'],
  'schema': ['articles:read', 'articles:update', 'articles:delete'],
  // Every signed-in caller can send them.
  'junctions': [],
  'is a junction': [],
  'detect junctions': [],
}

/** Every caller can send them. The response shows what the caller can do. */
export const ABOUT_CALLER: ReadonlySet<string> = new Set([
  'permissions on the row',
  'permissions on the resource',
  'all permissions',
  'schema',
])

export function scopesOf(name: RequestName | PluginRouteName): readonly string[] {
  const like = PLUGIN_REQUESTS.get(name)?.like ?? name as RequestName
  return like === 'every caller' ? [] : SCOPES[like]
}

/** The rows that exist before a request: a token and its secret, an entry of the audit log, a webhook and a delivery of it. */
export type RowIds = Readonly<Record<'token' | 'secret' | 'entry' | 'webhook' | 'delivery', string>>

/** A request of a plugin route that the visibility matrix does not contain. */
export interface FurtherRequest {
  readonly target: (ids: RowIds) => [path: string, options?: RequestOptions]
  readonly scopes: readonly string[]
  /** Further scopes without which the row is not visible: 404. */
  readonly hiddenWithout?: readonly string[]
  readonly status: number
  /** The response to a member of another organization, if the request names a row. */
  readonly otherOrganization?: Cell
  /** A token without scopes cannot use some routes. */
  readonly withoutScopes?: Cell
  /** A token with scopes cannot use some routes. */
  readonly withScopes?: Cell
  /** The code of every refusal, if it is that of a whole batch. */
  readonly refusedAs?: 'BULK_FAILED'
}

/** Every route of a built-in plugin that is not in `PLUGIN_REQUESTS` needs a row here: without it, the test fails. */
export const FURTHER_REQUESTS = {
  'activity-feed: GET /activity': { target: () => ['/activity'], scopes: ['activity:read'], status: 200 },
  'audit-log: GET /audit-log': { target: () => ['/audit-log'], scopes: ['auditLog:read'], status: 200 },
  'audit-log: GET /:resource/:id/history': {
    target: () => ['/articles/1/history'],
    scopes: ['articles:read', 'auditLog:read'],
    status: 200,
    otherOrganization: '404 NOT_FOUND',
  },
  'audit-log: POST /audit-log/:id/revert': {
    target: ({ entry }) => [`/audit-log/${entry}/revert`, { method: 'POST' }],
    scopes: ['auditLog:read', 'articles:update'],
    hiddenWithout: ['articles:read'],
    status: 200,
    otherOrganization: '404 NOT_FOUND',
  },
  'api-tokens: POST /:resource/:id/rotate': {
    target: ({ token }) => [`/apiTokens/${token}/rotate`, { method: 'POST' }],
    scopes: ['apiTokens:update'],
    status: 200,
    withoutScopes: '403 FORBIDDEN',
    otherOrganization: '404 NOT_FOUND',
  },
  'batch: POST /batch': {
    target: () => ['/batch', { method: 'POST', body: { steps: [{ resource: 'articles', operation: 'update', id: 1, data: { title: 'x' } }] } }],
    scopes: ['articles:update'],
    status: 200,
    refusedAs: 'BULK_FAILED',
    otherOrganization: '404 NOT_FOUND',
  },
  'live: GET /_live': { target: () => ['/_live?resources=articles,tags'], scopes: ['articles:read', 'tags:read'], status: 200 },
  // Every caller can send them. The response shows what the caller can use.
  'mcp: POST /mcp': {
    target: () => ['/mcp', { method: 'POST', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }],
    scopes: [],
    status: 200,
  },
  'open-api: GET /_openapi.json': { target: () => ['/_openapi.json'], scopes: [], status: 200 },
  'open-api: GET /_reference': { target: () => ['/_reference'], scopes: [], status: 200 },
  'token-introspection: POST /tokens/introspect': {
    target: ({ secret }) => ['/tokens/introspect', { method: 'POST', body: { token: secret } }],
    scopes: ['apiTokens:read'],
    status: 200,
    withoutScopes: '403 FORBIDDEN',
  },
  'webhooks: POST /:resource/:id/test': {
    target: ({ webhook }) => [`/webhooks/${webhook}/test`, { method: 'POST' }],
    scopes: ['webhooks:update', 'webhookDeliveries:read'],
    status: 200,
    otherOrganization: '404 NOT_FOUND',
  },
  'webhooks: POST /:resource/:id/rotate': {
    target: ({ webhook }) => [`/webhooks/${webhook}/rotate`, { method: 'POST' }],
    scopes: ['webhooks:update'],
    status: 200,
    // No token can use it.
    withScopes: '403 FORBIDDEN',
    withoutScopes: '403 FORBIDDEN',
    otherOrganization: '403 FORBIDDEN',
  },
  'webhooks: POST /:resource/:id/retry': {
    target: ({ delivery }) => [`/webhookDeliveries/${delivery}/retry`, { method: 'POST' }],
    scopes: ['webhookDeliveries:update', 'webhookDeliveries:read'],
    status: 200,
    otherOrganization: '404 NOT_FOUND',
  },
} as const satisfies Record<string, FurtherRequest>

/** The credentials of a request. All tokens but those of another user belong to the member. */
export const CREDENTIALS = [
  'no credential',
  'a session',
  'a token without scopes',
  'a token with the scopes of the request',
  'a token that lacks one scope of the request',
  'a token with an empty list of scopes',
  'a token of an owner who has lost the role',
  'a token with the scopes of an owner who has lost the role',
  'a token beside the session of an administrator',
  'a token of another organization beside the session of a member',
  'an expired token',
  'a revoked token',
  'a trashed token',
  'a token of a banned owner',
  'a token of a missing owner',
  'a token of an owner who has moved to another organization',
  'a token with a wrong checksum',
  'an unknown token',
  'a rotated token after the grace period',
] as const

export type Credential = typeof CREDENTIALS[number]

export const INVALID: readonly Credential[] = CREDENTIALS.slice(CREDENTIALS.indexOf('an expired token'))

const as = (reason: keyof typeof EXPECTED, caller: keyof (typeof EXPECTED)[typeof reason]) => (name: RequestName) =>
  EXPECTED[reason][caller][name]
const member = as('nothing hides the row', 'a member')
const withoutPermission = as('the permission is missing', 'a member')

/** A request that needs no scope is done. A response about the caller does not show what the scopes do not contain. */
const withoutScope = (name: RequestName): Cell => ABOUT_CALLER.has(name) ? 'absent' : SCOPES[name].length === 0 ? 'done' : '403 FORBIDDEN'

/** The response to a request for a visible row with each valid credential. Each invalid one has the same response to every request. */
const CELLS: Readonly<Partial<Record<Credential, (name: RequestName) => Cell>>> = {
  'no credential': as('the permission is missing', 'an anonymous caller'),
  'a session': member,
  'a token without scopes': member,
  'a token with the scopes of the request': member,
  'a token that lacks one scope of the request': withoutScope,
  'a token with an empty list of scopes': withoutScope,
  'a token of an owner who has lost the role': withoutPermission,
  'a token with the scopes of an owner who has lost the role': withoutPermission,
  'a token beside the session of an administrator': member,
  'a token of another organization beside the session of a member': as('nothing hides the row', 'a member of another tenant'),
}

export function credentialCell(credential: Credential, name: RequestName | PluginRouteName): Cell {
  const like = PLUGIN_REQUESTS.get(name)?.like ?? name as RequestName
  if (INVALID.includes(credential)) return '401 INVALID_TOKEN'
  return like === 'every caller' ? 'done' : CELLS[credential]!(like)
}

/** The outcome of a further request: its status, or the status and the code of the refusal. */
export function furtherOutcome(credential: Credential, request: FurtherRequest): string {
  const expected = outcomeOf(credential, request)
  return request.refusedAs && !INVALID.includes(credential) ? expected.replace(/ .*/, ` ${request.refusedAs}`) : expected
}

function outcomeOf(credential: Credential, { status, scopes, withScopes, withoutScopes, otherOrganization }: FurtherRequest): string {
  const refused = new Map<Credential, string | undefined>([
    ['a token with the scopes of the request', withScopes],
    ['a token of another organization beside the session of a member', otherOrganization],
    ['no credential', '401 UNAUTHENTICATED'],
    ['a token that lacks one scope of the request', '403 FORBIDDEN'],
    ['a token with an empty list of scopes', '403 FORBIDDEN'],
    ['a token of an owner who has lost the role', '403 FORBIDDEN'],
    ['a token with the scopes of an owner who has lost the role', '403 FORBIDDEN'],
  ])
  if (INVALID.includes(credential)) return '401 INVALID_TOKEN'
  const isWithoutScopes = credential === 'a token without scopes' || credential === 'a token beside the session of an administrator'
  if (isWithoutScopes && withoutScopes) return withoutScopes
  return scopes.length > 0 ? refused.get(credential) ?? String(status) : String(status)
}
