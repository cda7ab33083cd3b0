/** Runs the examples of the docs page `batch`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../support/once'
import { CLERK, openShop } from './shop'

const page = readFileSync(join(root, 'docs/4.plugins/6.batch.md'), 'utf8')
/** The bodies of the page: of the request, of its response, and of the error. */
const [request, response, error] = [...page.matchAll(/^```(?:http|json)\n(?:POST .*\n\n)?([^`]+)```$/gm)].map(([, body]) => JSON.parse(body!))

it('saves an order with its lines', async () => {
  const shop = await openShop()
  const { status, body } = await shop.send('POST', 'batch', request, CLERK)
  expect([status, body]).toEqual([200, { ...response, data: response.data.map((record: object, index: number) =>
    index === 0 ? { ...record, deletedAt: null, deletionId: null } : record) }])
})

it('names the step that fails', async () => {
  const shop = await openShop()
  const steps = [request.steps[0], { resource: 'orders', operation: 'delete', id: 77 }]
  const { status, body } = await shop.send('POST', 'batch', { steps }, CLERK)
  expect([status, body.message, body.data]).toEqual([error.statusCode, error.message, error.data])
})
