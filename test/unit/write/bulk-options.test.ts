/** Guards the options of the bulk routes: closed, bounded, or each item alone. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { before, openBatch } from './batch'
import { told, type World } from './world'

const { bulk } = DEFAULT_CONFIG
let world: World
let dump: string
const open = async (options: Partial<typeof bulk>) => {
  world = await openBatch({ config: { bulk: { ...bulk, ...options } } })
  before.mockReset()
  dump = world.dump()
}
afterEach(() => world.client.close())

it.each([['POST', 'bulk', { items: [{ title: 'a' }] }], ['PATCH', 'bulk', { items: [{ id: 1, data: {} }] }], ['DELETE', 'bulk', { ids: [1] }], ['POST', 'bulk/restore', { ids: [8] }], ['POST', 'bulk/restore', { deletionId: 'd8' }], ['DELETE', 'bulk?force=true', { ids: [8] }]])('`enabled: false` closes %s %s', async (method, path, body) => {
  await open({ enabled: false })
  expect(told(await world.ask(method, `posts/${path}`, body))).toBe('400 INVALID_BODY')
  expect(world.dump()).toBe(dump)
})

it('`maxBatchSize` bounds the items', async () => {
  await open({ maxBatchSize: 2 })
  expect(told(await world.ask('DELETE', 'posts/bulk', { ids: [1, 4, 5] }))).toBe('400 LIMIT_EXCEEDED')
  expect(told(await world.ask('DELETE', 'posts/bulk', { ids: [4, 5] }))).toBe('200')
})

describe('`transactional: false`', () => {
  beforeEach(async () => {
    await open({ transactional: false })
  })
  const NONE = 'Bulk operation failed (nothing was written)'

  it.each([
    ['POST', { items: [{ title: 'a' }, {}, { title: 'b', slug: 's4' }, { title: 'c', parentId: 6 }, { title: 'd', fee: 1 }, { title: 'e' }] }, [[1, 400], [2, 409], [3, 400], [4, 403]]],
    ['PATCH', { items: [{ id: 1, data: { title: 'x' } }, { id: 99, data: {} }, { id: 2, data: { slug: 's4' } }, { id: 3, data: { rank: -1 } }, { id: 4, data: { title: 'y' } }] }, [[1, 404], [2, 409], [3, 400]]],
    ['DELETE', { ids: [4, 99, 7, 5] }, [[1, 404], [2, 403]]],
  ])('writes each item alone, and tells in `meta.errors` which were not: %s', async (method, body, errors) => {
    const answer = await world.ask(method, 'posts/bulk', body)
    const total = Object.values(body)[0]!.length
    expect([answer.status, answer.body.data.length]).toEqual([200, total - errors.length])
    expect(answer.body.meta).toEqual({ total, successful: total - errors.length, failed: errors.length, errors: expect.anything() })
    expect(answer.body.meta.errors.map(({ index, statusCode }: { index: number, statusCode: number }) => [index, statusCode])).toEqual(errors)
  })

  it.each([
    ['POST', { items: [{ title: 'a', fee: 1 }, {}] }, 403],
    ['POST', { items: [{ title: 'a', fee: 1 }, { title: 'b', slug: 's4' }] }, 403],
    ['POST', { items: [{ title: 'b', slug: 's4' }, { title: 'c', rank: -1 }] }, 409],
    ['PATCH', { items: [{ id: 99, data: {} }, { id: 7, data: {} }] }, 404],
    ['DELETE', { ids: [7, 99] }, 403],
  ])('answers with the first item\'s status where none succeeds: %s %j', async (method, body, status) => {
    const answer = await world.ask(method, 'posts/bulk', body)
    expect([answer.status, answer.body.message, answer.body.data.errors.length]).toEqual([status, NONE, 2])
    expect(world.dump()).toBe(dump)
  })

  it.each([['posts/bulk', [1, 3, 4], 2], ['posts/bulk', [1, 2, 3], 1], ['nodes/bulk', [1, 3, 4], 0]])('counts as deleted what an earlier item took along, under its deletionId: %s %j', async (path, ids, deletions) => {
    const { status, body } = await world.ask('DELETE', path, { ids })
    expect([status, body.meta, body.data.map(({ id, deleted }: { id: number, deleted: boolean }) => deleted && id)]).toEqual([200, { total: 3, successful: 3, failed: 0 }, ids])
    expect(new Set(body.data.map(({ deletionId }: { deletionId?: string }) => deletionId).filter(Boolean)).size).toBe(deletions)
  })

  it('is not for restore and purge: they are done as a whole', async () => {
    const restored = await world.ask('POST', 'posts/bulk/restore', { ids: [8, 1] })
    const purged = await world.ask('DELETE', 'posts/bulk?force=true', { ids: [8, 99] })
    expect([restored.status, restored.body.message, purged.status, purged.body.message]).toEqual([404, NONE, 404, NONE])
    expect(world.dump()).toBe(dump)
  })
})
