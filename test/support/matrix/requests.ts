/** Every kind of request that concerns one row, and what it changes when it succeeds: the columns of the visibility matrix. */
import { expect } from 'vitest'
import type { Method, RouteName } from '../../../src/runtime/shared/routes'

/** The row that every request concerns. */
export const ID = 1

export interface RequestOptions {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly caller?: object
}

export interface MatrixResponse {
  readonly status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever a response holds
  readonly body: any
}

/** A route of a plugin: `titles: GET /:resource/:id/title`. */
export type PluginRouteName = `${string}: ${Method} /${string}`

/** Every row, by table and key. */
export type Rows = Record<string, Record<string, Record<string, unknown>>>

/** One changed row: a created row has no `from`, a removed row no `to`. */
export interface Change {
  readonly table: string
  readonly id: string
  readonly from?: object
  readonly to?: object
}

export interface Request {
  readonly route: RouteName | PluginRouteName
  /** The path follows the prefix. */
  readonly target: (resource: string) => [path: string, options?: RequestOptions]
  /** The row is in the trash before the request. */
  readonly ofTrash?: true
  /** The row is linked to tag 1. */
  readonly linked?: true
  readonly status: number
  /** All changes of the request when it succeeds. `was` is the row before, `tenant` the caller's. */
  readonly changes: (was: object, tenant: number) => readonly Change[]
  /** Whether a response shows the row; absent where a response never does. */
  readonly shows?: (response: MatrixResponse, resource: string) => boolean
}

const JSON_FILTER = encodeURIComponent(JSON.stringify({ id: ID }))
const BY_TAG = encodeURIComponent(JSON.stringify({ tags: { id: 1 } }))
/** The tag of no record: a visible row answers 412, an invisible one 404 like a missing one. */
const STALE = '"AAAAAAAAAAAAAAAA"'
const WITH_STALE_TAG = { headers: { 'if-match': STALE } }
const LINK = { article_id: ID, tag_id: 1 }
const NEW_LINK = { article_id: ID, tag_id: 2 }

export const nothing = () => []
const changed
  = (columns: object) =>
    (was: object): Change[] => [{ table: 'articles', id: String(ID), from: was, to: { ...was, ...columns } }]
export const renamed = changed({ title: 'renamed' })
export const uploaded = changed({ cover: expect.stringContaining('"name":"cover.csv","type":"text/csv"') })
export const withoutFile = changed({ cover: null })
const trashed = changed({ deleted_at: expect.any(Number), deletion_id: expect.stringMatching(/^[\da-f-]{36}$/) })
const restored = changed({ deleted_at: null, deletion_id: null })
const removed = (was: object): Change[] => [{ table: 'articles', id: String(ID), from: was }]
export const added = (_was: object, tenant: number): Change[] => [
  {
    table: 'articles',
    id: expect.any(String),
    to: {
      id: expect.any(Number),
      organization_id: tenant,
      title: 'made',
      status: 'open',
      note: null,
      cover: null,
      deleted_at: null,
      deletion_id: null,
    },
  },
]
const linked = (): Change[] => [{ table: 'article_tags', id: '1,2', to: NEW_LINK }]
const unlinked = (): Change[] => [{ table: 'article_tags', id: '1,1', from: LINK }]
const relinked = (): Change[] => [...unlinked(), ...linked()]

/** A list holds the row, or neither the row nor its part of the total. */
function lists({ body: { data, meta } }: MatrixResponse): boolean {
  expect(meta.total).toBe(data.length)
  return data.some((row: { id: number }) => row.id === ID)
}

const CAPABILITIES = ['canRead', 'canUpdate', 'canDelete']
const REFUSED = Object.fromEntries(CAPABILITIES.map(name => [name, false]))

/** Every capability of a caller on a row or a resource, or none of them. */
function allows(capabilities: Record<string, boolean>): boolean {
  const found = CAPABILITIES.map(name => capabilities[name])
  expect([[true, true, true], [false, false, false]]).toContainEqual(found)
  return found[0]!
}

/** The row has the number of its tags. */
function countsTags(row: { readonly id: number, readonly _count?: object } | undefined): boolean {
  if (row?.id !== ID) return false
  expect(row._count).toEqual({ tags: 1 })
  return true
}

function counts({ body: { data } }: MatrixResponse): boolean {
  expect([0, 1]).toContain(data[0].count)
  return data[0].count === 1
}

export const REQUESTS = {
  'list': { route: 'list', target: it => [`/${it}?limit=100`], status: 200, changes: nothing, shows: lists },
  'list by cursor': {
    route: 'list',
    target: it => [`/${it}?limit=100&cursor=`],
    status: 200,
    changes: nothing,
    shows: ({ body }) => body.data.some((row: { id: number }) => row.id === ID),
  },
  'list with trash': { route: 'list', target: it => [`/${it}?limit=100&includeDeleted=true`], status: 200, changes: nothing, shows: lists },
  'aggregate': {
    route: 'aggregate',
    target: it => [`/${it}/aggregate?aggregate=count&filter=${JSON_FILTER}`],
    status: 200,
    changes: nothing,
    shows: counts,
  },
  'list by a related record': {
    route: 'list',
    target: it => [`/${it}?limit=100&filter=${BY_TAG}`],
    linked: true,
    status: 200,
    changes: nothing,
    shows: lists,
  },
  'list with counts': {
    route: 'list',
    target: it => [`/${it}?limit=100&counts=tags`],
    linked: true,
    status: 200,
    changes: nothing,
    shows: response => lists(response) && countsTags(response.body.data.find((row: { id: number }) => row.id === ID)),
  },
  'list sorted by a count': {
    route: 'list',
    target: it => [`/${it}?limit=100&sort=-tags.$count`],
    linked: true,
    status: 200,
    changes: nothing,
    shows: lists,
  },
  'get with counts': {
    route: 'get',
    target: it => [`/${it}/${ID}?counts=tags`],
    linked: true,
    status: 200,
    changes: nothing,
    shows: ({ body }) => countsTags(body),
  },
  'get': { route: 'get', target: it => [`/${it}/${ID}`], status: 200, changes: nothing, shows: ({ body }) => body.id === ID },
  'get with trash': {
    route: 'get',
    target: it => [`/${it}/${ID}?includeDeleted=true`],
    status: 200,
    changes: nothing,
    shows: ({ body }) => body.id === ID,
  },
  'get if none matches': {
    route: 'get',
    target: it => [`/${it}/${ID}`, { headers: { 'if-none-match': '*' } }],
    status: 304,
    changes: nothing,
  },
  'create': { route: 'create', target: it => [`/${it}`, { method: 'POST', body: { title: 'made' } }], status: 201, changes: added },
  'update': {
    route: 'update',
    target: it => [`/${it}/${ID}`, { method: 'PATCH', body: { title: 'renamed' } }],
    status: 200,
    changes: renamed,
  },
  'delete': { route: 'delete', target: it => [`/${it}/${ID}`, { method: 'DELETE' }], status: 200, changes: trashed },
  'purge': { route: 'delete', target: it => [`/${it}/${ID}?force=true`, { method: 'DELETE' }], status: 200, changes: removed },
  'restore': {
    route: 'restore',
    target: it => [`/${it}/${ID}/restore`, { method: 'POST' }],
    ofTrash: true,
    status: 200,
    changes: restored,
  },
  'update with a stale tag': {
    route: 'update',
    target: it => [`/${it}/${ID}`, { method: 'PATCH', body: { title: 'renamed' }, ...WITH_STALE_TAG }],
    status: 412,
    changes: nothing,
  },
  'purge with a stale tag': {
    route: 'delete',
    target: it => [`/${it}/${ID}?force=true`, { method: 'DELETE', ...WITH_STALE_TAG }],
    status: 412,
    changes: nothing,
  },
  'restore with a stale tag': {
    route: 'restore',
    target: it => [`/${it}/${ID}/restore`, { method: 'POST', ...WITH_STALE_TAG }],
    ofTrash: true,
    status: 412,
    changes: nothing,
  },
  'bulk create': {
    route: 'bulk-create',
    target: it => [`/${it}/bulk`, { method: 'POST', body: { items: [{ title: 'made' }] } }],
    status: 200,
    changes: added,
  },
  'bulk update': {
    route: 'bulk-update',
    target: it => [`/${it}/bulk`, { method: 'PATCH', body: { items: [{ id: ID, data: { title: 'renamed' } }] } }],
    status: 200,
    changes: renamed,
  },
  'bulk update with a stale tag': {
    route: 'bulk-update',
    target: it => [`/${it}/bulk`, { method: 'PATCH', body: { items: [{ id: ID, data: { title: 'renamed' }, ifMatch: STALE }] } }],
    status: 412,
    changes: nothing,
  },
  'bulk delete': {
    route: 'bulk-delete',
    target: it => [`/${it}/bulk`, { method: 'DELETE', body: { ids: [ID] } }],
    status: 200,
    changes: trashed,
  },
  'bulk purge': {
    route: 'bulk-delete',
    target: it => [`/${it}/bulk?force=true`, { method: 'DELETE', body: { ids: [ID] } }],
    status: 200,
    changes: removed,
  },
  'bulk restore': {
    route: 'bulk-restore',
    target: it => [`/${it}/bulk/restore`, { method: 'POST', body: { ids: [ID] } }],
    ofTrash: true,
    status: 200,
    changes: restored,
  },
  'related': { route: 'related', target: it => [`/${it}/${ID}/relations/tags`], linked: true, status: 200, changes: nothing },
  'related, from the other side': {
    route: 'related',
    target: () => ['/tags/1/relations/articles'],
    linked: true,
    status: 200,
    changes: nothing,
    shows: lists,
  },
  'link': {
    route: 'relation-add',
    target: it => [`/${it}/${ID}/relations/tags`, { method: 'POST', body: { ids: [2] } }],
    status: 200,
    changes: linked,
  },
  'link, from the other side': {
    route: 'relation-add',
    target: () => ['/tags/2/relations/articles', { method: 'POST', body: { ids: [ID] } }],
    status: 200,
    changes: linked,
  },
  'unlink': {
    route: 'relation-remove',
    target: it => [`/${it}/${ID}/relations/tags`, { method: 'DELETE', body: { ids: [1] } }],
    linked: true,
    status: 200,
    changes: unlinked,
  },
  'unlink, from the other side': {
    route: 'relation-remove',
    target: () => ['/tags/1/relations/articles', { method: 'DELETE', body: { ids: [ID] } }],
    linked: true,
    status: 200,
    changes: unlinked,
  },
  'replace links': {
    route: 'relation-replace',
    target: it => [`/${it}/${ID}/relations/tags`, { method: 'PUT', body: { ids: [2] } }],
    linked: true,
    status: 200,
    changes: relinked,
  },
  'replace links, from the other side': {
    route: 'relation-replace',
    target: () => ['/tags/1/relations/articles', { method: 'PUT', body: { ids: [] } }],
    linked: true,
    status: 200,
    changes: unlinked,
  },
  'replace all links': {
    route: 'relations-replace',
    target: it => [`/${it}/${ID}/relations`, { method: 'PUT', body: { relations: { tags: { ids: [2] } } } }],
    linked: true,
    status: 200,
    changes: relinked,
  },
  'permissions on the row': {
    route: 'resource-permissions',
    target: it => [`/${it}/permissions?ids=${ID}`],
    status: 200,
    changes: nothing,
    shows: ({ body }) => allows(body.records[ID]),
  },
  'permissions on the resource': {
    route: 'resource-permissions',
    target: it => [`/${it}/permissions`],
    status: 200,
    changes: nothing,
    shows: ({ body }) => allows(body),
  },
  'all permissions': {
    route: 'permissions',
    target: () => ['/permissions'],
    status: 200,
    changes: nothing,
    shows: ({ body }, it) => allows(body.permissions[it]),
  },
  'schema': {
    route: 'schema',
    target: () => ['/_schema'],
    status: 200,
    changes: nothing,
    shows: ({ body }, it) => allows(body.resources[it]?.capabilities ?? REFUSED),
  },
  'junctions': { route: 'm2m-junctions', target: () => ['/_m2m/junctions'], status: 200, changes: nothing },
  'is a junction': { route: 'm2m-is-junction', target: () => ['/_m2m/is-junction/articleTags'], status: 200, changes: nothing },
  'detect junctions': { route: 'm2m-detect', target: it => [`/_m2m/detect/${it}`], status: 200, changes: nothing },
} as const satisfies Record<string, Request>

export type RequestName = keyof typeof REQUESTS

/** The same request by a caller who names a tenant in every part of the request. */
export function namingTenant(
  [path, options = {}]: [path: string, options?: RequestOptions],
  tenant: number,
): [path: string, options: RequestOptions] {
  const named = String(tenant)
  const query = new URLSearchParams({ organizationId: named, tenantId: named, organization_id: named })
  const { body } = options as { body?: object }
  return [
    `${path}${path.includes('?') ? '&' : '?'}${query}`,
    {
      ...options,
      headers: { ...options.headers, 'x-tenant-id': named, 'x-organization-id': named },
      ...(typeof body === 'object' && 'title' in body && { body: { ...body, organizationId: tenant } }),
    },
  ]
}

/** Every row that differs. */
export function changesBetween(before: Rows, after: Rows): Change[] {
  return Object.keys({ ...before, ...after }).flatMap(table => Object.keys({ ...before[table], ...after[table] }).flatMap((id) => {
    const [from, to] = [before[table]?.[id], after[table]?.[id]]
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ table, id, ...from && { from }, ...to && { to } }]
  }))
}
