/** The permission routes agree with the other routes, and their number of statements does not depend on the number of ids. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import type { Caller } from '../../support/server'
import { ANN, CHIEF, HOMELESS, NOBODY, openDesk, VISITOR, ZOE, type Desk } from '../../support/desk'

let desk: Desk

afterEach(() => {
  desk.client.close()
  vi.restoreAllMocks()
})

const CALLERS: Record<string, Caller> = {
  'anonymous, without a tenant': NOBODY,
  'anonymous, with a tenant': VISITOR,
  'signed in': ANN,
  'of another tenant': ZOE,
  'without a tenant': HOMELESS,
  'holding a permission': { user: { id: 5, organizationId: 1, permissions: ['desk'] } },
  'super-admin': CHIEF,
  'super-admin without a tenant': { user: { id: 6, permissions: ['*'] } },
}

const signedIn: NonNullable<ResourceAuth['permissions']>['read'] = ctx => ctx.user !== null

const throws = () => {
  throw new Error('down')
}

const CONFIGURATIONS: Record<string, ResourceAuth | null> = {
  'no authorization': null,
  'nothing declared': {},
  'everything public': { permissions: { read: true, create: true, update: true, delete: true } },
  'read only': { permissions: { read: true } },
  'everything closed': { permissions: { read: false, create: false, update: false, delete: false } },
  'write without read': { permissions: { create: 'desk', update: signedIn, delete: ['desk'] } },
  'no fallbacks used': {
    permissions: {
      read: true,
      create: true,
      update: true,
      delete: true,
      aggregate: false,
      restore: 'desk',
      purge: false,
      viewDeleted: signedIn,
    },
  },
  'trash for the signed in': { permissions: { read: signedIn, restore: signedIn, purge: signedIn } },
  'rules that throw': { permissions: { read: true, update: throws, delete: async () => throws() } },
  'operations told apart': {
    permissions: {
      read: true,
      create: ctx => ctx.operation === 'create',
      update: ctx => ctx.operation === 'update',
      delete: ctx => ctx.operation === 'delete',
    },
  },
  'objects nobody evaluates': { permissions: { read: { plan: 'pro' }, update: { plan: 'pro' } } },
}

interface Probe { readonly capability: string, readonly method: string, readonly path: string, readonly body?: unknown }

/** One request per capability, each of which succeeds when it is permitted; on rows of the first tenant and of the second. */
const probes = (row: number, gone: number): Probe[] => [
  { capability: 'canRead', method: 'GET', path: '/api/articles' },
  { capability: 'canAggregate', method: 'GET', path: '/api/articles/aggregate?aggregate=count' },
  { capability: 'canCreate', method: 'POST', path: '/api/articles', body: { title: 'new' } },
  { capability: 'canUpdate', method: 'PATCH', path: `/api/articles/${row}`, body: { title: 'other' } },
  { capability: 'canRestore', method: 'POST', path: `/api/articles/${gone}/restore` },
  { capability: 'canPurge', method: 'DELETE', path: `/api/articles/${gone}?force=true` },
  { capability: 'canDelete', method: 'DELETE', path: `/api/articles/${row}` },
]

const refusing = new Set([401, 403])

describe.each(Object.entries(CONFIGURATIONS))('with %s', (_title, auth) => {
  it.each(Object.entries(CALLERS))('each capability agrees with the response of its route to a caller who is %s', async (_name, caller) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    desk = await openDesk({ auth: { articles: auth } })
    desk.client.exec(`insert into articles (id, organization_id, title, deleted_at) values (14, 2, 'gone', 1000)`)
    const told = (await desk.request('GET', '/api/articles/permissions', { caller })).body
    const all = (await desk.request('GET', '/api/permissions', { caller })).body.permissions
    expect(all.articles).toEqual(told)
    const [row, gone] = caller === ZOE ? [11, 14] : [1, 4]
    const answered: Record<string, boolean> = {}
    for (const { capability, method, path, body } of probes(row, gone)) {
      const { status, text } = await desk.request(method, path, { caller, body })
      expect([200, 201, 401, 403], `${capability}: ${text}`).toContain(status)
      answered[capability] = !refusing.has(status)
      if (capability === 'canRestore' && status === 200) desk.client.exec(`update articles set deleted_at = 1000 where id = ${gone}`)
    }
    const { canViewDeleted, fields, ...asked } = told
    expect(asked).toEqual(answered)
    expect(fields).toEqual({})
    // A list with trash asks for `read` as well.
    const withTrash = await desk.request('GET', '/api/articles?includeDeleted=true', { caller })
    expect(!refusing.has(withTrash.status)).toBe(canViewDeleted && told.canRead)
  })
})

describe('capabilities', () => {
  it('are returned to every caller, and are all false without a tenant', async () => {
    desk = await openDesk({
      auth: {
        articles: { permissions: { read: true, create: true, update: true, delete: true }, fields: { fee: { read: true, write: true } } },
      },
    })
    for (const caller of [NOBODY, HOMELESS, { user: { id: 1, organizationId: '' } }, { user: { id: 1, organizationId: 'acme' } }]) {
      const { status, body } = await desk.request('GET', '/api/articles/permissions?ids=1', { caller })
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toContain('true')
      expect(body.fields).toEqual({ fee: { canRead: false, canWrite: false } })
      expect(body.records).toEqual({ 1: { canRead: false, canUpdate: false, canDelete: false } })
    }
    expect((await desk.request('GET', '/api/permissions')).body.permissions.tags.canRead).toBe(true)
  })

  it('of the trash are false for a table without soft delete, whatever is declared', async () => {
    desk = await openDesk({
      auth: { tags: { permissions: { read: true, update: true, delete: true, restore: true, purge: true, viewDeleted: true } } },
    })
    expect((await desk.request('GET', '/api/tags/permissions', { caller: CHIEF })).body).toMatchObject({
      canDelete: true,
      canRestore: false,
      canPurge: false,
      canViewDeleted: false,
    })
  })

  it('name the fields with a rule, and never hidden ones', async () => {
    desk = await openDesk({
      auth: {
        articles: {
          permissions: { read: true, update: true },
          fields: {
            fee: { read: 'desk', write: false },
            title: { write: 'desk' },
            secret: { read: true, write: true },
            status: {},
            organizationId: { write: true },
          },
        },
      },
    })
    const fieldsOf = async (caller: Caller) => (await desk.request('GET', '/api/articles/permissions', { caller })).body.fields
    const tenant = { canRead: true, canWrite: false }
    expect(await fieldsOf(ANN)).toEqual({
      fee: { canRead: false, canWrite: false },
      title: { canRead: true, canWrite: false },
      organizationId: tenant,
    })
    expect(await fieldsOf(CALLERS['holding a permission']!)).toEqual({
      fee: { canRead: true, canWrite: false },
      title: { canRead: true, canWrite: true },
      organizationId: tenant,
    })
    expect(await fieldsOf(CHIEF)).toEqual({
      fee: { canRead: true, canWrite: false },
      title: { canRead: true, canWrite: true },
      organizationId: tenant,
    })
  })

  it('of fields agree with the fields that a read shows and a write accepts', async () => {
    desk = await openDesk({
      auth: {
        articles: { permissions: { read: true, update: true }, fields: { fee: { read: 'desk', write: 'desk' }, title: { write: 'boss' } } },
      },
    })
    for (const caller of [ANN, CALLERS['holding a permission']!, CHIEF, VISITOR]) {
      const { fields } = (await desk.request('GET', '/api/articles/permissions', { caller })).body
      const shown = (await desk.request('GET', '/api/articles/1', { caller })).body
      for (const [name, value] of [['fee', 77], ['title', 'new']] as const) {
        expect(Object.hasOwn(shown, name), name).toBe(fields[name].canRead)
        expect((await desk.request('PATCH', '/api/articles/1', { caller, body: { [name]: value } })).status === 200, name).toBe(
          fields[name].canWrite,
        )
      }
    }
  })

  it('never contain the caller', async () => {
    desk = await openDesk()
    const { text } = await desk.request('GET', '/api/permissions', {
      caller: { user: { id: 1, organizationId: 1, email: 'ann@desk.test' } },
    })
    expect(text).not.toContain('ann@desk.test')
  })
})

describe('capabilities on records', () => {
  const judged: ResourceAuth = {
    permissions: { read: true, update: true, delete: ctx => ctx.user !== null },
    objectLevel: (row, ctx) => ctx.operation === 'read' || (row as { writerId?: number }).writerId === ctx.user?.id,
  }

  it('agree with the responses of the routes for each record', async () => {
    desk = await openDesk({ auth: { articles: judged } })
    for (const caller of [ANN, ZOE, VISITOR, CHIEF]) {
      const ids = ['1', '2', '3', '4', '11', '99', 'x', '01']
      const { records } = (await desk.request('GET', `/api/articles/permissions?ids=${ids}`, { caller })).body
      expect(Object.keys(records).sort()).toEqual([...ids].sort())
      for (const id of ids) {
        const read = await desk.request('GET', `/api/articles/${id}`, { caller })
        const update = await desk.request('PATCH', `/api/articles/${id}`, { caller, body: { title: 'same' } })
        const removed = await desk.request('DELETE', `/api/articles/${id}`, { caller })
        expect(records[id], id).toEqual({
          canRead: read.status === 200,
          canUpdate: update.status === 200,
          canDelete: removed.status === 200,
        })
        if (removed.status === 200) desk.client.exec(`update articles set deleted_at = null where id = ${id}`)
      }
    }
  })

  it('are identical for a record that is not visible and one that does not exist', async () => {
    desk = await openDesk({ auth: { articles: judged } })
    const ask = async (id: number) =>
      (await desk.request('GET', `/api/articles/permissions?ids=${id}`, { caller: ANN })).text.replaceAll(String(id), 'N')
    const missing = await ask(99)
    expect(missing).toContain('"N":{"canRead":false,"canUpdate":false,"canDelete":false}')
    expect([await ask(11), await ask(4)]).toEqual([missing, missing])
  })

  it.each([
    ['by SQL alone', { permissions: judged.permissions }],
    ['by code as well', judged],
  ] as [string, ResourceAuth][])('take as many statements for 100 ids as for one, where rows are judged %s', async (_title, auth) => {
    const statements: string[] = []
    desk = await openDesk({ auth: { articles: auth }, log: statement => statements.push(statement) })
    for (let id = 100; id < 200; id++)
      desk.client.exec(`insert into articles (id, organization_id, writer_id, title) values (${id}, 1, 1, 't')`)
    const count = async (ids: number[]) => {
      statements.length = 0
      const { body } = await desk.request('GET', `/api/articles/permissions?ids=${ids}`, { caller: ANN })
      expect(body.records[ids.at(-1)!]).toEqual({ canRead: true, canUpdate: true, canDelete: true })
      return statements.length
    }
    const one = await count([100])
    expect(one).toBe(3)
    expect(await count(Array.from({ length: 100 }, (_, index) => 100 + index))).toBe(one)
  })

  it('need no statement when nothing is permitted or no id is given', async () => {
    const statements: string[] = []
    desk = await openDesk({ auth: { articles: {} }, log: statement => statements.push(statement) })
    statements.length = 0
    await desk.request('GET', '/api/articles/permissions?ids=1,2', { caller: ANN })
    await desk.request('GET', '/api/permissions', { caller: ANN })
    expect(statements).toEqual([])
  })

  it('read ids once, whether listed, repeated or given twice', async () => {
    desk = await openDesk()
    const keys = async (query: string) =>
      Object.keys((await desk.request('GET', `/api/articles/permissions?${query}`, { caller: ANN })).body.records)
    expect(await keys('ids=1,2')).toEqual(['1', '2'])
    expect(await keys('ids=1&ids=2')).toEqual(['1', '2'])
    expect(await keys('ids=1,1')).toEqual(['1'])
    expect(await keys('ids=')).toEqual([])
    const { status, body } = await desk.request(
      'GET',
      `/api/articles/permissions?ids=${Array.from({ length: 501 }, (_, index) => index)}`,
      { caller: ANN },
    )
    expect([status, body.data.code]).toEqual([400, 'LIMIT_EXCEEDED'])
  })
})
