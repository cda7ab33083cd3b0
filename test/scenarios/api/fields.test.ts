/** Hidden, unreadable, unwritable and server-owned columns, in every response and every body. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { openNotebook, problemsOf, type Notebook } from '../../support/notebook'

const open = { read: true, create: true, update: true, delete: true }
const clerk = { user: { id: 1, organizationId: 1 } }
const hr = { user: { id: 2, organizationId: 1, role: 'hr' } }
const superAdmin = { user: { id: 3, organizationId: 1 }, permissions: ['*'] }
const anonymous = { tenantId: 1 }

let notebook: Notebook
let before: string

beforeAll(async () => {
  notebook = await openNotebook({
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    registrations: {
      tasks: {
        hiddenFields: ['deletedReason'],
        protectedFields: ['updatedBy'],
        authorization: {
          permissions: open,
          fields: { salary: { read: 'hr', write: 'hr' }, createdBy: { read: false }, title: { write: ({ user }) => user !== null } },
        },
      },
      notes: {
        hiddenFields: ['secret'],
        authorization: { permissions: open, fields: { rank: { read: false }, weight: { write: false } } },
      },
    },
  })
})

afterAll(() => notebook.client.close())

beforeEach(() => {
  notebook.reset()
  before = notebook.dump()
})

const ask = async (method: string, path: string, caller: object, body?: unknown) =>
  (await notebook.request(method, path, { body, caller })).body
const columns = (record: object) => Object.keys(record)

/** Every answer that shows a record. */
const SHOWN: [title: string, read: (caller: object) => Promise<object>][] = [
  ['a list', async caller => (await ask('GET', '/api/tasks', caller)).data[0]],
  ['a list by cursor', async caller => (await ask('GET', '/api/tasks?cursor=', caller)).data[0]],
  ['a record', caller => ask('GET', '/api/tasks/1', caller)],
  ['what was made', caller => ask('POST', '/api/tasks', caller, { title: 'new' })],
  ['what was updated', caller => ask('PATCH', '/api/tasks/1', caller, { title: 'new' })],
  ['an update of nothing', caller => ask('PATCH', '/api/tasks/1', caller, {})],
]

const ALL = ['id', 'organizationId', 'title', 'salary', 'createdAt', 'updatedAt', 'updatedBy', 'deletedAt', 'deletedBy', 'deletionId']
const WITHOUT_SALARY = ALL.filter(name => name !== 'salary')

describe.each(SHOWN)('%s', (_title, read) => {
  it('shows every field the caller can read, in the order of the table', async () => {
    expect(columns(await read(hr))).toEqual(ALL)
  })

  it('omits fields the caller cannot read, instead of returning null', async () => {
    expect(columns(await read(clerk))).toEqual(WITHOUT_SALARY)
  })

  it('shows a super-admin fields with a permission, but not hidden fields or fields with the rule false', async () => {
    expect(columns(await read(superAdmin))).toEqual(ALL)
  })
})

describe('a field the caller cannot write', () => {
  it.each([
    ['POST', '/api/tasks', { title: 'a', salary: 1 }],
    ['PATCH', '/api/tasks/1', { salary: 1 }],
    ['PATCH', '/api/tasks/1', { salary: null }],
    ['PATCH', '/api/tasks/1', { salary: 10 }],
  ])('is refused with a 403 that names it, not dropped: %s %s %j', async (method, path, body) => {
    const answer = await notebook.request(method, path, { body, caller: clerk })
    expect(problemsOf(answer, { status: 403, code: 'FIELD_FORBIDDEN' })).toEqual([])
    expect(answer.body.data.fields).toEqual(['salary'])
    expect(notebook.dump()).toBe(before)
  })

  it('is refused with a 401 to an anonymous caller', async () => {
    const answer = await notebook.request('PATCH', '/api/tasks/1', { body: { title: 'a', salary: 1 }, caller: anonymous })
    expect(problemsOf(answer, { status: 401, code: 'FIELD_FORBIDDEN' })).toEqual([])
    expect(answer.body.data.fields).toEqual(['title', 'salary'])
    expect(notebook.dump()).toBe(before)
  })

  it('is written by a caller with the permission', async () => {
    expect((await ask('PATCH', '/api/tasks/1', hr, { salary: 99 })).salary).toBe(99)
    expect((await ask('PATCH', '/api/tasks/1', superAdmin, { salary: 98 })).salary).toBe(98)
  })

  it('is refused to the super-admin when its rule is false', async () => {
    const answer = await notebook.request('PATCH', '/api/notes/1', { body: { weight: 1 }, caller: superAdmin })
    expect(problemsOf(answer, { status: 403, code: 'FIELD_FORBIDDEN' })).toEqual([])
  })

  it('stays readable, and an unreadable field stays writable', async () => {
    expect(columns(await ask('GET', '/api/notes/1', superAdmin))).toContain('weight')
    const { status } = await notebook.request('PATCH', '/api/notes/1', { body: { rank: 5 }, caller: clerk })
    expect([status, notebook.client.prepare('select col_rank from tbl_notes where col_id = 1').pluck().get()]).toEqual([200, 5])
  })
})

describe('a hidden field', () => {
  it('can be written, and is not shown', async () => {
    const body = await ask('POST', '/api/notes', clerk, { title: 'a', secret: 'word' })
    expect(body).not.toHaveProperty('secret')
    expect(notebook.client.prepare('select col_secret from tbl_notes where col_id = ?').pluck().get(body.id)).toBe('word')
  })
})

describe('a column the server owns', () => {
  const OWNED = {
    id: 77,
    organizationId: 2,
    createdBy: 77,
    updatedBy: 77,
    updatedAt: '2001-01-01',
    deletedAt: '2001-01-01',
    deletedBy: 77,
    deletionId: 'x',
    deletedReason: 'x',
  }

  it('is dropped from a create silently', async () => {
    const body = await ask('POST', '/api/tasks', hr, { title: 'new', ...OWNED })
    expect(stored(body.id)).toMatchObject({
      col_id: 4,
      col_organization_id: 1,
      col_created_by: 2,
      col_deleted_at: null,
      col_deleted_by: null,
      col_deletion_id: null,
      col_deleted_reason: null,
    })
  })

  it('is dropped from an update silently', async () => {
    expect((await notebook.request('PATCH', '/api/tasks/1', { body: { ...OWNED, createdAt: '2001-01-01' }, caller: hr })).status).toBe(200)
    expect(notebook.dump()).toBe(before)
  })

  it('is dropped with any value: the value is not validated', async () => {
    const nonsense = Object.fromEntries(Object.keys(OWNED).map(name => [name, { not: ['a', 'value'] }]))
    expect((await notebook.request('PATCH', '/api/tasks/1', { body: { ...nonsense, title: 'new' }, caller: hr })).status).toBe(200)
    expect(stored(1)).toMatchObject({ col_id: 1, col_organization_id: 1, col_title: 'new', col_deleted_at: null })
  })
})

describe('server values', () => {
  it('of a create are both times and the caller', async () => {
    const from = Date.now()
    const { id } = await ask('POST', '/api/tasks', hr, { title: 'new' })
    const row = stored(id)
    expect(row).toMatchObject({ col_created_by: 2, col_updated_by: 2 })
    for (const time of [row.col_created_at, row.col_updated_at]) expect(time).toBeGreaterThanOrEqual(from)
    for (const time of [row.col_created_at, row.col_updated_at]) expect(time).toBeLessThanOrEqual(Date.now())
  })

  it('of an update are the time and the caller, and the values of the create stay', async () => {
    await ask('PATCH', '/api/tasks/1', hr, { title: 'new' })
    expect(stored(1)).toMatchObject({ col_created_at: 1000, col_created_by: null, col_updated_by: 2, col_updated_at: expect.any(Number) })
  })

  it('of an update without values do not change', async () => {
    await ask('PATCH', '/api/tasks/1', hr, {})
    expect(notebook.dump()).toBe(before)
  })

  it('are null for an anonymous caller, and for a caller whose id does not fit the column', async () => {
    await ask('PATCH', '/api/tasks/1', { user: { id: 'not-a-number', organizationId: 1 } }, { title: 'new' })
    expect(stored(1).col_updated_by).toBeNull()
  })

  it('of a delete are time, caller, reason and a new deletionId, which the response contains', async () => {
    const { status, body } = await notebook.request('DELETE', '/api/tasks/1?reason=old', { caller: hr })
    expect({ status, body }).toEqual({
      status: 200,
      body: { success: true, softDeleted: true, deletionId: expect.stringMatching(/^[\da-f-]{36}$/) },
    })
    expect(stored(1)).toMatchObject({
      col_deleted_at: expect.any(Number),
      col_deleted_by: 2,
      col_deletion_id: body.deletionId,
      col_deleted_reason: 'old',
      col_title: 'ours',
    })
  })

  it('do not exist after a purge: the row is deleted', async () => {
    const { body } = await notebook.request('DELETE', '/api/tasks/1?force=true', { caller: hr })
    expect(body).toEqual({ success: true, softDeleted: false })
    expect(stored(1)).toBeUndefined()
  })

  it('do not exist after a delete in a table without trash: the row is deleted', async () => {
    expect((await notebook.request('DELETE', '/api/labels/a', { caller: hr })).body).toEqual({ success: true, softDeleted: false })
    expect(notebook.client.prepare('select count(*) from tbl_labels where col_slug = \'a\'').pluck().get()).toBe(0)
  })
})

function stored(id: number) {
  return notebook.client.prepare('select * from tbl_tasks where col_id = ?').get(id) as Record<string, unknown> & {
    col_created_at: number
    col_updated_at: number
  }
}
