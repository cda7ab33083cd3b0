/** The tenant of a request: its sources, the rows that get it, and that a client cannot choose it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { Caller } from '../../support/server'
import { openNotebook, type Notebook } from '../../support/notebook'

let notebook: Notebook

beforeAll(async () => {
  notebook = await openNotebook({ config: { multiTenancy: DEFAULT_MULTI_TENANCY } })
})

afterAll(() => notebook.client.close())

beforeEach(() => notebook.reset())

const titles = async (caller: Caller, server = notebook) => {
  const { status, body } = await server.request('GET', '/api/tasks', { caller })
  return status === 200 ? body.data.map((row: { title: string }) => row.title) : `${status} ${body.data?.code}`
}

const OURS = ['ours', 'ours too']

/** By hand, in the contract's order: the context of the event, then the user's own field. */
const SOURCES: [title: string, caller: Caller, seen: string[] | string][] = [
  ['the user\'s field', { user: { id: 1, organizationId: 1 } }, OURS],
  ['the event\'s context, of an anonymous caller as well', { tenantId: 1 }, OURS],
  ['the event\'s context before the user\'s field', { tenantId: 2, user: { id: 1, organizationId: 1 } }, ['theirs']],
  ['the user\'s field after an empty one in the context', { tenantId: '', user: { id: 1, organizationId: 1 } }, OURS],
  ['text that is a number, for a column of numbers', { tenantId: '1' }, OURS],
  ['nothing: refused', { user: { id: 1 } }, '403 TENANT_REQUIRED'],
  ['nothing, anonymously: refused', {}, '401 TENANT_REQUIRED'],
  ['an empty string: none', { user: { id: 1, organizationId: '' } }, '403 TENANT_REQUIRED'],
  ['null: none', { user: { id: 1, organizationId: null } }, '403 TENANT_REQUIRED'],
  ['text that fits no number: none', { user: { id: 1, organizationId: 'acme' } }, '403 TENANT_REQUIRED'],
  ['text that a number is not written as: none', { user: { id: 1, organizationId: '1 or 1=1' } }, '403 TENANT_REQUIRED'],
  ['NaN: none', { user: { id: 1, organizationId: Number.NaN } }, '403 TENANT_REQUIRED'],
  ['a list: none', { user: { id: 1, organizationId: [1, 2] } }, '403 TENANT_REQUIRED'],
  ['true: none', { user: { id: 1, organizationId: true } }, '403 TENANT_REQUIRED'],
  ['a tenant nobody has: no rows', { user: { id: 1, organizationId: 9 } }, []],
]

describe('the tenant', () => {
  it.each(SOURCES)('is %s', async (_title, caller, seen) => {
    expect(await titles(caller)).toEqual(seen)
  })

  it.each([
    ['x-tenant-id', { headers: { 'x-tenant-id': '1' } }, ''],
    ['X-Organization-Id', { headers: { 'X-Organization-Id': '1' } }, ''],
    ['the query', {}, '?organizationId=1&tenantId=1&x-tenant-id=1'],
  ])('is never read from the request: %s', async (_title, options, query) => {
    expect((await notebook.request('GET', `/api/tasks${query}`, options)).body.data.code).toBe('TENANT_REQUIRED')
    const theirs = await notebook.request('GET', `/api/tasks${query}`, { ...options, caller: { tenantId: 2 } })
    expect(theirs.body.data.map((row: { title: string }) => row.title)).toEqual(['theirs'])
  })

  it('is read from the configured field of the user', async () => {
    const server = await openNotebook({ config: { multiTenancy: { ...DEFAULT_MULTI_TENANCY, userTenantField: 'team' } } })
    expect(await titles({ user: { id: 1, team: 2, organizationId: 1 } }, server)).toEqual(['theirs'])
    server.client.close()
  })

  it('applies only to resources with the tenant column', async () => {
    expect((await notebook.request('GET', '/api/labels')).status).toBe(200)
  })

  it('does not apply to an excluded resource', async () => {
    const server = await openNotebook({ config: { multiTenancy: { ...DEFAULT_MULTI_TENANCY, excludedResources: ['tasks'] } } })
    expect(await titles({}, server)).toEqual(['ours', 'theirs', 'ours too'])
    server.client.close()
  })
})

describe('the tenant column', () => {
  const caller = { user: { id: 1, organizationId: 1 } }
  const tenantOf = (id: number) => notebook.client.prepare('select col_organization_id from tbl_tasks where col_id = ?').pluck().get(id)

  it.each([[{}], [{ organizationId: 2 }], [{ organizationId: null }], [{ organizationId: 'x' }]])(
    'of a new row is the caller\'s tenant, with any body: %j',
    async (body) => {
      const made = await notebook.request('POST', '/api/tasks', { body: { title: 'new', ...body }, caller })
      expect([made.status, made.body.organizationId, tenantOf(made.body.id)]).toEqual([201, 1, 1])
    },
  )

  it.each([[{ organizationId: 2 }], [{ title: 'a', organizationId: 2 }], [{ organizationId: null }]])(
    'is never updated: %j',
    async (body) => {
      expect((await notebook.request('PATCH', '/api/tasks/1', { body, caller })).status).toBe(200)
      expect(tenantOf(1)).toBe(1)
    },
  )

  it('is never written by what an app\'s own schema returns', async () => {
    const moving = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => ({ value: { title: 'moved', organizationId: 2, id: 77, deletedAt: new Date() } }),
      },
    } as const
    const server = await openNotebook({
      config: { multiTenancy: DEFAULT_MULTI_TENANCY },
      registrations: { tasks: { validation: { create: moving, update: moving } } },
    })
    const row = () =>
      server.client.prepare('select col_id, col_organization_id, col_deleted_at from tbl_tasks where col_title = \'moved\'').raw().all()
    expect((await server.request('PATCH', '/api/tasks/1', { body: { title: 'x' }, caller })).body).toMatchObject({
      id: 1,
      title: 'moved',
      organizationId: 1,
      deletedAt: null,
    })
    expect(row()).toEqual([[1, 1, null]])
    expect((await server.request('POST', '/api/tasks', { body: { title: 'x' }, caller })).body).toMatchObject({
      organizationId: 1,
      deletedAt: null,
    })
    server.client.close()
  })
})
