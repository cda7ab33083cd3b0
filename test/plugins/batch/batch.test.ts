/** What `POST /batch` refuses: the status, the step that the error names, and that nothing is written and no hook runs. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { batch } from '../../../src/runtime/plugins'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { openStats } from '../../scenarios/views/stats'
import type { World } from '../../scenarios/write/world'
import { CLERK, create, openShop, ref, remove, restore, seen, STAFF, update } from './shop'

let shop: World
beforeAll(async () => {
  shop = await openShop()
})

let before: string
beforeEach(() => {
  shop.reset()
  before = shop.dump()
  seen.length = 0
})
afterEach(() => expect(seen.filter(([, name]) => String(name).startsWith('after'))).toEqual([]))

const send = (steps: unknown, caller = CLERK) => shop.send('POST', 'batch', { steps }, caller)

/** The error of each step that failed: `1: 404 NOT_FOUND`. */
const failures = (body: { data: { errors?: { step: number, statusCode: number, code: string }[] } }) =>
  body.data.errors?.map(({ step, statusCode, code }) => `${step}: ${statusCode} ${code}`)

const ORDER = create('orders', { number: 'B1' }, 'order')

describe('a body that is no batch is refused before any step', () => {
  it.each<[string, unknown, string, string?]>([
    ['no object', [], 'INVALID_BODY'],
    ['a text', 'steps', 'INVALID_BODY'],
    ['without steps', {}, 'INVALID_BODY', '`steps` is a list that is not empty.'],
    ['with no steps', { steps: [] }, 'INVALID_BODY', '`steps` is a list that is not empty.'],
    ['whose steps are no list', { steps: { 0: ORDER } }, 'INVALID_BODY', '`steps` is a list that is not empty.'],
    ['with 101 steps', { steps: Array.from({ length: 101 }, () => ORDER) }, 'LIMIT_EXCEEDED', 'more than 100 steps'],
    ['with another key', { steps: [ORDER], dryRun: true }, 'INVALID_BODY', '"dryRun" is not a key of a batch.'],
    ['a step that is no object', { steps: [ORDER, 'create'] }, 'INVALID_BODY', '`steps[1]`: a step is an object.'],
    ['a step that is null', { steps: [null] }, 'INVALID_BODY', '`steps[0]`: a step is an object.'],
    ['a step that is a list', { steps: [[ORDER]] }, 'INVALID_BODY', '`steps[0]`'],
    ['a step without a resource', { steps: [{ operation: 'create', data: {} }] }, 'INVALID_BODY', '`resource`'],
    ['a step whose resource is a number', { steps: [{ ...ORDER, resource: 1 }] }, 'INVALID_BODY', '`resource`'],
    ['an unknown operation', { steps: [{ ...ORDER, operation: 'creat' }] }, 'INVALID_BODY', 'Did you mean `create`?'],
    ['the operation `purge`', { steps: [remove('orders', 1, { operation: 'purge' })] }, 'INVALID_BODY', '`operation` is one of'],
    ['the operation `__proto__`', { steps: [{ ...ORDER, operation: '__proto__' }] }, 'INVALID_BODY', '`operation` is one of'],
    ['no operation', { steps: [{ resource: 'orders', data: {} }] }, 'INVALID_BODY', '`operation` is one of'],
    ['an unknown key of a step', { steps: [ORDER, update('orders', 1, {}, { ifmatch: '*' })] }, 'INVALID_BODY', '"ifmatch" is not a key'],
    ['a key of another operation', { steps: [remove('orders', 1, { data: {} })] }, 'INVALID_BODY', '"data" is not a key'],
    ['an id of a create', { steps: [{ ...ORDER, id: 1 }] }, 'INVALID_BODY', '"id" is not a key'],
    ['a name of a delete', { steps: [remove('orders', 1, { as: 'gone' })] }, 'INVALID_BODY', '"as" is not a key'],
    ['no data of a create', { steps: [{ resource: 'orders', operation: 'create' }] }, 'INVALID_BODY', '`data` is missing'],
    ['no data of an update', { steps: [{ resource: 'orders', operation: 'update', id: 1 }] }, 'INVALID_BODY', '`data` is missing'],
    ['no id of an update', { steps: [{ resource: 'orders', operation: 'update', data: {} }] }, 'INVALID_BODY', '`id` is missing'],
    ['no id of a restore', { steps: [{ resource: 'orders', operation: 'restore' }] }, 'INVALID_BODY', '`id` is missing'],
    ['an id that is null', { steps: [remove('orders', null)] }, 'INVALID_BODY', '`id` is a string'],
    ['an id that is a list', { steps: [remove('orders', [1])] }, 'INVALID_BODY', '`id` is a string'],
    ['a reference with further keys as the id', { steps: [ORDER, update('orders', { $ref: 'order.id', x: 1 }, {})] }, 'INVALID_BODY', '`steps[1]`: `id`'],
    ['a name twice', { steps: [ORDER, create('orders', { number: 'B2' }, 'order')] }, 'INVALID_BODY', '`steps[1]`: the name "order"'],
    ['a name with a dot', { steps: [{ ...ORDER, as: 'a.b' }] }, 'INVALID_BODY', '`as` is a name'],
    ['an empty name', { steps: [{ ...ORDER, as: '' }] }, 'INVALID_BODY', '`as` is a name'],
    ['a name that is a number', { steps: [{ ...ORDER, as: 1 }] }, 'INVALID_BODY', '`as` is a name'],
    ['a name of 65 characters', { steps: [{ ...ORDER, as: 'x'.repeat(65) }] }, 'INVALID_BODY', '`as` is a name'],
  ])('%s', async (_, body, code, message = '') => {
    const answer = await shop.send('POST', 'batch', body, CLERK)
    expect([answer.status, answer.body.data?.code, answer.body.message]).toEqual([400, code, expect.stringContaining(message)])
    expect([shop.dump(), seen]).toEqual([before, []])
  })

  it('and the header `If-Match`, which no step would compare', async () => {
    const { status, body } = await shop.request('POST', '/api/batch', { body: { steps: [ORDER] }, caller: CLERK, headers: { 'if-match': '*' } })
    expect([status, body.data, seen, shop.dump()]).toEqual([400, { code: 'INVALID_VALUE', parameter: 'If-Match' }, [], before])
  })

  it('and an unknown parameter', async () => {
    const strict = await openShop({ config: { http: { ...DEFAULT_CONFIG.http, strictParameters: true } } })
    const { status, body } = await strict.send('POST', 'batch?atomic=false', { steps: [ORDER] }, CLERK)
    expect([status, body.data.code, strict.dump()]).toEqual([400, 'INVALID_QUERY', before])
    expect([seen, shop.dump()]).toEqual([[], before])
  })
})

describe('a step that fails is named, and refuses all steps before their hooks', () => {
  const LINE = { text: 'x' }
  it.each<[string, readonly unknown[], readonly string[], string?]>([
    ['an unknown resource', [ORDER, create('order', {})], ['1: 404 NOT_FOUND']],
    ['the resource `__proto__`', [ORDER, create('__proto__', {})], ['1: 404 NOT_FOUND']],
    ['a disabled operation', [ORDER, create('archive', { text: 'new' })], ['1: 405 METHOD_NOT_ALLOWED']],
    ['an id that does not exist', [update('orders', 77, { note: 'x' }), ORDER], ['0: 404 NOT_FOUND']],
    ['a record that no step makes', [ORDER, update('orders', 77, { note: 'x' })], ['1: 404 NOT_FOUND']],
    ['a restore of a record that is not in the trash', [ORDER, restore('orders', 1)], ['1: 404 NOT_FOUND']],
    ['a restore without trash, after a delete', [remove('seats', 'red,1'), restore('lines', 1)], ['1: 404 NOT_FOUND']],
    ['an id of another type', [ORDER, update('orders', 'one', { note: 'x' })], ['1: 404 NOT_FOUND']],
    ['data that is no object', [ORDER, { ...create('lines', {}), data: [] }], ['1: 400 INVALID_BODY']],
    ['data that is a reference', [ORDER, { ...create('lines', {}), data: ref('order.id') }], ['1: 400 VALIDATION_FAILED']],
    ['an unknown field', [ORDER, create('lines', { orderId: 1, txt: 'x' })], ['1: 400 VALIDATION_FAILED']],
    ['several steps, each with its error', [update('orders', 77, {}), ORDER, create('lines', {})], ['0: 404 NOT_FOUND', '2: 400 VALIDATION_FAILED']],
    ['a reference to a later step', [create('lines', { ...LINE, orderId: ref('order.id') }), ORDER], ['0: 400 INVALID_BODY'], 'is not before this one'],
    ['a reference to itself', [create('lines', { ...LINE, orderId: ref('line.id') }, 'line')], ['0: 400 INVALID_BODY'], 'is not before this one'],
    ['a reference to an unknown name', [ORDER, create('lines', { ...LINE, orderId: ref('oder.id') })], ['1: 400 INVALID_BODY'], 'no step has the name "oder"'],
    ['a reference to `__proto__`', [ORDER, create('lines', { ...LINE, orderId: ref('__proto__.id') })], ['1: 400 INVALID_BODY'], 'no step has the name'],
    ['a reference to the field `__proto__`', [ORDER, create('lines', { ...LINE, orderId: ref('order.__proto__') })], ['1: 400 UNKNOWN_FIELD']],
    ['a reference to a failed step', [create('orders', {}, 'order'), create('lines', { ...LINE, orderId: ref('order.id') })],
      ['0: 400 VALIDATION_FAILED', '1: 400 INVALID_BODY'], 'names a step that has failed'],
    ['a reference to a hidden field', [ORDER, create('lines', { orderId: 1, text: ref('order.secret') })], ['1: 400 UNKNOWN_FIELD']],
    ['a reference to a field that the caller cannot read', [ORDER, create('lines', { ...LINE, orderId: ref('order.margin') })], ['1: 400 UNKNOWN_FIELD']],
    ['a reference to an unknown field', [ORDER, create('lines', { ...LINE, orderId: ref('order.uuid') })], ['1: 400 UNKNOWN_FIELD']],
    ['a reference without a field', [ORDER, create('lines', { ...LINE, orderId: ref('order') })], ['1: 400 INVALID_BODY'], '`$ref` is `name.field`'],
    ['a reference with an empty field', [ORDER, create('lines', { ...LINE, orderId: ref('order.') })], ['1: 400 INVALID_BODY'], '`$ref` is `name.field`'],
    ['a reference without a name', [ORDER, create('lines', { ...LINE, orderId: ref('.id') })], ['1: 400 INVALID_BODY'], '`$ref` is `name.field`'],
    ['a reference to a known value of another type', [ORDER, create('lines', { ...LINE, orderId: ref('order.number') })], ['1: 400 VALIDATION_FAILED']],
    ['a reference to a later value of another type', [ORDER, create('lines', { orderId: 1, text: ref('order.id') })], ['1: 400 VALIDATION_FAILED']],
    ['a reference in a list', [ORDER, create('lines', { ...LINE, orderId: [ref('order.id')] })], ['1: 400 VALIDATION_FAILED']],
    ['a reference with further keys as a value', [ORDER, create('lines', { ...LINE, orderId: { $ref: 'order.id', x: 1 } })], ['1: 400 VALIDATION_FAILED']],
    ['a reference as an id of two columns', [ORDER, update('seats', ref('order.id'), { guest: 'Ben' })], ['1: 400 INVALID_BODY'], '`seats` has 2'],
    ['a delete of a record that the batch creates', [ORDER, remove('orders', ref('order.id'))], ['1: 400 INVALID_BODY'], 'whose id the database generates'],
    ['an update without the tag that the resource requires', [ORDER, update('prices', 1, { amount: 1 })], ['1: 428 PRECONDITION_REQUIRED']],
    ['a delete without the tag that the resource requires', [ORDER, remove('prices', 1)], ['1: 428 PRECONDITION_REQUIRED']],
    ['a stale tag of an update', [ORDER, update('prices', 1, { amount: 1 }, { ifMatch: '"AAAAAAAAAAAAAAAA"' })], ['1: 412 PRECONDITION_FAILED']],
    ['a stale tag of a delete', [ORDER, remove('orders', 1, { ifMatch: '"AAAAAAAAAAAAAAAA"' })], ['1: 412 PRECONDITION_FAILED']],
    ['a stale tag of a restore', [ORDER, restore('orders', 3, { ifMatch: '"AAAAAAAAAAAAAAAA"' })], ['1: 412 PRECONDITION_FAILED']],
    ['a tag that is no tag', [ORDER, update('orders', 1, {}, { ifMatch: 'AAAAAAAAAAAAAAAA' })], ['1: 400 INVALID_VALUE']],
    ['a tag that is a number', [ORDER, update('orders', 1, {}, { ifMatch: 1 })], ['1: 400 INVALID_VALUE']],
    ['a tag that is null', [ORDER, update('orders', 1, {}, { ifMatch: null })], ['1: 400 INVALID_VALUE']],
    ['an operation that the caller does not have', [ORDER, remove('labels', 'l1')], ['1: 403 FORBIDDEN']],
    ['a restore of a record that the batch creates', [ORDER, restore('orders', ref('order.id'))], ['1: 400 INVALID_BODY'], 'whose id the database generates'],
    ['a record that a rule in code refuses', [ORDER, update('notes', 2, { text: 'x' })], ['1: 404 NOT_FOUND']],
  ])('%s', async (_, steps, expected, message = '') => {
    const { status, body } = await send(steps)
    expect(failures(body)).toEqual(expected)
    expect([status, body.data.code, body.data.errors.at(-1).message]).toEqual(
      [Number(expected[0]!.slice(3, 6)), 'BULK_FAILED', expect.stringContaining(message)])
    expect(shop.dump()).toBe(before)
    expect(seen).toEqual([])
  })

  // The checks are those of the commit, or follow the hooks, as for a request of its own.
  it.each<[string, readonly unknown[], readonly string[]]>([
    ['a field that the caller cannot write', [ORDER, update('orders', 1, { margin: 5 })], ['1: 403 FIELD_FORBIDDEN']],
    ['a value that another record has', [ORDER, create('orders', { number: 'A1' })], ['1: 409 CONFLICT']],
    ['a value that another step writes', [ORDER, create('orders', { number: 'B1' })], ['1: 409 CONFLICT']],
    ['a parent that an earlier step deletes', [remove('orders', 2), create('lines', { orderId: 2, text: 'x' })], ['1: 400 INVALID_REFERENCE']],
  ])('but after the before-hooks: %s', async (_, steps, expected) => {
    const { status, body } = await send(steps)
    expect([status, failures(body)]).toEqual([Number(expected[0]!.slice(3, 6)), expected])
    expect([shop.dump(), seen.length > 0]).toEqual([before, true])
  })

  it('a view', async () => {
    const stats = await openStats({}, { plugins: [batch()] })
    const { status, body } = await stats.send('POST', 'batch', { steps: [update('postList', 1, { title: 'x' })] })
    expect([status, failures(body)]).toEqual([405, ['0: 405 METHOD_NOT_ALLOWED']])
    stats.close()
  })

  it('answers an anonymous caller with 401 for each step that needs a caller', async () => {
    const { status, body } = await send([remove('labels', 'l1'), ORDER], { user: null })
    expect([status, failures(body), shop.dump(), seen]).toEqual([401, ['0: 401 UNAUTHENTICATED'], before, []])
  })

  it('shortens a long name of the client in its message', async () => {
    const long = 'x'.repeat(10_000)
    const answers = await Promise.all([
      send([create('lines', { orderId: ref(`${long}.id`), text: 'x' })]),
      send([ORDER, create('lines', { orderId: ref(`order.${long}`), text: 'x' })]),
      send([ORDER, create('lines', { orderId: ref(long), text: 'x' })]),
      send([{ ...ORDER, [long]: 1 }]),
      send([{ ...ORDER, operation: long }]),
      send([create(long, {})]),
      send([update('orders', long, {})]),
      shop.send('POST', 'batch', { steps: [ORDER], [long]: 1 }, CLERK),
    ])
    for (const { status, text } of answers) expect([status >= 400, text.length < 1000]).toEqual([true, true])
  })
})

describe('a step with a tag', () => {
  const tagOf = async (path: string) => (await shop.request('GET', `/api/${path}`, { caller: STAFF })).headers.get('etag')!

  it('writes the record that has it', async () => {
    const [price, order] = [await tagOf('prices/1'), await tagOf('orders/1')]
    const { status, body } = await send([
      update('prices', 1, { amount: 11 }, { ifMatch: price }), update('orders', 2, { note: 'x' }, { ifMatch: '*' }),
      remove('lines', 1), remove('orders', 1, { ifMatch: order }), restore('orders', 3, { ifMatch: '*' }),
    ], STAFF)
    expect([status, body.meta]).toEqual([200, { steps: 5 }])
    expect(shop.rows('select amount from prices')).toEqual([11])
    seen.length = 0
  })
})

describe('two steps with the tag of one record', () => {
  it('conflict, because the first one changes the tag', async () => {
    const tag = (await shop.request('GET', '/api/orders/1', { caller: STAFF })).headers.get('etag')!
    const steps = ['a', 'b'].map(note => update('orders', 1, { note }, { ifMatch: tag }))
    const { status, body } = await send(steps, STAFF)
    expect([status, failures(body), shop.dump()]).toEqual([412, ['1: 412 PRECONDITION_FAILED'], before])
    seen.length = 0
  })
})

describe('a JSON column', () => {
  it('stores an object that looks like a reference', async () => {
    const { status, body } = await send([ORDER, create('orders', { number: 'B2', details: ref('order.id') })])
    expect([status, body.data[1].details]).toEqual([200, { $ref: 'order.id' }])
    seen.length = 0
  })
})
