/** Sends the requests of the section on upserts of the docs page `writing`, and compares the responses with those that it shows. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { projectsAuth } from './examples/auth'
import { projects, tasks } from './examples/schema'
import { openWorld, type World } from './world'

const page = readFileSync(fileURLToPath(new URL('../../../docs/2.guides/7.writing.md', import.meta.url)), 'utf8')
const section = page.slice(page.indexOf('## Create or update'), page.indexOf('## Bulk operations'))
const requests = [...section.matchAll(/^```http\n(\w+) \/api\/(\S+)\n\n([\s\S]*?)^```$/gm)]
  .map(([, method, path, body]) => [method!, path!, JSON.parse(body!) as object] as const)
const shown = JSON.parse(/^```json\n(.*?)^```$/ms.exec(section)![1]!) as { data: object[], meta: object }

let world: World
beforeAll(async () => {
  world = await openWorld({
    tables: { projects, tasks },
    resources: { projects: { authorization: projectsAuth } as Partial<ResourceRegistration> },
    rows: `create unique index projects_slug on projects (slug) where deleted_at is null;
      insert into projects (id, name, slug) values (1, 'One', 'one')`,
  })
})
afterAll(() => world.client.close())

it('create a project, then update it beside a new one', async () => {
  const caller = { user: { id: 1 }, permissions: ['projects:write'] }
  const answers = []
  for (const [method, path, body] of requests) answers.push(await world.send(method, path, body, caller))
  expect(answers.map(({ status, headers }) => [status, headers.get('location')])).toEqual([[201, '/api/projects/2'], [200, null]])
  const { data, meta } = answers[1]!.body
  expect([data.length, meta]).toEqual([2, { total: 2, successful: 2, failed: 0, created: 1, updated: 1 }])
  expect(data[0]).toMatchObject(shown.data[0]!)
})

it('answer a single item as the page shows', async () => {
  const items = [{ slug: 'harbour', name: 'New harbour' }]
  const { body } = await world.send('POST', 'projects/bulk?onConflict=slug', { items }, { user: { id: 1 }, permissions: ['projects:write'] })
  expect(body).toMatchObject(shown)
})
