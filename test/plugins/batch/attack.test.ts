/** Requests that try to make a batch expensive, or to learn from it what single requests do not tell. */
import { beforeEach, describe, expect, it } from 'vitest'
import { batch } from '../../../src/runtime/plugins'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import type { World } from '../../scenarios/write/world'
import { CLERK, create, openShop, ref, remove, STAFF, update } from './shop'

let shop: World
beforeEach(async () => {
  shop = await openShop()
})
const send = (steps: unknown, caller = CLERK, world = shop) => world.send('POST', 'batch', { steps }, caller)
const time = async (run: () => Promise<unknown>) => {
  const start = performance.now()
  await run()
  return performance.now() - start
}

describe('the response', () => {
  it('contains only keys if the records of all steps are larger than `maxResponseSize`', async () => {
    const small = await openShop({ config: { http: { ...DEFAULT_CONFIG.http, maxResponseSize: 2000 } } })
    const steps = [...Array.from({ length: 3 }, (_, index) => create('orders', { number: `B${index}`, note: 'x'.repeat(900) })), remove('lines', 1)]
    const { status, body } = await send(steps, CLERK, small)
    expect([status, body.data]).toEqual([200, [{ id: 4 }, { id: 5 }, { id: 6 }, { success: true, softDeleted: false }]])
  })

  it('of a refused batch is short, whatever the steps contain', async () => {
    const steps = Array.from({ length: 100 }, () =>
      update('orders', 'x'.repeat(1000), Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`${'y'.repeat(500)}${index}`, 1]))))
    const { status, text } = await send(steps)
    expect([status, text.length < 100_000]).toEqual([404, true])
    const invalid = await send(steps.map(step => ({ ...step, id: 1 })))
    expect([invalid.status, invalid.text.length < 100_000]).toEqual([400, true])
  })
})

describe('names', () => {
  it('of prototypes are names like any other', async () => {
    const { status, body } = await send([
      create('orders', { number: 'B1', note: 'kept' }, '__proto__'), create('lines', { orderId: ref('__proto__.id'), text: ref('__proto__.note') }),
      create('orders', { number: 'B2' }, 'constructor'), update('orders', ref('constructor.id'), { note: 'x' }),
    ])
    expect([status, body.data[1].text, body.data[3].number]).toEqual([200, 'kept', 'B2'])
    for (const $ref of ['order.constructor', 'order.toString', 'toString.id', 'hasOwnProperty.call']) {
      const refused = await send([create('orders', { number: 'B3' }, 'order'), create('lines', { orderId: ref($ref), text: 'x' })])
      expect([refused.status, refused.body.data.errors.map(({ step }: { step: number }) => step)]).toEqual([400, [1]])
    }
  })

  it('of `__proto__` in a step or its data have no effect', async () => {
    const raw = (steps: string) => shop.request('POST', '/api/batch', { raw: `{"steps":${steps}}`, headers: { 'content-type': 'application/json' }, caller: CLERK })
    const answers = [
      await raw('[{"resource":"orders","operation":"create","data":{"number":"B1","__proto__":{"margin":5}}}]'),
      await raw('[{"resource":"orders","operation":"create","data":{"number":"B1"},"__proto__":{"as":"x"}}]'),
      await raw('[{"resource":"orders","operation":"create","data":{"number":"B1","note":{"__proto__":null,"$ref":"x.id"}}}]'),
    ]
    expect([answers.map(({ status }) => status), shop.rows('select count(*) from orders')]).toEqual([[400, 400, 400], [3]])
    expect(({} as { margin?: number }).margin).toBeUndefined()
  })
})

describe('time', () => {
  it('of a batch grows with its steps, also if they all refer to each other or all conflict', async () => {
    const chain = Array.from({ length: 100 }, (_, index) =>
      create('orders', { number: `C${index}`, note: index === 0 ? 'x' : ref(`o${index - 1}.note`) }, `o${index}`))
    const fan = Array.from({ length: 99 }, (_, index) => create('lines', { orderId: ref('order.id'), text: `${index}` }))
    const conflicts = Array.from({ length: 100 }, () => create('orders', { number: 'same' }))
    const late = [create('orders', { number: 'D' }, 'order'), ...Array.from({ length: 98 }, (_, index) =>
      update('orders', ref('order.id'), { note: `${index}` })), create('orders', { number: 'A1' })]
    const times = [
      await time(() => send(chain)), await time(() => send([create('orders', { number: 'F' }, 'order'), ...fan])),
      await time(() => send(conflicts)), await time(() => send(late)),
    ]
    for (const milliseconds of times) expect(milliseconds).toBeLessThan(20_000)
  }, 120_000)
})

describe('a caller learns nothing', () => {
  it('of the values of a hidden record by a reference or a conflict that a single request does not disclose', async () => {
    shop.client.exec(`insert into labels values ('hidden', 'secret')`)
    const seen = await Promise.all(['hidden', 'missing'].map(async (id) => {
      const answers = [
        await send([update('labels', id, { name: 'x' })], STAFF), await send([create('orders', { number: 'G' }), remove('labels', id)], STAFF),
        await send([create('pins', { labelId: id })], STAFF), await send([create('orders', { number: 'G' }), create('pins', { labelId: id })], STAFF),
        await send([update('labels', id, {}, { as: 'label' }), create('labels', { name: ref('label.name') })], STAFF),
      ]
      return answers.map(({ status, body }) => JSON.stringify([status, body.data]).replaceAll(id, 'ID'))
    }))
    expect(seen[0]).toEqual(seen[1])
  })

  it('more from a batch with `maxSteps` than from one with fewer steps', async () => {
    const few = await openShop({ plugins: [batch({ maxSteps: 2 })] })
    expect((await send([remove('lines', 1), remove('lines', 1)], CLERK, few)).status).toBe(404)
    expect((await send([remove('lines', 1), remove('lines', 1), remove('lines', 1)], CLERK, few)).body.data.code).toBe('LIMIT_EXCEEDED')
  })
})
