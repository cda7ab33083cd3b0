/** Sends the requests of docs/nested.md. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lines, orders } from './examples/nested/schema'
import { openWorld, type World } from './world'

const page = readFileSync(fileURLToPath(new URL('../../../docs/nested.md', import.meta.url)), 'utf8')
const requests = [...page.matchAll(/^```http\n(\w+) \/api\/(\S+)\n\n([\s\S]*?)^```$/gm)]
  .map(([, method, path, body]) => [method!, path!, JSON.parse(body!) as object] as const)
let world: World
beforeAll(async () => {
  world = await openWorld({ tables: { orders, lines }, resources: { orders: { nested: { lines: ['create', 'update', 'delete'] } } } })
})
afterAll(() => world.client.close())

it('create an order with its lines, and change both', async () => {
  const answers = []
  for (const [method, path, body] of requests) answers.push(await world.send(method, path, body))
  expect(answers.map(({ status, body }) => [status, body.title])).toEqual([[201, 'For the harbour'], [200, 'For the new harbour']])
  expect(world.rows('select position, text from lines order by position')).toEqual([[1, 'Chain'], [2, 'Large anchor']])
})

it('show an issue with its whole path', async () => {
  const shown = JSON.parse(/^```json\n(.*?)^```$/ms.exec(page)![1]!) as object
  const create = [{ position: 1, text: 'a' }, { position: 'x', text: 'b' }]
  const { body } = await world.send('POST', 'orders', { title: 'x', lines: { create } })
  expect(body.data.issues).toEqual([shown])
})
