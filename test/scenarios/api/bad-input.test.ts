/** Bad input: the response is a 4xx with its stable code, never a 5xx; nothing is written, and no message of the database is disclosed. */
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { openNotebook, problemsOf, type Notebook } from '../../support/notebook'

let notebook: Notebook
let before: string

beforeAll(async () => {
  notebook = await openNotebook()
})

afterAll(() => notebook.client.close())

beforeEach(() => {
  notebook.reset()
  before = notebook.dump()
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

afterEach(() => {
  const logged = vi.mocked(console.error).mock.calls.map(call => call.map(String).join(' '))
  vi.restoreAllMocks()
  // An unexpected error is logged: none of these may be one.
  expect(logged).toEqual([])
})

type Options = Parameters<Notebook['request']>[2]

async function expectRefused(method: string, path: string, options: Options, status: number, code: string) {
  const answer = await notebook.request(method, path, options)
  expect(problemsOf(answer, { status, code })).toEqual([])
  expect(notebook.dump()).toBe(before)
  return answer
}

const short = (text: string) => text.length > 40 ? `${text.slice(0, 40)}… (${text.length})` : text

/** Both routes that read a body. */
const WRITES = [['POST', '/api/notes'], ['PATCH', '/api/notes/1']] as const

const MALFORMED: [title: string, raw: string | Uint8Array][] = [
  ['an empty body', ''],
  ['blanks', '  '],
  ['half an object', '{"title":'],
  ['two objects', '{"title":"a"}{"title":"b"}'],
  ['a trailing comma', '{"title":"a",}'],
  ['single quotes', '{\'title\':\'a\'}'],
  ['unquoted keys', '{title:"a"}'],
  ['NaN', '{"rank":NaN}'],
  ['a raw NUL byte', '{"title":"a\0b"}'],
  ['a form', 'title=a'],
  ['XML', '<title>a</title>'],
  ['a byte order mark of UTF-16', new Uint8Array([0xFF, 0xFE, 0x7B, 0x00])],
  ['bytes that are no UTF-8 outside a string', new Uint8Array([0x7B, 0xC3, 0x28, 0x7D])],
  ['a lone bracket', '['],
  ['brackets without end', '['.repeat(100_000)],
]

const NO_OBJECT: [title: string, body: unknown][] = [
  ['null', null],
  ['an array', []],
  ['an array of objects', [{ title: 'a' }]],
  ['a string', 'title'],
  ['a number', 1],
  ['true', true],
  ['false', false],
]

const TYPES: [title: string, headers: Record<string, string>][] = [
  ['none', { 'content-type': '' }],
  ['text/plain', { 'content-type': 'text/plain' }],
  ['text/plain;application/json', { 'content-type': 'text/plain;application/json' }],
  ['application/x-www-form-urlencoded', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['multipart/form-data', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['application/merge-patch+json', { 'content-type': 'application/merge-patch+json' }],
  ['application/jsonp', { 'content-type': 'application/jsonp' }],
  ['two types', { 'content-type': 'application/json, text/plain' }],
]

describe.each(WRITES)('a body of %s %s', (method, path) => {
  it.each(MALFORMED)('that is not JSON is a 400 INVALID_BODY: %s', async (_title, raw) => {
    await expectRefused(method, path, { raw }, 400, 'INVALID_BODY')
  })

  it.each(NO_OBJECT)('that is no object is a 400 INVALID_BODY: %s', async (_title, body) => {
    await expectRefused(method, path, { body }, 400, 'INVALID_BODY')
  })

  it.each(TYPES)('of another content type is a 415, whatever it holds: %s', async (_title, headers) => {
    await expectRefused(method, path, { raw: '{"title":"a"}', headers }, 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  it.each(['application/json', 'Application/JSON', 'application/json; charset=utf-8', ' application/json ;q=1'])(
    'of application/json is read, however it is spelled: %s',
    async (type) => {
      expect((await notebook.request(method, path, { raw: '{"title":"a"}', headers: { 'content-type': type } })).status).toBeLessThan(300)
    },
  )
})

/** Keys no table has; each as the only one and beside a good one. */
const UNKNOWN_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '__defineGetter__',
  'Title',
  'title ',
  '',
  'notes.title',
  'a\0b',
  'filter',
  '$set',
  '0',
]

describe.each(WRITES)('a key of a body of %s %s', (method, path) => {
  it.each(UNKNOWN_KEYS)('that the table does not have is a 400 that names it: %j', async (key) => {
    for (const raw of [`{${JSON.stringify(key)}:"x"}`, `{"title":"a",${JSON.stringify(key)}:{"title":"b","polluted":true}}`]) {
      const { body } = await expectRefused(method, path, { raw }, 400, 'VALIDATION_FAILED')
      expect(body.data.issues).toContainEqual({ path: [key], message: expect.any(String), code: 'unrecognized_keys' })
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('is named together with all other unknown keys', async () => {
    const { body } = await expectRefused(method, path, { body: { title: 'a', one: 1, two: 2 } }, 400, 'VALIDATION_FAILED')
    expect(body.data.issues.map((issue: { path: string[] }) => issue.path)).toEqual([['one'], ['two']])
  })
})

const VALUES: [field: string, values: unknown[]][] = [
  ['title', [null, 1, true, [], {}, ['a'], 'a\0b', '\0', 'x'.repeat(41), { toString: 'a' }]],
  ['status', ['lost', '', 'DRAFT', 1, null, ['draft'], '__proto__']],
  ['rank', ['1', '', 1.5, true, [1], {}, 1e30, -1e30, 9007199254740992, 'NaN']],
  ['weight', ['1.5', true, [], {}]],
  ['price', ['1e3', 'abc', '', '1,5', true, [], {}, '9'.repeat(5000), 1e300]],
  ['pinned', [0, 1, 'true', '', [], {}]],
  ['dueAt', ['yesterday', '', 0, 1e18, true, [], {}, '2024-02-30', '2024-13-01T00:00:00Z', '99999-01-01', '2024-01-01T00:00:00+99:00']],
  ['size', ['abc', '', '1.5', 1.5, 1e30, true, [], {}, '9'.repeat(5000)]],
  ['cover', ['***', 1, true, [], {}]],
  ['folderId', ['1', 'abc', 1.5, {}, [], true]],
]

describe.each(WRITES)('a value in a body of %s %s', (method, path) => {
  it.each(VALUES.flatMap(([field, values]) => values.map(value => [field, short(JSON.stringify(value)), value] as const)))(
    'that does not fit its column is a 400 that names the field: %s = %s',
    async (field, _value, value) => {
      const { body } = await expectRefused(method, path, { body: { title: 'a', [field]: value } }, 400, 'VALIDATION_FAILED')
      expect(body.data.issues.map((issue: { path: string[] }) => issue.path)).toEqual([[field]])
    },
  )

  it('is reported with every other that does not fit', async () => {
    const { body } = await expectRefused(
      method,
      path,
      { body: { title: null, rank: 'x', dueAt: 'x', status: 'x' } },
      400,
      'VALIDATION_FAILED',
    )
    expect(body.data.issues.map((issue: { path: string[] }) => issue.path[0]).sort()).toEqual(['dueAt', 'rank', 'status', 'title'])
  })

  it('that only the database refuses is a 400', async () => {
    await expectRefused(method, path, { body: { title: 'a', rank: -1 } }, 400, 'VALIDATION_FAILED')
    await expectRefused(method, path, { body: { title: 'a', folderId: 99 } }, 400, 'INVALID_REFERENCE')
  })

  it('that nests too deep is a 400', async () => {
    const raw = `{"title":"a","meta":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    await expectRefused(method, path, { raw }, 400, 'INVALID_BODY')
  })

  it('that nests as deep as allowed is stored unchanged', async () => {
    const meta = JSON.parse(`${'{"a":['.repeat(25)}1${']}'.repeat(25)}`)
    const { status, body } = await notebook.request(method, path, { body: { title: 'a', meta } })
    expect(status).toBeLessThan(300)
    expect(body.meta).toEqual(meta)
  })
})

describe('a required value that is missing', () => {
  it('is a 400 that names the field', async () => {
    const { body } = await expectRefused('POST', '/api/notes', { body: {} }, 400, 'VALIDATION_FAILED')
    expect(body.data.issues).toMatchObject([{ path: ['title'] }])
  })

  it('is not taken from the prototype', async () => {
    await expectRefused('POST', '/api/notes', { raw: '{"__proto__":{"title":"a"}}' }, 400, 'VALIDATION_FAILED')
  })
})

const NO_ID: Record<string, string[]> = {
  notes: [
    'abc',
    '01',
    '1e0',
    '-0',
    '+1',
    '1.0',
    '1e30',
    '%201',
    '1%20',
    '9007199254740993',
    '99999999999999999999',
    '%00',
    '1%00',
    '%',
    '%zz',
    '%E0%A4%A',
    '%C0%80',
    '1,1',
    '0x1',
    'null',
    'undefined',
    '__proto__',
    '1;drop table',
    '1%27%20or%201=1',
    '4',
    '-1',
    '0',
    'x'.repeat(5000),
  ],
  labels: ['b', 'A', 'a%00', '%00', '%', '%zz', '1', '1e0', '__proto__', 'a%20', '%20a', 'a%27%20or%20%271%27=%271', 'x'.repeat(5000)],
  seats: ['red', 'red,', 'red,01', 'red,1e0', 'red,-0', 'red,1,1', 'red,%', '%zz,1', 'red,3', ',', '1,red', 'red%00,1', 'red;1', 'a,b,1'],
}

const BY_ID: [method: string, body: object | undefined, query: string][] = [
  ['GET', undefined, ''],
  ['PATCH', {}, ''],
  ['DELETE', undefined, ''],
  ['DELETE', undefined, '?force=true'],
]

describe.each(BY_ID)('an id of %s', (method, body, query) => {
  it.each(Object.entries(NO_ID).flatMap(([resource, ids]) => ids.map(id => [resource, short(id), id] as const)))(
    'that no row has, or that is not written as the column writes it, is a 404: /%s/%s',
    async (resource, _id, id) => {
      await expectRefused(method, `/api/${resource}/${id}${query}`, { body }, 404, 'NOT_FOUND')
    },
  )
})

const NO_NUMBER = [
  '0',
  '-1',
  '1.5',
  '',
  ' ',
  '%20',
  '1%20',
  'abc',
  '01',
  '1e3',
  '+1',
  '0x1',
  'NaN',
  'Infinity',
  'null',
  '1,2',
  '%00',
  '%zz',
  '١',
  '99999999999999999999',
  '9'.repeat(5000),
  '1e400',
]

describe.each(['page', 'limit'])('%s', (parameter) => {
  it.each(NO_NUMBER.map(value => [short(value), value]))('that is no whole number of at least 1 is a 400: "%s"', async (_title, value) => {
    const { body } = await expectRefused('GET', `/api/notes?${parameter}=${value}`, {}, 400, 'INVALID_QUERY')
    expect(body.data.parameter).toBe(parameter)
  })

  it.each([['1', '2'], ['1', '1'], ['', '1']])('given more than once is a 400: %s, %s', async (...values) => {
    await expectRefused('GET', `/api/notes?${values.map(value => `${parameter}=${value}`).join('&')}`, {}, 400, 'INVALID_QUERY')
  })
})

describe('a page', () => {
  it.each(['1000000', '999999999999999'])('past the end is an empty list with its total: %s', async (page) => {
    const { status, body } = await notebook.request('GET', `/api/notes?page=${page}`)
    expect({ status, body }).toEqual({ status: 200, body: { data: [], meta: { page: Number(page), limit: 20, total: 3 } } })
  })

  it('has at most the maximum number of records', async () => {
    const { body } = await notebook.request('GET', '/api/notes?limit=999999')
    expect(body.meta).toEqual({ page: 1, limit: 100, total: 3 })
  })
})

describe('force', () => {
  it.each(['1', '', 'TRUE', 'yes', '%00', '__proto__', '%'])(
    'that is neither true nor false is a 400 and deletes nothing: %j',
    async (force) => {
      await expectRefused('DELETE', `/api/notes/1?force=${force}`, {}, 400, 'INVALID_QUERY')
    },
  )

  it('given twice is a 400 and deletes nothing', async () => {
    await expectRefused('DELETE', '/api/notes/1?force=true&force=true', {}, 400, 'INVALID_QUERY')
  })
})

describe('a query parameter with the name of a built-in property', () => {
  it.each([
    '__proto__',
    'constructor',
    'prototype',
    '__proto__[polluted]',
    'constructor[prototype][polluted]',
    'toString',
    'hasOwnProperty',
    'page[__proto__]',
  ])('is no parameter and changes nothing: %s', async (name) => {
    const plain = await notebook.request('GET', '/api/notes')
    const answer = await notebook.request('GET', `/api/notes?${name}=1&${encodeURIComponent(name)}=2`)
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: plain.body })
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('a method that a path does not have', () => {
  it.each([
    ['PUT', '/api/notes', 'GET, HEAD, POST, OPTIONS'],
    ['PATCH', '/api/notes', 'GET, HEAD, POST, OPTIONS'],
    ['DELETE', '/api/notes', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/api/notes/1', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
    ['PUT', '/api/notes/1', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
    // Not the id of a note: a path of its own.
    ['PATCH', '/api/notes/aggregate', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/api/notes/aggregate', 'GET, HEAD, OPTIONS'],
  ])('is a 405 that lists those it has: %s %s', async (method, path, allow) => {
    const { headers } = await expectRefused(method, path, {}, 405, 'METHOD_NOT_ALLOWED')
    expect(headers.get('allow')).toBe(allow)
  })
})

describe('random input', () => {
  const path = fc.string({ unit: 'binary', maxLength: 12 }).map(text => encodeURIComponent(text.toWellFormed()))
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.string()),
    fc.object({ maxDepth: 2 }),
  )
  const field = fc.constantFrom(
    'title',
    'status',
    'rank',
    'weight',
    'price',
    'pinned',
    'dueAt',
    'size',
    'meta',
    'cover',
    'shape',
    'secret',
    'score',
    'id',
    'createdAt',
    '__proto__',
  )

  it('as an id returns 404 unless a row has it', async () => {
    await fc.assert(fc.asyncProperty(fc.constantFrom('notes', 'labels', 'seats'), path, async (resource, id) => {
      fc.pre(!['', '.', '..'].includes(id))
      const answer = await notebook.request('GET', `/api/${resource}/${id}`)
      if (answer.status !== 200) expect(problemsOf(answer, { status: 404, code: 'NOT_FOUND' })).toEqual([])
    }), { numRuns: 300 })
  })

  it('as a query string never returns a 5xx', async () => {
    const name = fc.oneof(
      fc.constantFrom(
        'page',
        'limit',
        'sort',
        'filter',
        'fields',
        'include',
        'cursor',
        'cursorFields',
        'aggregate',
        'groupBy',
        'filter[title]',
        'filter[__proto__]',
        'count',
        'includeDeleted',
      ),
      path,
    )
    const value = fc.oneof(
      path,
      fc.json().map(encodeURIComponent),
      fc.constantFrom('title', '-title', 'id,title', '{}', '[]', 'a{', '%', '%zz', 'count', 'sum(rank)'),
    )
    await fc.assert(fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 4 }), async (pairs) => {
      const answer = await notebook.request('GET', `/api/notes?${pairs.map(pair => pair.join('=')).join('&')}`)
      expect(answer.status).toBeLessThan(500)
      expect(answer.status === 200 || problemsOf(answer, { status: answer.status, code: answer.body.data?.code })).toEqual(
        answer.status === 200 ? true : [],
      )
    }), { numRuns: 300 })
    expect(notebook.dump()).toBe(before)
  })

  it.each(['filter', 'include', 'sort', 'fields', 'aggregate', 'cursor'])(
    'as a %s as long and deep as a URL can be never returns a 5xx',
    async (name) => {
      for (const text of [
        '['.repeat(2000),
        '{"a":'.repeat(800),
        `${'['.repeat(1000)}${']'.repeat(1000)}`,
        'a.'.repeat(3000),
        'a{include:'.repeat(700),
        '('.repeat(5000),
        'a,'.repeat(3000),
      ]) {
        const { status } = await notebook.request('GET', `/api/notes?${name}=${encodeURIComponent(text)}`)
        expect(status).toBeLessThan(500)
      }
    },
  )

  it('as a body never returns a 5xx, and writes nothing when it is refused', async () => {
    await fc.assert(fc.asyncProperty(fc.constantFrom(...WRITES), fc.dictionary(field, anything), async ([method, path], body) => {
      const before = notebook.dump()
      const answer = await notebook.request(method, path, { body })
      expect(answer.status).toBeLessThan(500)
      if (answer.status >= 400) {
        expect(problemsOf(answer, { status: answer.status, code: answer.body.data?.code })).toEqual([])
        expect(notebook.dump()).toBe(before)
      }
    }), { numRuns: 300 })
  })
})
