/** Tests the bulk routes: every item is checked, every failure is reported, and either all items are written or none. */
import { createError } from 'h3'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { before, openBatch, statements } from './batch'
import { EVERYTHING, outcome, type World } from './world'

let world: World
let dump: string
beforeAll(async () => {
  world = await openBatch()
})
beforeEach(() => {
  world.reset()
  before.mockReset()
  dump = world.dump()
})
afterAll(() => world.client.close())

const refuse = (statusCode: number, message: string) => {
  throw createError({ statusCode, message })
}

/** The errors of failed items in a response. */
const INVALID = { statusCode: 400, message: 'The body is not valid.', code: 'VALIDATION_FAILED' }
const NOT_FOUND = { statusCode: 404, message: 'There is no such record.', code: 'NOT_FOUND' }
const issue = (path: string, code: string) => [{ path: [path], message: expect.any(String), code }]

describe('a bulk write with invalid items', () => {
  it.each([
    [
      'POST',
      { items: [{ title: 'fine' }, {}, { title: 'x', nothing: 1 }, 7] },
      400,
      [
        { index: 1, ...INVALID, issues: issue('title', 'invalid_type') },
        { index: 2, ...INVALID, issues: issue('nothing', 'unrecognized_keys') },
        { index: 3, statusCode: 400, message: 'The body is not a JSON object.', code: 'INVALID_BODY' },
      ],
    ],
    [
      'PATCH',
      {
        items: [
          { id: 1, data: { title: 'x' } },
          { id: 7, data: {} },
          { id: 6, data: {} },
          { id: 99, data: {} },
          { id: 'x', data: {} },
          { id: 2, data: { rank: 'x' } },
          { id: 3 },
        ],
      },
      403,
      [
        { index: 1, id: 7, statusCode: 403, message: 'You do not have permission to do this.', code: 'FORBIDDEN' },
        { index: 2, id: 6, ...NOT_FOUND },
        { index: 3, id: 99, ...NOT_FOUND },
        { index: 4, id: 'x', ...NOT_FOUND },
        { index: 5, id: 2, ...INVALID, issues: issue('rank', 'invalid_type') },
        { index: 6, id: 3, statusCode: 400, message: 'The body is not a JSON object.', code: 'INVALID_BODY' },
      ],
    ],
    [
      'DELETE',
      { ids: [1, 6, 7, 8] },
      404,
      [
        { index: 1, id: 6, ...NOT_FOUND },
        { index: 2, id: 7, statusCode: 403, message: 'You do not have permission to do this.', code: 'FORBIDDEN' },
        { index: 3, id: 8, ...NOT_FOUND },
      ],
    ],
  ])(
    'reports every failed item of a %s, returns the status of the first one, runs no hook and writes nothing',
    async (method, body, status, errors) => {
      const answer = await world.send(method, 'posts/bulk', body)
      expect([answer.status, answer.body.message, answer.body.data.code]).toEqual([
        status,
        'Bulk operation failed (nothing was written)',
        'BULK_FAILED',
      ])
      expect(answer.body.data.errors).toEqual(errors)
      expect([world.dump(), before.mock.calls]).toEqual([dump, []])
    },
  )

  it('reports the failures of hooks, field rules and references together', async () => {
    before.mockImplementation(({ title }) => title === 'taken' ? refuse(409, 'Taken.') : undefined)
    const { status, body } = await world.send('POST', 'posts/bulk', {
      items: [{ title: 'taken' }, { title: 'fine' }, { title: 'dear', fee: 1 }, { title: 'child', parentId: 6 }],
    })
    expect([status, body.message]).toEqual([409, 'Bulk operation failed (nothing was written)'])
    expect(body.data.errors).toEqual([
      { index: 0, statusCode: 409, message: 'Taken.' },
      { index: 2, statusCode: 403, message: 'You cannot write: fee.', code: 'FIELD_FORBIDDEN' },
      { index: 3, statusCode: 400, message: '`parentId` points to a record that does not exist.', code: 'INVALID_REFERENCE' },
    ])
    expect([world.dump(), before.mock.calls.length]).toEqual([dump, 4])
  })

  it('returns 403 when the caller cannot write the first item, and 401 to an anonymous caller', async () => {
    const body = { items: [{ title: 'a', fee: 1 }, { title: 'b', parentId: 99 }] }
    expect(outcome(await world.send('POST', 'posts/bulk', body))).toBe('403 BULK_FAILED')
    expect(outcome(await world.send('POST', 'posts/bulk', body, {}))).toBe('401 BULK_FAILED')
  })
})

describe('a bulk write that the database refuses', () => {
  it.each([
    ['a value that is taken', 'POST', { items: [{ title: 'a' }, { title: 'b', slug: 's4' }] }, 409],
    ['a value that two items share', 'POST', { items: [{ title: 'a', slug: 'new' }, { title: 'b', slug: 'new' }] }, 409],
    ['a value that breaks a check', 'POST', { items: [{ title: 'a' }, { title: 'b', rank: -1 }] }, 400],
    ['a value that is taken, of a later item', 'PATCH', { items: [{ id: 1, data: { title: 'x' } }, { id: 2, data: { slug: 's4' } }] }, 409],
  ])('is rolled back, and the response says so: %s', async (_why, method, body, status) => {
    const answer = await world.send(method, 'posts/bulk', body)
    expect([answer.status, answer.body.message, answer.body.data.code]).toEqual([
      status,
      'Bulk operation failed (rolled back)',
      'BULK_FAILED',
    ])
    expect(answer.body.data.errors.map(({ statusCode }: { statusCode: number }) => statusCode)).toContain(status)
    expect(answer.text).not.toMatch(/sqlite|constraint failed/i)
    expect(world.dump()).toBe(dump)
  })
})

describe('a bulk request', () => {
  it.each([
    ['POST', { items: [] }, 'INVALID_BODY'],
    ['PATCH', { items: [] }, 'INVALID_BODY'],
    ['DELETE', { ids: [] }, 'INVALID_BODY'],
    ['POST', { items: {} }, 'INVALID_BODY'],
    ['POST', {}, 'INVALID_BODY'],
    ['POST', [{ title: 'a' }], 'INVALID_BODY'],
    ['DELETE', { items: [1] }, 'INVALID_BODY'],
    ['PATCH', { items: [1] }, 'INVALID_BODY'],
    ['PATCH', { items: [{ data: {} }] }, 'INVALID_BODY'],
    ...[{ id: 1, title: 'a' }, { id: { id: 1 } }, [1], null, true].flatMap(
      id =>
        [
          ['DELETE', { ids: [id] }, 'INVALID_BODY'],
          ['PATCH', { items: [{ id, data: {} }] }, 'INVALID_BODY'],
        ] as const,
    ),
    [
      'PATCH',
      {
        items: [
          { id: 1, data: {} },
          { id: '1', data: {} },
        ],
      },
      'INVALID_BODY',
    ],
    ['POST', { items: Array.from({ length: 101 }, () => ({ title: 'a' })) }, 'LIMIT_EXCEEDED'],
    ['PATCH', { items: Array.from({ length: 101 }, (_, id) => ({ id, data: {} })) }, 'LIMIT_EXCEEDED'],
    ['DELETE', { ids: Array.from({ length: 101 }, (_, id) => id) }, 'LIMIT_EXCEEDED'],
  ] as const)('returns 400 and writes nothing for a malformed body: %s %j', async (method, body, code) => {
    expect(outcome(await world.send(method, 'posts/bulk', body))).toBe(`400 ${code}`)
    expect(world.dump()).toBe(dump)
  })

  it('returns the records, or the ids of deleted rows, in the order of the items', async () => {
    const made = await world.send('POST', 'posts/bulk', { items: [{ title: 'x' }, { title: 'y', rank: 1 }, { title: 'z' }] })
    expect([made.status, made.body.data.map(({ title, rank }: { title: string, rank: number }) => [title, rank]), made.body.meta]).toEqual([
      200,
      [
        ['x', null],
        ['y', 1],
        ['z', null],
      ],
      { total: 3, successful: 3, failed: 0 },
    ])
    const changed = await world.send('PATCH', 'posts/bulk', { items: [{ id: 5, data: { title: 'e' } }, { id: '4', data: { title: 'd' } }] })
    expect(changed.body.data.map(({ id, title }: { id: number, title: string }) => [id, title])).toEqual([[5, 'e'], [4, 'd']])
    const gone = await world.send('DELETE', 'nodes/bulk', { ids: [4] })
    expect(gone.body).toEqual({ data: [{ id: 4, deleted: true, softDeleted: false }], meta: { total: 1, successful: 1, failed: 0 } })
  })

  it('deletes a repeated id once, and gives each deleted row its own deletionId', async () => {
    const { body } = await world.send('DELETE', 'posts/bulk', { ids: [4, '4', 5] })
    expect(body.meta).toEqual({ total: 2, successful: 2, failed: 0 })
    expect(body.data).toEqual([4, 5].map(id => ({ id, deleted: true, softDeleted: true, deletionId: expect.any(String) })))
    expect(body.data[0].deletionId).not.toBe(body.data[1].deletionId)
  })

  it.each([
    ['posts/bulk', [1, 2, 3]],
    ['posts/bulk', [3, 2, 1]],
    ['nodes/bulk', [1, 2, 3]],
    ['nodes/bulk', [3, 1]],
    ['nodes/bulk?force=true', [2, 1]],
    ['posts/bulk?force=true', [1, 3]],
  ])('deletes rows that refer to each other and counts each of them: %s %j', async (path, ids) => {
    const { status, body } = await world.send('DELETE', path, { ids })
    expect([status, body.meta, body.data.map(({ id }: { id: number }) => id)]).toEqual([
      200,
      { total: ids.length, successful: ids.length, failed: 0 },
      ids,
    ])
  })

  it.each([
    ['POST', (n: number) => ({ items: Array.from({ length: n }, (_, i) => ({ title: `n${i}`, parentId: 1 })) })],
    ['PATCH', (n: number) => ({ items: Array.from({ length: n }, (_, i) => ({ id: 100 + i, data: { parentId: 4 } })) })],
    ['DELETE', (n: number) => ({ ids: Array.from({ length: n }, (_, i) => 100 + i) })],
  ] as const)('reads and checks 50 items with as many statements as 2 items: %s', async (method, bodyOf) => {
    const reads = async (n: number) => {
      world.reset()
      world.client.exec(
        'with recursive n(i) as (select 100 union all select i + 1 from n where i < 149) insert into posts (id, title) select i, \'t\' from n',
      )
      statements.length = 0
      expect((await world.send(method, 'posts/bulk', bodyOf(n))).body.meta).toEqual({ total: n, successful: n, failed: 0 })
      return statements.filter(statement => statement.startsWith('select')).length
    }
    expect(await reads(50)).toBe(await reads(2))
    if (method === 'POST') expect(statements.filter(statement => statement.startsWith('insert'))).toHaveLength(1)
  })

  it('inserts records whose fields come in different orders with one statement, in the order of the items', async () => {
    statements.length = 0
    before.mockImplementation(data => data.title === 'b' ? Object.fromEntries(Object.entries(data).reverse()) : data)
    const { body } = await world.send('POST', 'posts/bulk', {
      items: [
        { title: 'a', rank: 1 },
        { title: 'b', rank: 2 },
        { title: 'c', rank: 3 },
      ],
    })
    expect(
      body.data.map(({ id, title, rank }: { id: number, title: string, rank: number }) => [id - body.data[0].id, title, rank]),
    ).toEqual([
      [0, 'a', 1],
      [1, 'b', 2],
      [2, 'c', 3],
    ])
    expect(statements.filter(statement => statement.startsWith('insert'))).toHaveLength(1)
  })

  it('creates several records without a value', async () => {
    const { status, body } = await world.send('POST', 'nodes/bulk', { items: [{}, { parentId: 1 }, {}] })
    expect([status, body.data.map(({ parentId }: { parentId: number | null }) => parentId)]).toEqual([200, [null, 1, null]])
    expect(new Set(body.data.map(({ id }: { id: number }) => id)).size).toBe(3)
  })

  it('asks the rule of a field once for all items, and refuses each item that has the field', async () => {
    const rule = vi.fn(() => false)
    const ruled = await openBatch({
      resources: { posts: { authorization: { permissions: EVERYTHING, fields: { fee: { write: rule } } as never } } },
    })
    const { body } = await ruled.send('POST', 'posts/bulk', { items: [{ title: 'a', fee: 1 }, { title: 'b' }, { title: 'c', fee: 2 }] })
    expect(body.data.errors.map(({ index, code }: { index: number, code: string }) => [index, code])).toEqual([
      [0, 'FIELD_FORBIDDEN'],
      [2, 'FIELD_FORBIDDEN'],
    ])
    expect(rule).toHaveBeenCalledTimes(1)
    ruled.client.close()
  })
})
