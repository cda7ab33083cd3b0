/** Sends the requests of the docs page `nested`. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lines, orders, orderTags, tags } from './examples/nested/schema'
import { openWorld, type World } from './world'

const page = readFileSync(fileURLToPath(new URL('../../../docs/2.guides/8.nested.md', import.meta.url)), 'utf8')
const requests = [...page.matchAll(/^```http\n(\w+) \/api\/(\S+)\n\n([\s\S]*?)^```$/gm)]
  .map(([, method, path, body]) => [method!, path!, JSON.parse(body!) as object] as const)
let world: World
beforeAll(async () => {
  world = await openWorld({
    tables: { orders, lines, tags, orderTags },
    resources: { orders: { nested: { lines: ['create', 'update', 'delete'], tags: ['link', 'unlink'] } }, orderTags: false },
    rows: `insert into tags values (2, 'urgent'), (3, 'export'), (5, 'paid')`,
  })
})
afterAll(() => world.client.close())

it('create an order with its lines, and change both and its tags', async () => {
  const answers = []
  for (const [method, path, body] of requests) answers.push(await world.send(method, path, body))
  expect(answers.map(({ status, body }) => [status, body.title])).toEqual([[201, 'For the harbour'], [200, 'For the new harbour'], [200, 'For the new harbour']])
  expect(world.rows('select position, text from lines order by position')).toEqual([[1, 'Chain'], [2, 'Large anchor']])
  expect(world.rows('select order_id, tag_id from order_tags order by tag_id')).toEqual([[1, 2], [1, 5]])
})

it('show an issue with its whole path', async () => {
  const shown = JSON.parse(/^```json\n(.*?)^```$/ms.exec(page)![1]!) as object
  const create = [{ position: 1, text: 'a' }, { position: 'x', text: 'b' }]
  const { body } = await world.send('POST', 'orders', { title: 'x', lines: { create } })
  expect(body.data.issues).toEqual([shown])
})
