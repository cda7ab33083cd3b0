/** Tests the options of the bulk routes: `enabled`, `maxBatchSize` and `transactional`. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { before, openBatch } from './batch'
import { outcome, type World } from './world'

const { bulk } = DEFAULT_CONFIG
let world: World
let dump: string
const open = async (options: Partial<typeof bulk>) => {
  world = await openBatch({ config: { bulk: { ...bulk, ...options } } })
  before.mockReset()
  dump = world.dump()
}
afterEach(() => world.client.close())

it.each([
  ['POST', 'bulk', { items: [{ title: 'a' }] }],
  ['PATCH', 'bulk', { items: [{ id: 1, data: {} }] }],
  ['DELETE', 'bulk', { ids: [1] }],
  ['POST', 'bulk/restore', { ids: [8] }],
  ['POST', 'bulk/restore', { deletionId: 'd8' }],
  ['DELETE', 'bulk?force=true', { ids: [8] }],
])('refuses %s %s with 400 when `bulk.enabled` is false', async (method, path, body) => {
  await open({ enabled: false })
  expect(outcome(await world.send(method, `posts/${path}`, body))).toBe('400 INVALID_BODY')
  expect(world.dump()).toBe(dump)
})

it('refuses more items than `maxBatchSize` with 400 LIMIT_EXCEEDED', async () => {
  await open({ maxBatchSize: 2 })
  expect(outcome(await world.send('DELETE', 'posts/bulk', { ids: [1, 4, 5] }))).toBe('400 LIMIT_EXCEEDED')
  expect(outcome(await world.send('DELETE', 'posts/bulk', { ids: [4, 5] }))).toBe('200')
})

describe('a batch with `transactional: false`', () => {
  beforeEach(async () => {
    await open({ transactional: false })
  })
  const NONE = 'Bulk operation failed (nothing was written)'

  it.each([
    [
      'POST',
      { items: [{ title: 'a' }, {}, { title: 'b', slug: 's4' }, { title: 'c', parentId: 6 }, { title: 'd', fee: 1 }, { title: 'e' }] },
      [
        [1, 400],
        [2, 409],
        [3, 400],
        [4, 403],
      ],
    ],
    [
      'PATCH',
      {
        items: [
          { id: 1, data: { title: 'x' } },
          { id: 99, data: {} },
          { id: 2, data: { slug: 's4' } },
          { id: 3, data: { rank: -1 } },
          { id: 4, data: { title: 'y' } },
        ],
      },
      [
        [1, 404],
        [2, 409],
        [3, 400],
      ],
    ],
    [
      'DELETE',
      { ids: [4, 99, 7, 5] },
      [
        [1, 404],
        [2, 403],
      ],
    ],
  ])('writes each item in its own commit and lists the failed items in `meta.errors`: %s', async (method, body, errors) => {
    const answer = await world.send(method, 'posts/bulk', body)
    const total = Object.values(body)[0]!.length
    expect([answer.status, answer.body.data.length]).toEqual([200, total - errors.length])
    expect(answer.body.meta).toEqual({ total, successful: total - errors.length, failed: errors.length, errors: expect.anything() })
    expect(answer.body.meta.errors.map(({ index, statusCode }: { index: number, statusCode: number }) => [index, statusCode])).toEqual(
      errors,
    )
  })

  it.each([
    ['POST', { items: [{ title: 'a', fee: 1 }, {}] }, 403],
    ['POST', { items: [{ title: 'a', fee: 1 }, { title: 'b', slug: 's4' }] }, 403],
    ['POST', { items: [{ title: 'b', slug: 's4' }, { title: 'c', rank: -1 }] }, 409],
    ['PATCH', { items: [{ id: 99, data: {} }, { id: 7, data: {} }] }, 404],
    ['DELETE', { ids: [7, 99] }, 403],
  ])('returns the status of the first item when every item fails: %s %j', async (method, body, status) => {
    const answer = await world.send(method, 'posts/bulk', body)
    expect([answer.status, answer.body.message, answer.body.data.errors.length]).toEqual([status, NONE, 2])
    expect(world.dump()).toBe(dump)
  })

  it.each([
    ['posts/bulk', [1, 3, 4], 2],
    ['posts/bulk', [1, 2, 3], 1],
    ['nodes/bulk', [1, 3, 4], 0],
  ])(
    'reports rows that the cascade of an earlier item deleted as deleted, with the deletionId of that item: %s %j',
    async (path, ids, deletions) => {
      const { status, body } = await world.send('DELETE', path, { ids })
      expect([status, body.meta, body.data.map(({ id, deleted }: { id: number, deleted: boolean }) => deleted && id)]).toEqual([
        200,
        { total: 3, successful: 3, failed: 0 },
        ids,
      ])
      expect(new Set(body.data.map(({ deletionId }: { deletionId?: string }) => deletionId).filter(Boolean)).size).toBe(deletions)
    },
  )

  it('still restores and purges in one commit', async () => {
    const restored = await world.send('POST', 'posts/bulk/restore', { ids: [8, 1] })
    const purged = await world.send('DELETE', 'posts/bulk?force=true', { ids: [8, 99] })
    expect([restored.status, restored.body.message, purged.status, purged.body.message]).toEqual([404, NONE, 404, NONE])
    expect(world.dump()).toBe(dump)
  })
})
