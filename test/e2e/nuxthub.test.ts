/** An app with the database of NuxtHub needs neither a server plugin nor the path of its schema. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildFixture } from './support/build'
import { startServer, type Server } from './support/server'

let server: Server
beforeAll(async () => {
  server = await startServer(await buildFixture('hub'))
})
afterAll(() => server?.stop())

it.each(['posts', 'drafts', 'notes', 'tags'])('finds the table of a resource, however its file imports it: %s', async (name) => {
  const { status, body } = await server.request(`/api/${name}`)
  expect([status, Array.isArray(body.data)]).toEqual([200, true])
})

it('writes and reads in the database of the hub, with its migrations', async () => {
  const title = `written at ${Date.now()}`
  const { status, body } = await server.request('/api/posts', { method: 'POST', body: { title } })
  expect([status, body.title]).toEqual([201, title])
  expect((await server.request(`/api/posts?filter={"title":"${title}"}`)).body.data).toEqual([{ id: body.id, title }])
})

it('applies rules that name a table of the hub', async () => {
  const { body } = await server.request('/api/posts', { method: 'POST', body: { title: 'hidden' } })
  expect((await server.request(`/api/posts/${body.id}`)).status).toBe(404)
})

it('knows a junction table of the hub that nobody registers', async () => {
  const { status, body } = await server.request('/api/posts?include=tags&limit=1')
  expect([status, body.data[0]?.tags]).toEqual([200, []])
})
