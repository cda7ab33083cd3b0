/** What a batch does: its hooks, its references, the rules in code, and what other plugins make of it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { batch, rateLimit } from '../../../src/runtime/plugins'
import type { ResourceHooks } from '../../../src/runtime/server/registration'
import type { World } from '../../scenarios/write/world'
import { CLERK, create, judge, openShop, recording, ref, remove, restore, seen, STAFF, update } from './shop'

let shop: World
beforeEach(async () => {
  shop = await openShop()
  judge.mockClear()
})
afterEach(() => vi.restoreAllMocks())

const send = (steps: unknown, caller = CLERK, world = shop) => world.send('POST', 'batch', { steps }, caller)
const errors = (body: { data: { errors?: { step: number, code: string, message: string }[] } }) =>
  body.data.errors?.map(({ step, code, message }) => `${step}: ${code} ${message}`)

/** A shop whose orders have further hooks. */
const openHooked = (hooks: object) =>
  openShop({ resources: { orders: { hooks: { ...recording('orders'), ...hooks } as ResourceHooks } } })

describe('hooks', () => {
  it('all before-hooks run, then the commit, then all after-hooks, each in the order of the steps', async () => {
    const counts: unknown[] = []
    const count = (name: string) => () => void counts.push([name, shop.rows('select count(*) from orders')[0]])
    shop = await openHooked({ beforeCreate: count('before'), afterCreate: count('after') })
    const before = Number(shop.rows('select count(*) from orders')[0])
    await send([
      create('orders', { number: 'B1' }), create('lines', { orderId: 1, text: 'x' }), create('orders', { number: 'B2' }),
      update('lines', 1, { text: 'y' }), remove('orders', 2),
    ])
    expect(counts).toEqual([['before', before], ['before', before], ['after', before + 2], ['after', before + 2]])
    expect(seen.map(([resource, name]) => `${String(resource)} ${String(name)}`)).toEqual([
      'lines beforeCreate', 'lines beforeUpdate', 'orders beforeDelete', 'lines afterCreate', 'lines afterUpdate', 'orders afterDelete',
    ])
  })

  it('no before-hook runs for a record that the caller cannot see, whatever the earlier steps do', async () => {
    const before = [create('orders', { number: 'B1' }, 'order'), update('orders', 1, { note: 'x' }), restore('orders', 3), remove('orders', 2)]
    for (const step of [update('orders', 77, { note: 'x' }), remove('orders', 77), restore('orders', 77), remove('lines', 77)]) {
      seen.length = 0
      const { status, body } = await send([...before, step])
      expect([status, errors(body)?.length, seen]).toEqual([404, 1, []])
    }
  })

  it('run for a record that an earlier step creates, restores or deletes', async () => {
    const { status, body } = await send([
      create('seats', { room: 'blue', place: 2, guest: 'x' }), update('seats', 'blue,2', { guest: 'y' }),
      restore('orders', 3), update('orders', 3, { note: 'restored' }), remove('orders', 2), restore('orders', 2),
    ])
    expect([status, body.data.at(1).guest, body.data.at(3).note, body.data.at(5).id]).toEqual([200, 'y', 'restored', 2])
  })

  it('a before-hook sees a referenced value that is known, and not one that the database generates', async () => {
    await send([
      create('orders', { number: 'B1' }, 'order'),
      create('lines', { orderId: ref('order.id'), text: ref('order.number') }),
      update('orders', 1, { note: 'x' }, { as: 'first' }),
      create('lines', { orderId: ref('first.id'), text: ref('first.note') }, 'line'),
      update('orders', ref('first.id'), { note: 'y' }),
      update('lines', ref('line.id'), { text: 'z' }),
      remove('orders', ref('first.id')),
    ])
    expect(seen.filter(([, name]) => String(name).startsWith('before')).slice(1)).toEqual([
      ['lines', 'beforeCreate', { text: 'B1' }],
      ['orders', 'beforeUpdate', 1, { note: 'x' }],
      ['lines', 'beforeCreate', { orderId: 1, text: 'x' }],
      ['orders', 'beforeUpdate', 1, { note: 'y' }],
      ['lines', 'beforeUpdate', undefined, { text: 'z' }],
      ['orders', 'beforeDelete', 1],
    ])
  })

  it('a value that a before-hook sets decides, for the step and for references to it', async () => {
    shop = await openHooked({ beforeCreate: (data: { number: string }) => ({ ...data, number: `${data.number}!` }) })
    const { status, body } = await send([
      create('orders', { number: 'B1' }, 'order'), create('orders', { number: 'B2', note: ref('order.number') }),
    ])
    expect([status, body.data.map(({ number, note }: { number: string, note: unknown }) => [number, note])])
      .toEqual([200, [['B1!', null], ['B2!', 'B1!']]])
  })

  it('a before-hook can replace a referenced value, and leave it out', async () => {
    const hooks = (change: (data: object) => object) => openShop({ resources: { lines: { hooks: { beforeCreate: change } as never } } })
    const steps = [create('orders', { number: 'B1' }, 'order'), create('lines', { orderId: ref('order.id'), text: 'x', amount: 5 })]
    shop = await hooks(data => ({ ...data, orderId: 2 }))
    expect((await send(steps)).body.data[1]).toMatchObject({ orderId: 2 })
    shop = await hooks(() => ({ text: 'only', orderId: 1 }))
    expect((await send(steps)).body.data[1]).toMatchObject({ orderId: 1, text: 'only', amount: null })
  })

  it('an error of a before-hook refuses all steps', async () => {
    shop = await openHooked({ beforeUpdate: () => {
      throw new Error('internal')
    } })
    const [before, logged] = [shop.dump(), vi.spyOn(console, 'error').mockImplementation(() => {})]
    const { status, body } = await send([create('orders', { number: 'B1' }), update('orders', 1, { note: 'x' })])
    expect([status, errors(body), shop.dump()]).toEqual([500, ['1: undefined Something went wrong.'], before])
    expect([seen.some(([, name]) => name === 'afterCreate'), logged.mock.calls.length > 0]).toEqual([false, true])
  })

  it('an error of an after-hook is the response, all after-hooks run, and the steps are written, as for single writes', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    shop = await openHooked({ afterUpdate: () => {
      throw new Error('internal')
    } })
    const single = await shop.send('PATCH', 'orders/1', { note: 'x' }, CLERK)
    seen.length = 0
    const { status, text } = await send([update('orders', 1, { note: 'y' }), create('lines', { orderId: 1, text: 'x' })])
    const known = (text: string) => JSON.stringify({ ...JSON.parse(text), stack: undefined, url: undefined })
    expect([status, known(text)]).toEqual([single.status, known(single.text)])
    expect([shop.rows('select note from orders where id = 1'), seen.at(-1)?.[1]]).toEqual([['y'], 'afterCreate'])
  })

  it('a condition of a before-hook holds for the record as the earlier steps leave it', async () => {
    const { sql } = await import('drizzle-orm')
    shop = await openHooked({ beforeUpdate: (_id: unknown, data: { note?: string }, ctx: { condition?: unknown }) => {
      if (data.note === 'second') ctx.condition = sql`note = 'first'`
    } })
    const second = update('orders', 1, { note: 'second' })
    expect((await send([second])).status).toBe(412)
    expect((await send([update('orders', 2, { note: 'x' }), second])).body.data.errors).toMatchObject([{ step: 1, statusCode: 412 }])
  })
})

describe('references', () => {
  it('to keys that the server makes are text ids in all steps', async () => {
    const { status, body } = await send([
      create('labels', { name: 'new' }, 'label'), create('pins', { labelId: ref('label.id') }), update('labels', ref('label.id'), { name: 'renamed' }),
    ])
    const [label, pin, renamed] = body.data
    expect([status, pin.labelId, renamed]).toEqual([200, label.id, { id: label.id, name: 'renamed' }])
    expect(label.id).toMatch(/^[\da-f-]{36}$/)
  })

  it('delete a record whose id the server makes', async () => {
    const before = shop.dump()
    const { status, body } = await send([create('labels', { name: 'new' }, 'label'), remove('labels', ref('label.id'))], STAFF)
    expect([status, body.data?.[1], shop.dump()]).toEqual([200, { success: true, softDeleted: false }, before])
  })

  it('pass values on through a chain of 100 steps', async () => {
    const steps = Array.from({ length: 100 }, (_, index) =>
      create('orders', { number: `C${index}`, note: index === 0 ? 'first' : ref(`o${index - 1}.note`) }, `o${index}`))
    const { status, body } = await send(steps)
    expect([status, body.data?.at(-1).note]).toEqual([200, 'first'])
  })

  it('to fields of a record whose row the database fills', async () => {
    const { status, body } = await send([
      update('orders', 1, { note: 'x' }, { as: 'order' }), create('lines', { orderId: 1, text: ref('order.number') }),
      restore('orders', 3, { as: 'restored' }), create('lines', { orderId: ref('restored.id'), text: ref('restored.number') }),
    ])
    expect([status, body.data?.[1].text, body.data?.[3]]).toEqual([200, 'A1', expect.objectContaining({ orderId: 3, text: 'A3' })])
  })
})

describe('records that a rule in code judges', () => {
  it('can each be written by one step', async () => {
    const { status, body } = await send([update('notes', 1, { text: 'x' }), update('notes', 1, { text: 'y' })])
    expect([status, errors(body)]).toEqual([400, ['1: INVALID_BODY A rule in code judges this record of `notes`. Write it in one step.']])
    expect((await send([update('notes', 1, { text: 'x' }), create('notes', { text: 'y' })])).status).toBe(200)
  })

  it('are judged as they are when the step names them by a reference', async () => {
    const { status } = await send([create('noteLinks', { noteId: 1 }, 'link'), update('notes', ref('link.noteId'), { text: 'x' })])
    expect([status, shop.rows('select text from notes where id = 1')]).toEqual([200, ['x']])
    const refused = await send([create('noteLinks', {}, 'link'), update('notes', ref('link.noteId'), { text: 'x' })])
    expect([refused.status, errors(refused.body)]).toEqual([404, [expect.stringContaining('1: NOT_FOUND')]])
  })

  it('cannot be referred to if the batch creates them', async () => {
    const before = shop.dump()
    for (const step of [create('noteLinks', { noteId: ref('note.id') }), update('notes', ref('note.id'), { text: 'y' })]) {
      const { status, body } = await send([create('notes', { text: 'x' }, 'note'), step])
      expect([status >= 400, body.data.errors.map(({ step }: { step: number }) => step), shop.dump()]).toEqual([true, [1], before])
    }
  })
})

describe('a rate limit', () => {
  it('counts the request once for each operation, and a body that is no batch once', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    const limited = (operations: readonly string[]) => openShop({ plugins: [
      rateLimit({ limit: 100, window: 3600, operations: Object.fromEntries(operations.map(name => [name, { limit: 2 }])) }), batch(),
    ] })
    const steps = [create('lines', { orderId: 1, text: 'x' }), create('lines', { orderId: 1, text: 'y' }), update('lines', 1, { text: 'z' })]
    const statuses = async (operations: readonly string[], body: unknown) => {
      shop = await limited(operations)
      const answers = []
      for (let index = 0; index < 3; index++) answers.push((await shop.send('POST', 'batch', body, CLERK)).status)
      return answers
    }
    expect(await statuses(['create'], { steps })).toEqual([200, 200, 429])
    expect(await statuses(['update'], { steps })).toEqual([200, 200, 429])
    expect(await statuses(['delete'], { steps })).toEqual([200, 200, 200])
    expect(await statuses(['create'], { steps: [] })).toEqual([400, 400, 429])
  })
})
