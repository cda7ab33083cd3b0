/** The resource of the docs page `from-handlers` answers like the handlers that it replaces. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toRegistrations } from '../../../src/runtime/testing/api/resources'
import { createTablesSql } from '../../support/create-tables'
import { createServer, type TestServer } from '../../support/server'
import { client, db } from './handlers/database'
import * as schema from './handlers/schema'
import tasks from './handlers/tasks'

let server: TestServer
beforeAll(async () => {
  client.exec(await createTablesSql('sqlite', schema))
  for (let id = 1; id <= 50; id++) db.insert(schema.tasks).values({ id, title: `Task ${id}`, done: id % 3 === 0, ownerId: id % 2 + 1 }).run()
  server = await createServer({ db, modules: [schema], registrations: await toRegistrations({ tasks }), endpoints: async () => ({
    'GET /hand/tasks': (await import('./handlers/api/tasks.get')).default,
    'PATCH /hand/tasks/:id': (await import('./handlers/api/task.patch')).default,
  }) })
})
afterAll(() => client.close())

const caller = { user: { id: 1 } }

it.each([
  ['/tasks', '/tasks'],
  ['/tasks?page=2', '/tasks?page=2'],
  ['/tasks?done=true', '/tasks?filter[done]=true'],
])('lists the same for %s', async (byHand, generated) => {
  const [expected, actual] = [await server.request('GET', `/hand${byHand}`, { caller }), await server.request('GET', `/api${generated}`, { caller })]
  expect([actual.status, actual.body]).toEqual([200, expected.body])
  expect((await server.request('GET', `/hand${byHand}`)).status).toBe(401)
  expect((await server.request('GET', `/api${generated}`)).status).toBe(401)
})

it.each([
  ['a task of the caller', 2, { title: 'New' }, 200],
  ['a task of somebody else', 1, { title: 'New' }, 404],
  ['an empty title', 2, { title: '' }, 400],
])('changes the same: %s', async (_, id, body, status) => {
  for (const prefix of ['hand', 'api']) {
    const response = await server.request('PATCH', `/${prefix}/tasks/${id}`, { caller, body })
    expect([prefix, response.status]).toEqual([prefix, status])
    if (status === 200) expect(response.body).toEqual({ id: 2, title: 'New', done: false, ownerId: 1 })
  }
})
