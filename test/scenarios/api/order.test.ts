/** The order of checks: no response discloses the result of a later check. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { Caller } from '../../support/server'
import { openNotebook, problemsOf, type Notebook } from '../../support/notebook'

let notebook: Notebook
let before: string

beforeAll(async () => {
  notebook = await openNotebook({
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    registrations: {
      tasks: {
        authorization: {
          permissions: { read: 'tasks', create: 'tasks', update: 'tasks', delete: 'tasks' },
          fields: { salary: { read: 'hr', write: 'hr' } },
        },
      },
      folders: { authorization: undefined },
    },
  })
})

afterAll(() => notebook.client.close())

beforeEach(() => {
  notebook.reset()
  before = notebook.dump()
})

const member = { user: { id: 1, organizationId: 1 }, permissions: ['tasks'] }
const BAD_BODY = { raw: '{"title":' }
const UNKNOWN_KEY = { body: { nothing: 1 } }
const FORBIDDEN_FIELD = { body: { title: 'a', salary: 1 } }

type Options = NonNullable<Parameters<Notebook['request']>[2]>

/** Each request breaks several rules; the response is that of the first one. */
const ORDER: [rule: string, caller: Caller, method: string, path: string, options: Options, status: number, code: string][] = [
  ['permission before query', {}, 'GET', '/api/tasks?page=0', {}, 401, 'UNAUTHENTICATED'],
  ['permission before query', { user: { id: 1 } }, 'GET', '/api/tasks?page=0', {}, 403, 'FORBIDDEN'],
  ['permission before id', { user: { id: 1, organizationId: 1 } }, 'GET', '/api/tasks/abc', {}, 403, 'FORBIDDEN'],
  ['permission before body', {}, 'POST', '/api/tasks', BAD_BODY, 401, 'UNAUTHENTICATED'],
  [
    'permission before content type',
    {},
    'POST',
    '/api/tasks',
    { raw: 'x', headers: { 'content-type': 'text/plain' } },
    401,
    'UNAUTHENTICATED',
  ],
  ['permission before row', { user: { id: 1, organizationId: 1 } }, 'DELETE', '/api/tasks/99', {}, 403, 'FORBIDDEN'],
  ['permission before tenant', { user: { id: 1 } }, 'GET', '/api/tasks', {}, 403, 'FORBIDDEN'],
  [
    'no authorization before everything',
    { permissions: ['*'], user: { id: 1 } },
    'PATCH',
    '/api/folders/abc?page=0',
    BAD_BODY,
    403,
    'FORBIDDEN',
  ],
  ['tenant before query', { permissions: ['tasks'] }, 'GET', '/api/tasks?page=0', {}, 401, 'TENANT_REQUIRED'],
  ['tenant before id', { user: { id: 1 }, permissions: ['tasks'] }, 'GET', '/api/tasks/abc', {}, 403, 'TENANT_REQUIRED'],
  ['tenant before body', { user: { id: 1 }, permissions: ['tasks'] }, 'PATCH', '/api/tasks/1', BAD_BODY, 403, 'TENANT_REQUIRED'],
  ['body before row', member, 'PATCH', '/api/tasks/99', BAD_BODY, 400, 'INVALID_BODY'],
  ['validation before row', member, 'PATCH', '/api/tasks/99', UNKNOWN_KEY, 400, 'VALIDATION_FAILED'],
  ['validation before row, another tenant\'s alike', member, 'PATCH', '/api/tasks/2', UNKNOWN_KEY, 400, 'VALIDATION_FAILED'],
  ['validation before the field-write rule', member, 'PATCH', '/api/tasks/1', { body: { salary: 'x' } }, 400, 'VALIDATION_FAILED'],
  ['query before row', member, 'DELETE', '/api/tasks/99?force=maybe', {}, 400, 'INVALID_QUERY'],
  ['row before the field-write rule', member, 'PATCH', '/api/tasks/99', FORBIDDEN_FIELD, 404, 'NOT_FOUND'],
  ['row before the field-write rule, another tenant\'s alike', member, 'PATCH', '/api/tasks/2', FORBIDDEN_FIELD, 404, 'NOT_FOUND'],
  ['the field-write rule last', member, 'PATCH', '/api/tasks/1', FORBIDDEN_FIELD, 403, 'FIELD_FORBIDDEN'],
]

describe('a request that breaks several rules', () => {
  it.each(ORDER)('%s: %o %s %s %j is %i %s', async (_rule, caller, method, path, options, status, code) => {
    const answer = await notebook.request(method, path, { ...options, caller })
    expect(problemsOf(answer, { status, code })).toEqual([])
    expect(notebook.dump()).toBe(before)
  })

  it('gets the identical response for a row of another tenant and for a row that does not exist', async () => {
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { title: 'a' }],
      ['PATCH', FORBIDDEN_FIELD.body],
      ['DELETE', undefined],
    ] as const) {
      const [theirs, none] = [
        await notebook.request(method, '/api/tasks/2', { body, caller: member }),
        await notebook.request(method, '/api/tasks/99', { body, caller: member }),
      ]
      expect([theirs.status, theirs.text]).toEqual([none.status, none.text])
    }
  })
})
