/** Pages of one list share their total: it is counted once, until a write outdates it. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { TestServer } from '../../support/server'
import { createBoard, user, type Board } from './board'

const ANN = user(1, 'acme', 'editor')

/** A storage that several servers could share. */
function createStorage() {
  const values = new Map<string, unknown>()
  const driver = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: unknown) => void values.set(key, value),
  }
  return { getMount: () => ({ base: '', driver: driver as { name?: string } }) }
}

describe.each([['in memory', () => undefined], ['in a storage', createStorage]])('the total of a list, %s,', (_, createStorage) => {
  let board: Board
  let server: TestServer

  beforeEach(async () => {
    board = createBoard()
    server = await board.open({ reads: { posts: [], comments: ['members'] }, storage: createStorage() })
  })

  async function read(path: string, caller = ANN) {
    board.statements.length = 0
    const { status, body } = await server.request('GET', `/api/${path}`, { caller })
    expect(status).toBe(200)
    return { total: body.meta.total as number, counts: board.statements.filter(text => text.startsWith('select count(*)')).length }
  }
  const write = async (method: string, path: string, body?: unknown) =>
    expect((await server.request(method, `/api/${path}`, { caller: ANN, body })).status).toBeLessThan(300)

  it('is counted once for all pages, orders and fields', async () => {
    expect(await read('posts?limit=1')).toEqual({ total: 2, counts: 1 })
    expect(await read('posts?limit=1&page=2')).toEqual({ total: 2, counts: 0 })
    expect(await read('posts?sort=-title&fields=id')).toEqual({ total: 2, counts: 0 })
    expect(await read('posts?include=team,comments')).toEqual({ total: 2, counts: 0 })
  })

  it('is counted again for another filter, another value of it, and another caller', async () => {
    expect(await read('posts?filter={"id":{"$gt":1}}')).toEqual({ total: 1, counts: 1 })
    expect(await read('posts?filter={"id":{"$gt":2}}')).toEqual({ total: 0, counts: 1 })
    expect(await read('posts?filter={"title":"first"}')).toEqual({ total: 1, counts: 1 })
    expect(await read('posts?filter={"title":"first"}&limit=1', user(2, 'acme', 'editor'))).toEqual({ total: 1, counts: 1 })
    expect(await read('posts?filter={"title":"first"}&limit=1', user(1, 'globex', 'editor'))).toEqual({ total: 0, counts: 1 })
  })

  it('is counted again after a write to the table, a table of the filter, or a table of its rules', async () => {
    await read('posts?limit=1')
    await write('POST', 'posts', { title: 'new' })
    expect(await read('posts?limit=1&page=2')).toEqual({ total: 3, counts: 1 })
    await read('posts?filter={"comments":{"text":"one"}}&limit=1')
    await write('DELETE', 'comments/1')
    expect(await read('posts?filter={"comments":{"text":"one"}}&limit=2')).toEqual({ total: 0, counts: 1 })
    await read('posts?filter={"notes":{"$count":{"$gte":2}}}&limit=1')
    await write('POST', 'notes', { text: 'new', postId: 1 })
    expect(await read('posts?filter={"notes":{"$count":{"$gte":2}}}&limit=2')).toEqual({ total: 1, counts: 1 })
    expect(await read('comments?limit=1')).toEqual({ total: 1, counts: 1 })
    await write('POST', 'members', { userId: 1, teamId: 2 })
    expect(await read('comments?limit=2')).toEqual({ total: 2, counts: 1 })
  })

  it('is kept when a write changes another table', async () => {
    await read('posts?limit=1')
    await write('PATCH', 'tags/1', { name: 'x' })
    expect(await read('posts?limit=1&page=2')).toEqual({ total: 2, counts: 0 })
  })

  it('of the records of a link is counted each time, because the links change it too', async () => {
    expect(await read('tags/1/relations/posts?limit=1')).toEqual({ total: 2, counts: 1 })
    expect(await read('tags/1/relations/posts?limit=1&page=2')).toEqual({ total: 2, counts: 1 })
  })
})
