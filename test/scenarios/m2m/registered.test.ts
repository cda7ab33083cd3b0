/** A registered junction: its links are records, and all of its rules apply to them. */
import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it } from 'vitest'
import { ADA, OPEN, openServer, outcome, ANONYMOUS, ZOE, type LinksServer, type LinksServerOptions } from './links-server'

let server: LinksServer
const open = async (options?: LinksServerOptions) => server = await openServer(options)
afterEach(() => server.client.close())

const path = 'pupils/1/relations/clubs'
const links = (columns = 'pupil_id, club_id') => server.rows(columns, 'memberships where pupil_id = 1')

describe('linking over a registered junction', () => {
  it.each([
    ['POST', 'create', [2]],
    ['DELETE', 'delete', [1]],
    ['PUT', 'create', [2]],
    ['PUT', 'delete', [2]],
  ] as const)(
    'requires the permission of the junction for %s: %s, or 401 anonymously and 403 signed in',
    async (method, operation, ids) => {
      await open({ auth: { memberships: { permissions: { ...OPEN, [operation]: 'registrar' } } } })
      const before = server.dump()
      expect(outcome(await server.link(method, path, { ids }, ANONYMOUS))).toBe('401 UNAUTHENTICATED')
      expect(outcome(await server.link(method, path, { ids }))).toBe('403 FORBIDDEN')
      expect(server.dump()).toBe(before)
      expect(outcome(await server.link(method, path, { ids }, { ...ADA, permissions: ['registrar'] }))).toBe('200')
      expect(server.dump()).not.toBe(before)
    },
  )

  it.each([
    ['POST', 'delete', [2]],
    ['DELETE', 'create', [1]],
  ] as const)('does not require, for %s, the permission of the junction for %s', async (method, operation, ids) => {
    await open({ auth: { memberships: { permissions: { ...OPEN, [operation]: false } } } })
    expect(outcome(await server.link(method, path, { ids }))).toBe('200')
  })

  it('sets the tenant and the creator from the caller, whatever the metadata contains', async () => {
    await open()
    await server.link('POST', path, { ids: [2], metadata: { organizationId: 2, createdBy: 99, role: 'cox' } })
    expect(links('club_id, organization_id, role, created_by')).toContainEqual([2, 1, 'cox', 1])
  })

  it('neither changes nor counts another tenant\'s link between the same records', async () => {
    await open()
    server.client.exec('insert into memberships (pupil_id, club_id, organization_id) values (1, 3, 2)')
    expect((await server.link('PUT', path, { ids: [2] })).body).toEqual({ added: 1, removed: 1, total: 1 })
    expect((await server.link('DELETE', path, { ids: [3] })).body).toEqual({ added: 0, removed: 0, total: 1 })
    expect(server.rows('club_id, organization_id', 'memberships where pupil_id = 1 and deleted_at is null')).toEqual([[2, 1], [3, 2]])
  })

  it.each([
    ['listFilter', { listFilter: (table: unknown) => sql`${(table as { role: unknown }).role} <> 'captain'` }],
    ['objectLevel', { objectLevel: (row: Record<string, unknown>) => row.role !== 'captain' }],
  ])('neither removes nor counts links that the %s of the junction hides', async (_rule, rule) => {
    await open({ auth: { memberships: { permissions: OPEN, ...rule } } })
    expect((await server.link('PUT', path, { ids: [2] })).body).toEqual({ added: 1, removed: 0, total: 1 })
    expect((await server.link('DELETE', path, { ids: [1, 2] })).body).toEqual({ added: 0, removed: 1, total: 0 })
    expect(server.rows('club_id, role', 'memberships where pupil_id = 1 and deleted_at is null')).toEqual([[1, 'captain']])
  })

  it('enforces the field rules of the junction: 403 with the names, or 401 anonymously, and nothing is written', async () => {
    await open({ auth: { memberships: { permissions: OPEN, fields: { fee: { write: 'bursar' } } } } })
    const before = server.dump()
    const body = { ids: [2], metadata: { fee: 1, role: 'cox' } }
    const refused = await server.link('POST', path, body)
    expect([refused.status, refused.body.data]).toEqual([403, { code: 'FIELD_FORBIDDEN', fields: ['fee'] }])
    expect(outcome(await server.link('POST', path, body, ANONYMOUS))).toBe('401 FIELD_FORBIDDEN')
    expect(server.dump()).toBe(before)
    expect(outcome(await server.link('POST', path, body, { ...ADA, permissions: ['bursar'] }))).toBe('200')
    expect(links('club_id, fee')).toContainEqual([2, 1])
  })

  it('does not disclose field rules before the ids are found', async () => {
    await open({ auth: { memberships: { permissions: OPEN, fields: { fee: { write: 'bursar' } } } } })
    expect(outcome(await server.link('POST', path, { ids: [99], metadata: { fee: 1 } }))).toBe('404 NOT_FOUND')
    expect(outcome(await server.link('POST', 'pupils/11/relations/clubs', { ids: [2], metadata: { fee: 1 } }))).toBe('404 NOT_FOUND')
  })

  it('does not disclose columns to a caller who cannot create links', async () => {
    await open({ auth: { memberships: { permissions: { read: true, create: 'registrar', delete: true } } } })
    for (const metadata of [{}, { fee: 'x' }, { nothing: 1 }, { clubId: 1 }]) {
      expect(outcome(await server.link('POST', path, { ids: [2], metadata }))).toBe('403 FORBIDDEN')
    }
  })

  it('soft-deletes links, restores them, and sets the metadata of the restoring request', async () => {
    await open()
    expect((await server.link('DELETE', path, { ids: [1] })).body).toEqual({ added: 0, removed: 1, total: 0 })
    expect(links('club_id, deleted_at is null, deletion_id is null, role')).toEqual([[1, 0, 0, 'captain']])
    expect((await server.get(path)).body.data).toEqual([])
    expect((await server.link('DELETE', path, { ids: [1] })).body.removed).toBe(0)
    expect((await server.link('POST', path, { ids: [1], metadata: { role: 'cox' } })).body).toEqual({ added: 1, removed: 0, total: 1 })
    expect(links('club_id, deleted_at is null, deletion_id is null, role')).toEqual([[1, 1, 1, 'cox']])
  })

  it('requires a tenant when the junction has one: 403, or 401 anonymously', async () => {
    await open({
      config: {
        multiTenancy: {
          enabled: true,
          tenantIdField: 'organizationId',
          userTenantField: 'organizationId',
          scopedResources: ['memberships'],
          excludedResources: [],
        },
      },
    })
    for (const method of ['PUT', 'POST', 'DELETE'] as const) {
      expect(outcome(await server.link(method, path, { ids: [2] }, { user: { id: 1 } }))).toBe('403 TENANT_REQUIRED')
      expect(outcome(await server.link(method, path, { ids: [2] }, {}))).toBe('401 TENANT_REQUIRED')
    }
    expect(outcome(await server.link('POST', path, { ids: [2] }))).toBe('200')
  })

  it('writes rows that the routes of the junction return', async () => {
    await open()
    await server.link('POST', 'pupils/11/relations/clubs', { ids: [2], metadata: { role: 'cox' } }, ZOE)
    expect((await server.get('memberships/11,2?fields=role,organizationId', ZOE)).body).toEqual({ role: 'cox', organizationId: 2 })
    expect((await server.get('memberships/11,2')).status).toBe(404)
  })
})
