/** Every kind of request that asks for one row, and what it does when it may: the columns of the visibility matrix. */
import { expect } from 'vitest'
import type { RouteName } from '../../../src/runtime/shared/routes'
import type { Answered, Ask, Rows } from '../app'

/** The row all requests are about. */
export const ID = 1

/** One row that is other than before: `from` is absent for one that is new, `to` for one that is gone. */
export interface Change {
  readonly table: string
  readonly id: string
  readonly from?: object
  readonly to?: object
}

export interface Request {
  readonly route: RouteName | 'plugin'
  /** Below the prefix. */
  readonly ask: (resource: string) => [path: string, options?: Ask]
  /** The row has to be in the trash to be asked for at all. */
  readonly ofTrash?: true
  /** The row is linked to tag 1. */
  readonly linked?: true
  readonly status: number
  /** What it does to the rows when it succeeds: this and nothing else. `was` is the row before, `tenant` the caller's. */
  readonly changes: (was: object, tenant: number) => readonly Change[]
  /** Whether an answer shows the row; absent where an answer never does. */
  readonly shows?: (answer: Answered, resource: string) => boolean
}

const JSON_FILTER = encodeURIComponent(JSON.stringify({ id: ID }))
const LINK = { article_id: ID, tag_id: 1 }
const NEW_LINK = { article_id: ID, tag_id: 2 }

const nothing = () => []
const changed = (columns: object) => (was: object): Change[] => [{ table: 'articles', id: String(ID), from: was, to: { ...was, ...columns } }]
const renamed = changed({ title: 'renamed' })
const trashed = changed({ deleted_at: expect.any(Number), deletion_id: expect.stringMatching(/^[\da-f-]{36}$/) })
const restored = changed({ deleted_at: null, deletion_id: null })
const removed = (was: object): Change[] => [{ table: 'articles', id: String(ID), from: was }]
const added = (_was: object, tenant: number): Change[] => [{
  table: 'articles', id: expect.any(String), to: { id: expect.any(Number), organization_id: tenant, title: 'made', status: 'open', note: null, deleted_at: null, deletion_id: null },
}]
const linked = (): Change[] => [{ table: 'article_tags', id: '1,2', to: NEW_LINK }]
const unlinked = (): Change[] => [{ table: 'article_tags', id: '1,1', from: LINK }]
const relinked = (): Change[] => [...unlinked(), ...linked()]

/** A list holds the row, or neither the row nor its place in the total. */
function lists({ body: { data, meta } }: Answered): boolean {
  expect(meta.total).toBe(data.length)
  return data.some((row: { id: number }) => row.id === ID)
}

const CAPABILITIES = ['canRead', 'canUpdate', 'canDelete']

/** All of what a caller may do with a row or a resource, or nothing of it. */
function allows(capabilities: Record<string, boolean>): boolean {
  const found = CAPABILITIES.map(name => capabilities[name])
  expect([[true, true, true], [false, false, false]]).toContainEqual(found)
  return found[0]!
}

function counts({ body: { data } }: Answered): boolean {
  expect([0, 1]).toContain(data[0].count)
  return data[0].count === 1
}

export const REQUESTS = {
  'list': { route: 'list', ask: it => [`/${it}?limit=100`], status: 200, changes: nothing, shows: lists },
  'list by cursor': { route: 'list', ask: it => [`/${it}?limit=100&cursor=`], status: 200, changes: nothing, shows: ({ body }) => body.data.some((row: { id: number }) => row.id === ID) },
  'list with trash': { route: 'list', ask: it => [`/${it}?limit=100&includeDeleted=true`], status: 200, changes: nothing, shows: lists },
  'aggregate': { route: 'aggregate', ask: it => [`/${it}/aggregate?aggregate=count&filter=${JSON_FILTER}`], status: 200, changes: nothing, shows: counts },
  'get': { route: 'get', ask: it => [`/${it}/${ID}`], status: 200, changes: nothing, shows: ({ body }) => body.id === ID },
  'get with trash': { route: 'get', ask: it => [`/${it}/${ID}?includeDeleted=true`], status: 200, changes: nothing, shows: ({ body }) => body.id === ID },
  'a plugin\'s route': { route: 'plugin', ask: it => [`/${it}/${ID}/title`], status: 200, changes: nothing, shows: ({ body }) => typeof body.title === 'string' },
  'create': { route: 'create', ask: it => [`/${it}`, { method: 'POST', body: { title: 'made' } }], status: 201, changes: added },
  'update': { route: 'update', ask: it => [`/${it}/${ID}`, { method: 'PATCH', body: { title: 'renamed' } }], status: 200, changes: renamed },
  'delete': { route: 'delete', ask: it => [`/${it}/${ID}`, { method: 'DELETE' }], status: 200, changes: trashed },
  'purge': { route: 'delete', ask: it => [`/${it}/${ID}?force=true`, { method: 'DELETE' }], status: 200, changes: removed },
  'restore': { route: 'restore', ask: it => [`/${it}/${ID}/restore`, { method: 'POST' }], ofTrash: true, status: 200, changes: restored },
  'bulk create': { route: 'bulk-create', ask: it => [`/${it}/bulk`, { method: 'POST', body: { items: [{ title: 'made' }] } }], status: 200, changes: added },
  'bulk update': { route: 'bulk-update', ask: it => [`/${it}/bulk`, { method: 'PATCH', body: { items: [{ id: ID, data: { title: 'renamed' } }] } }], status: 200, changes: renamed },
  'bulk delete': { route: 'bulk-delete', ask: it => [`/${it}/bulk`, { method: 'DELETE', body: { ids: [ID] } }], status: 200, changes: trashed },
  'bulk purge': { route: 'bulk-delete', ask: it => [`/${it}/bulk?force=true`, { method: 'DELETE', body: { ids: [ID] } }], status: 200, changes: removed },
  'bulk restore': { route: 'bulk-restore', ask: it => [`/${it}/bulk/restore`, { method: 'POST', body: { ids: [ID] } }], ofTrash: true, status: 200, changes: restored },
  'related': { route: 'related', ask: it => [`/${it}/${ID}/relations/tags`], linked: true, status: 200, changes: nothing },
  'related, from the other side': { route: 'related', ask: () => ['/tags/1/relations/articles'], linked: true, status: 200, changes: nothing, shows: lists },
  'link': { route: 'relation-add', ask: it => [`/${it}/${ID}/relations/tags`, { method: 'POST', body: { ids: [2] } }], status: 200, changes: linked },
  'link, from the other side': { route: 'relation-add', ask: () => ['/tags/2/relations/articles', { method: 'POST', body: { ids: [ID] } }], status: 200, changes: linked },
  'unlink': { route: 'relation-remove', ask: it => [`/${it}/${ID}/relations/tags`, { method: 'DELETE', body: { ids: [1] } }], linked: true, status: 200, changes: unlinked },
  'unlink, from the other side': { route: 'relation-remove', ask: () => ['/tags/1/relations/articles', { method: 'DELETE', body: { ids: [ID] } }], linked: true, status: 200, changes: unlinked },
  'replace links': { route: 'relation-replace', ask: it => [`/${it}/${ID}/relations/tags`, { method: 'PUT', body: { ids: [2] } }], linked: true, status: 200, changes: relinked },
  'replace links, from the other side': { route: 'relation-replace', ask: () => ['/tags/1/relations/articles', { method: 'PUT', body: { ids: [] } }], linked: true, status: 200, changes: unlinked },
  'replace all links': { route: 'relations-replace', ask: it => [`/${it}/${ID}/relations`, { method: 'PUT', body: { relations: { tags: { ids: [2] } } } }], linked: true, status: 200, changes: relinked },
  'permissions on the row': { route: 'resource-permissions', ask: it => [`/${it}/permissions?ids=${ID}`], status: 200, changes: nothing, shows: ({ body }) => allows(body.records[ID]) },
  'permissions on the resource': { route: 'resource-permissions', ask: it => [`/${it}/permissions`], status: 200, changes: nothing, shows: ({ body }) => allows(body) },
  'all permissions': { route: 'permissions', ask: () => ['/permissions'], status: 200, changes: nothing, shows: ({ body }, it) => allows(body.permissions[it]) },
  'junctions': { route: 'm2m-junctions', ask: () => ['/_m2m/junctions'], status: 200, changes: nothing },
  'is a junction': { route: 'm2m-is-junction', ask: () => ['/_m2m/is-junction/articleTags'], status: 200, changes: nothing },
  'detect junctions': { route: 'm2m-detect', ask: it => [`/_m2m/detect/${it}`], status: 200, changes: nothing },
} as const satisfies Record<string, Request>

export type RequestName = keyof typeof REQUESTS

/** The same request by a caller who names a tenant in every place a client can reach. */
export function namingTenant([path, options = {}]: [path: string, options?: Ask], tenant: number): [path: string, options: Ask] {
  const named = String(tenant)
  const query = new URLSearchParams({ organizationId: named, tenantId: named, organization_id: named })
  const { body } = options as { body?: object }
  return [`${path}${path.includes('?') ? '&' : '?'}${query}`, {
    ...options,
    headers: { 'x-tenant-id': named, 'x-organization-id': named },
    ...body && 'title' in body && { body: { ...body, organizationId: tenant } },
  }]
}

/** Every row that is other than before. */
export function changesBetween(before: Rows, after: Rows): Change[] {
  return Object.keys({ ...before, ...after }).flatMap(table => Object.keys({ ...before[table], ...after[table] }).flatMap((id) => {
    const [from, to] = [before[table]?.[id], after[table]?.[id]]
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ table, id, ...from && { from }, ...to && { to } }]
  }))
}
