/** Violated constraints: one status per kind of constraint, and columns named only to callers who can read them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Permission } from '../../../src/runtime/server/registration'
import { openNotebook, problemsOf, type Notebook } from '../../support/notebook'

const staff = { user: { id: 1, role: 'staff' } }

let notebook: Notebook
let before: string

beforeAll(async () => {
  const open = { read: true, create: true, update: true, delete: true }
  notebook = await openNotebook({
    registrations: {
      notes: {
        hiddenFields: ['secret'],
        protectedFields: [],
        authorization: { permissions: open, fields: { rank: { read: 'staff' as Permission } } },
        // What a schema lets through, the database may still refuse.
        validation: { create: anything(), update: anything() },
      },
      folders: { authorization: { permissions: open, fields: { name: { read: 'staff' as Permission } } } },
    },
  })
})

afterAll(() => notebook.client.close())

beforeEach(() => {
  notebook.reset()
  before = notebook.dump()
})

async function refused(method: string, path: string, body: unknown, status: number, code: string, caller = {}) {
  const answer = await notebook.request(method, path, { body, caller })
  expect(problemsOf(answer, { status, code })).toEqual([])
  expect(notebook.dump()).toBe(before)
  return answer.body.data
}

describe('a duplicate of a unique value', () => {
  it.each([
    ['POST', '/api/folders'],
    ['PATCH', '/api/folders/2'],
  ])('is a 409 that names the column to a caller who can read it: %s', async (method, path) => {
    expect(await refused(method, path, { name: 'inbox' }, 409, 'CONFLICT', staff)).toEqual({ code: 'CONFLICT', fields: ['name'] })
  })

  it.each([
    ['POST', '/api/folders'],
    ['PATCH', '/api/folders/2'],
  ])('is a 409 that names no column to a caller who cannot read it: %s', async (method, path) => {
    expect(await refused(method, path, { name: 'inbox' }, 409, 'CONFLICT')).toEqual({ code: 'CONFLICT' })
  })

  it('of a hidden column is a 409 that never names the column', async () => {
    expect(await refused('POST', '/api/notes', { title: 'a', secret: 's1' }, 409, 'CONFLICT', { ...staff, permissions: ['*'] })).toEqual({
      code: 'CONFLICT',
    })
  })

  it('of a primary key is a 409', async () => {
    expect(await refused('POST', '/api/labels', { slug: 'a', name: 'again' }, 409, 'CONFLICT')).toEqual({
      code: 'CONFLICT',
      fields: ['slug'],
    })
    expect(await refused('POST', '/api/seats', { room: 'red', number: 1 }, 409, 'CONFLICT')).toEqual({
      code: 'CONFLICT',
      fields: ['room', 'number'],
    })
  })
})

describe('a reference', () => {
  it.each([
    ['POST', '/api/notes'],
    ['PATCH', '/api/notes/1'],
  ])('to a row that does not exist is a 400 INVALID_REFERENCE: %s', async (method, path) => {
    await refused(method, path, { title: 'a', folderId: 99 }, 400, 'INVALID_REFERENCE')
  })

  it('prevents the delete of its row: the delete is a 409 that names neither table nor id', async () => {
    expect(await refused('DELETE', '/api/folders/1', undefined, 409, 'CONFLICT')).toEqual({ code: 'CONFLICT' })
  })

  it('that is removed no longer prevents the delete', async () => {
    for (const id of [1, 2]) await notebook.request('PATCH', `/api/notes/${id}`, { body: { folderId: null } })
    expect((await notebook.request('DELETE', '/api/folders/1')).status).toBe(200)
  })
})

describe('a value the database requires or checks', () => {
  it.each([
    ['POST', '/api/notes'],
    ['PATCH', '/api/notes/1'],
  ])('and that is null is a 400 that names the column: %s', async (method, path) => {
    expect(await refused(method, path, { title: null }, 400, 'VALIDATION_FAILED')).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [{ path: ['title'], message: expect.any(String), code: 'required' }],
    })
  })

  it('and that breaks a check is a 400', async () => {
    await refused('POST', '/api/notes', { title: 'a', rank: -1 }, 400, 'VALIDATION_FAILED', staff)
    await refused('PATCH', '/api/notes/1', { rank: -1 }, 400, 'VALIDATION_FAILED', staff)
  })
})

/** A Standard Schema that lets every object through. */
function anything() {
  return { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const
}
