/** A batch whose commit fails, while other requests change its records: the errors name the steps that failed, and why. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { World } from '../../scenarios/write/world'
import { CLERK, create, openShop, update } from './shop'

let world: World
/** Runs after the statement, and after its transaction. */
let afterUpdate: ((count: number) => void) | undefined
afterEach(() => {
  afterUpdate = undefined
  vi.restoreAllMocks()
  world.client.close()
})

async function open(hooks?: object): Promise<string> {
  let updates = 0
  world = await openShop({ ...hooks && { resources: { orders: { hooks } } }, log: (statement) => {
    const count = statement.startsWith('update "orders"') ? ++updates : 0
    if (count > 0) queueMicrotask(() => afterUpdate?.(count))
  } })
  return (await world.request('GET', '/api/orders/1', { caller: CLERK })).headers.get('etag')!
}

const change = (id: number) => world.client.exec(`update orders set note = 'theirs' where id = ${id}`)

async function failuresOf(steps: readonly object[]): Promise<readonly string[]> {
  const { body } = await world.send('POST', 'batch', { steps }, CLERK)
  return body.data.errors.map(({ step, statusCode, code }: Record<string, unknown>) => `${step}: ${statusCode} ${code}`)
}

describe('a batch that fails', () => {
  it('reports a record that changes while the failed steps are searched for, and not the steps after it', async () => {
    const ifMatch = await open()
    // The first statement is that of the commit, the second one tries the step again.
    afterUpdate = count => count === 2 && change(1)
    const mine = { note: 'mine' }
    const steps = [update('orders', 1, mine, { ifMatch }), create('orders', { number: 'A2' }), update('orders', 2, mine)]
    expect(await failuresOf(steps)).toEqual(['0: 412 PRECONDITION_FAILED', '1: 409 CONFLICT'])
    expect(world.rows('select note from orders where id < 3')).toEqual(['theirs', null])
  })

  it('reports a tag that no longer matches when the search has taken too long', async () => {
    const ifMatch = await open({ beforeUpdate: () => change(1) })
    let now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now += 6_000)
    expect(await failuresOf([update('orders', 2, { note: 'mine' }), update('orders', 1, { note: 'mine' }, { ifMatch })]))
      .toEqual(['1: 412 PRECONDITION_FAILED'])
  })
})
