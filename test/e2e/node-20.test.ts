/** A built server runs on the oldest supported Node, whichever Node built it. */
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findNode20 } from '../support/node-20'
import { buildFixture } from './support/build'
import { startServer, type Server } from './support/server'

let node: string
let server: Server
beforeAll(async () => {
  node = findNode20()
  server = await startServer(await buildFixture('libsql'), { node })
})
afterAll(() => server?.stop())

describe('a built server on Node 20', () => {
  it('is started with Node 20', () => {
    expect(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout).toMatch(/^v20\./)
  })

  it('creates, lists, reads and updates over HTTP', async () => {
    const created = await server.request('/api/books', { method: 'POST', body: { title: 'Emma' } })
    expect(created).toMatchObject({ status: 201, body: { id: 1, title: 'Emma' } })
    const batch = await server.request('/api/books/bulk', {
      method: 'POST',
      body: { items: [{ title: 'Villette' }, { title: 'Middlemarch' }] },
    })
    expect(batch).toMatchObject({ status: 200, body: { meta: { successful: 2 } } })
    expect(await server.request('/api/books/1', { method: 'PATCH', body: { title: 'Persuasion' } })).toMatchObject({
      status: 200,
      body: { id: 1, title: 'Persuasion' },
    })
    const list = await server.request('/api/books?sort=-title&limit=2&filter[title][$like]=i')
    expect(list).toMatchObject({
      status: 200,
      body: { data: [{ title: 'Villette' }, { title: 'Persuasion' }], meta: { page: 1, limit: 2, total: 3 } },
    })
    const next = await server.request('/api/books?cursor=&sort=title&limit=1')
    expect(next.body).toMatchObject({ data: [{ title: 'Middlemarch' }], meta: { hasMore: true } })
    expect((await server.request(`/api/books?sort=title&limit=1&cursor=${next.body.meta.nextCursor}`)).body.data).toMatchObject([
      { title: 'Persuasion' },
    ])
  })

  it('refuses an invalid body, and does not return the cause of a 500', async () => {
    expect(await server.request('/api/books', { method: 'POST', body: { titel: 'Emma' } })).toMatchObject({
      status: 400,
      body: { data: { code: expect.any(String) } },
    })
    const { status, body } = await server.request('/api/notes')
    expect(status).toBe(500)
    expect(JSON.stringify(body)).not.toMatch(/no such table|drizzle-kit|cause/)
  })
})
