/** The children of a form against the API in memory: an order with its lines, saved in one request. */
import { integer, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import type { AnyForm } from '../../../src/runtime/app/form/types'
import { openClientServer, type ClientServer } from '../../support/client-server'

const orders = sqliteTable('orders', { id: integer('id').primaryKey(), title: text('title').notNull() })
const lines = sqliteTable('lines', {
  id: integer('id').primaryKey(),
  orderId: integer('order_id').notNull().references(() => orders.id),
  position: integer('position').notNull(),
  text: text('text', { length: 20 }).notNull().unique(),
  amount: integer('amount').default(1),
}, t => [unique('positions').on(t.orderId, t.position)])

const permissions = { read: true, create: 'edit', update: 'edit', delete: 'edit' }
const further = [
  { name: 'orders', schema: orders, authorization: { permissions }, nested: { lines: ['create', 'update', 'delete'] } },
  { name: 'lines', schema: lines, authorization: { permissions: { ...permissions, delete: 'remove lines' } } },
] as ResourceRegistration[]
const sql = `
  create table orders (id integer primary key, title text not null);
  create table lines (id integer primary key, order_id integer not null references orders, position integer not null, text text not null unique,
    amount integer default 1, unique (order_id, position));
  insert into orders values (1, 'One'), (2, 'Two');
  insert into lines (id, order_id, position, text) values (11, 1, 1, 'a'), (12, 1, 2, 'b'), (13, 1, 3, 'c'), (21, 2, 1, 'other');
`
const POSITION = { nested: { lines: { position: 'position' } } } as const

let harness: ClientServer
const open = async () => {
  harness = await openClientServer({ further, sql })
  harness.caller = { user: { id: 1 }, permissions: ['edit', 'remove lines'] }
}

async function openForm(options: object = { id: 1, ...POSITION }) {
  const form = harness.setup(() => harness.composables.useAutoApiForm('orders' as string, options)) as unknown as AnyForm
  await form.suspense()
  harness.requests.length = 0
  return form
}

const linesOf = (form: AnyForm) => form.children.lines!
const rowsOf = (form: AnyForm) => linesOf(form).rows.map(({ values, state }) => [values.text, state])
const keyOf = (form: AnyForm, text: string) => linesOf(form).rows.find(({ values }) => values.text === text)!.key
const edit = (form: AnyForm, text: string, values: object) =>
  Object.assign(linesOf(form).rows.find(row => row.values.text === text)!.values, values)
const writeElsewhere = (method: string, path: string, body?: unknown) =>
  harness.setup(() => harness.composables.useAutoApiEndpoint(path as never, { method } as never) as unknown as {
    mutateAsync: (body: unknown) => Promise<unknown>
  }).mutateAsync(body)

interface Stored { id: number, position: number, text: string, amount: number | null, orderId: number }

async function stored(order = 1): Promise<Stored[]> {
  const { text } = await harness.get(`/v1/lines?filter={"orderId":${order}}&sort=position`)
  return (JSON.parse(text) as { data: Stored[] }).data
}
const texts = async (order?: number) => (await stored(order)).map(({ text }) => text)

describe('a form with children', () => {
  beforeEach(open)
  afterEach(() => harness.close())

  it('loads a record and its children with one request, in the order of their positions', async () => {
    const form = harness.setup(() => harness.composables.useAutoApiForm('orders' as string, { id: 1, ...POSITION })) as unknown as AnyForm
    await form.suspense()
    expect(harness.requests.filter(request => !request.includes('_schema'))).toEqual(['GET /v1/orders/1?include={"lines":{"sort":"position"}}'])
    expect(rowsOf(form)).toEqual([['a', 'unchanged'], ['b', 'unchanged'], ['c', 'unchanged']])
    expect([form.isDirty.value, form.isReady.value]).toEqual([false, true])
  })

  it('offers the fields of the children without the foreign key and the position', async () => {
    expect(Object.keys(linesOf(await openForm()).fields)).toEqual(['text', 'amount'])
    expect(Object.keys(linesOf(await openForm({ nested: { lines: true } })).fields)).toEqual(['position', 'text', 'amount'])
  })

  it('offers only what the caller can do with the children', async () => {
    const { canCreate, canUpdate, canDelete } = linesOf(await openForm())
    expect([canCreate, canUpdate, canDelete]).toEqual([true, true, true])
    harness.caller = { user: { id: 1 }, permissions: ['edit'] }
    harness.queryClient.clear()
    expect(linesOf(await openForm()).canDelete).toBe(false)
  })

  it('sends one request with what has changed, and then shows the stored children with their ids', async () => {
    const form = await openForm()
    form.state.title = 'Uno'
    edit(form, 'b', { text: 'B' })
    linesOf(form).remove(keyOf(form, 'a'))
    linesOf(form).add({ text: 'd' })
    expect(rowsOf(form)).toEqual([['a', 'removed'], ['B', 'changed'], ['c', 'unchanged'], ['d', 'new']])
    expect(form.isDirty.value).toBe(true)
    expect(await form.submit()).toMatchObject({ id: 1, title: 'Uno' })
    expect(harness.requests).toEqual(['PATCH /v1/orders/1', 'GET /v1/orders/1?include={"lines":{"sort":"position"}}'])
    expect(linesOf(form).rows.map(({ id, values, state }) => [id, values, state])).toEqual([
      ['12', { text: 'B', amount: 1, position: 2 }, 'unchanged'],
      ['13', { text: 'c', amount: 1, position: 3 }, 'unchanged'],
      ['22', { text: 'd', amount: 1, position: 4 }, 'unchanged'],
    ])
    expect([form.isDirty.value, await texts()]).toEqual([false, ['B', 'c', 'd']])
    // The form has the new tag.
    form.state.title = 'Eins'
    expect(await form.submit()).toMatchObject({ title: 'Eins' })
  })

  it('saves children when no field of the record itself has changed', async () => {
    const form = await openForm()
    edit(form, 'a', { amount: 5 })
    expect(form.changes.value).toEqual({})
    expect(await form.submit()).toMatchObject({ title: 'One' })
    expect((await stored())[0]).toMatchObject({ text: 'a', amount: 5 })
  })

  it('sends no request without a change, and none for a row that was added and removed', async () => {
    const form = await openForm()
    edit(form, 'a', { text: 'A' })
    edit(form, 'A', { text: 'a' })
    linesOf(form).remove(linesOf(form).add().key)
    linesOf(form).remove(keyOf(form, 'b'))
    linesOf(form).restore(keyOf(form, 'b'))
    expect([form.isDirty.value, rowsOf(form).map(([, state]) => state)]).toEqual([false, ['unchanged', 'unchanged', 'unchanged']])
    await form.submit()
    expect(harness.requests).toEqual([])
  })

  it('keeps a removed new row with values, so that it can be restored', async () => {
    const form = await openForm()
    const { key } = linesOf(form).add()
    linesOf(form).rows.at(-1)!.values.text = 'typed'
    linesOf(form).remove(key)
    expect([rowsOf(form).at(-1), form.isDirty.value]).toEqual([['typed', 'removed'], false])
    linesOf(form).restore(key)
    expect([rowsOf(form).at(-1), form.isDirty.value]).toEqual([['typed', 'new'], true])
  })

  it('creates a record with its children, and is empty again', async () => {
    const form = await openForm(POSITION)
    form.state.title = 'New'
    linesOf(form).add({ text: 'x' })
    linesOf(form).add({ text: 'y', amount: '' })
    expect(await form.submit()).toMatchObject({ id: 3, title: 'New' })
    expect(harness.requests).toEqual(['POST /v1/orders'])
    expect([form.state, rowsOf(form)]).toEqual([{}, []])
    expect((await stored(3)).map(({ position, text, amount }) => [position, text, amount])).toEqual([[1, 'x', 1], [2, 'y', null]])
  })

  it('discards the changes of the children, too', async () => {
    const form = await openForm()
    linesOf(form).add({ text: 'x' })
    linesOf(form).remove(keyOf(form, 'a'))
    edit(form, 'b', { text: 'B' })
    linesOf(form).move(0, 2)
    form.reset()
    expect([rowsOf(form), form.isDirty.value]).toEqual([[['a', 'unchanged'], ['b', 'unchanged'], ['c', 'unchanged']], false])
  })

  it('makes lists of the children stale', async () => {
    const list = harness.setup(() => harness.composables.useAutoApiList('lines' as string, { filter: { orderId: 1 } }))
    await list.suspense()
    const form = await openForm()
    edit(form, 'a', { text: 'A' })
    await form.submit()
    await expect.poll(() => list.data.value!.data.map(({ text }) => text)).toEqual(['A', 'b', 'c'])
  })
})

describe('moving rows', () => {
  beforeEach(open)
  afterEach(() => harness.close())

  it('stores the order, although a unique constraint covers the positions', async () => {
    const form = await openForm()
    linesOf(form).move(2, 0)
    expect(rowsOf(form)).toEqual([['c', 'unchanged'], ['a', 'changed'], ['b', 'changed']])
    expect(await form.submit()).toBeDefined()
    expect(await texts()).toEqual(['c', 'a', 'b'])
    linesOf(form).move(0, 1)
    expect(await form.submit()).toBeDefined()
    expect(await texts()).toEqual(['a', 'c', 'b'])
  })

  it('is no change if the rows are moved back', async () => {
    const form = await openForm()
    linesOf(form).move(0, 2)
    expect(form.isDirty.value).toBe(true)
    linesOf(form).move(2, 0)
    expect([form.isDirty.value, rowsOf(form).map(([text]) => text)]).toEqual([false, ['a', 'b', 'c']])
  })

  it('puts a new row between others, and a restored row where it is shown', async () => {
    const form = await openForm()
    linesOf(form).remove(keyOf(form, 'a'))
    linesOf(form).add({ text: 'x' })
    linesOf(form).move(3, 1)
    linesOf(form).move(0, 3)
    linesOf(form).restore(keyOf(form, 'a'))
    expect(rowsOf(form).map(([text]) => text)).toEqual(['x', 'b', 'c', 'a'])
    expect(await form.submit()).toBeDefined()
    expect(await texts()).toEqual(['x', 'b', 'c', 'a'])
  })

  it('changes only the order of the page without a field for it', async () => {
    const form = await openForm({ id: 1, nested: { lines: true } })
    linesOf(form).move(2, 0)
    expect([rowsOf(form).map(([text]) => text), form.isDirty.value]).toEqual([['c', 'a', 'b'], false])
  })
})

describe('the errors of children', () => {
  beforeEach(open)
  afterEach(() => harness.close())

  it('are found without a request, and shown at the field of their row until its value changes', async () => {
    const form = await openForm()
    edit(form, 'b', { text: 'A text that is much too long' })
    linesOf(form).add()
    const [, changed, , added] = linesOf(form).rows
    expect(await form.submit()).toBeUndefined()
    expect([changed!.errorOf('text'), added!.errorOf('text'), added!.errorOf('amount')]).toEqual(['At most 20 characters', 'Required', undefined])
    expect([harness.requests, form.errors.value, form.message.value]).toEqual([[], [], undefined])
    added!.values.text = 'x'
    expect([changed!.errors.length, added!.errors]).toEqual([1, []])
  })

  it('of the server are shown at the field of their row, whatever rows precede it', async () => {
    const form = await openForm()
    linesOf(form).remove(keyOf(form, 'a'))
    linesOf(form).add({ text: 'x' })
    linesOf(form).add({ text: 'other' })
    expect(await form.submit()).toBeUndefined()
    const row = linesOf(form).rows.at(-1)!
    expect([row.errorOf('text'), row.message, form.message.value]).toEqual([form.error.value!.message, undefined, undefined])
    expect(form.error.value).toMatchObject({ status: 409, path: 'lines.create[1]' })
    expect(linesOf(form).rows.flatMap(({ errors }) => errors)).toHaveLength(1)
    row.values.text = 'y'
    expect(row.errors).toEqual([])
    expect(await form.submit()).toBeDefined()
    expect(await texts()).toEqual(['b', 'c', 'x', 'y'])
  })

  it('of the server for an update are shown at the field', async () => {
    const form = await openForm()
    edit(form, 'c', { text: 'other' })
    await form.submit()
    expect(linesOf(form).rows[2]!.errorOf('text')).toBe(form.error.value!.message)
  })

  it('without a field of the form are the message of the row', async () => {
    const form = await openForm()
    linesOf(form).add({ text: 'x' })
    await writeElsewhere('POST', '/v1/lines', { orderId: 1, position: 4, text: 'theirs' })
    await form.submit()
    const row = linesOf(form).rows.at(-1)!
    expect([row.message, form.message.value]).toEqual([form.error.value!.message, undefined])
  })

  it('without a row are the message of the children', async () => {
    const form = await openForm()
    linesOf(form).remove(keyOf(form, 'a'))
    harness.caller = { user: { id: 1 }, permissions: ['edit'] }
    await form.submit()
    expect([form.error.value!.status, linesOf(form).message, form.message.value]).toEqual([403, form.error.value!.message, undefined])
  })

  it('translate the issues that the form finds', async () => {
    const form = await openForm({ ...POSITION, message: ({ keyword }: { keyword: string }) => keyword === 'required' ? '필수' : undefined })
    linesOf(form).add()
    await form.submit()
    expect(linesOf(form).rows[0]!.errorOf('text')).toBe('필수')
  })
})

describe('changes of others', () => {
  beforeEach(open)
  afterEach(() => harness.close())

  it('of the record are a conflict, which is solved with the changes of the children', async () => {
    const form = await openForm()
    edit(form, 'a', { text: 'A' })
    linesOf(form).remove(keyOf(form, 'b'))
    linesOf(form).add({ text: 'x' })
    await writeElsewhere('PATCH', '/v1/orders/1', { title: 'Theirs', lines: { update: [{ id: 13, data: { text: 'C' } }] } })
    expect(await form.submit()).toBeUndefined()
    expect(form.conflict.value).toMatchObject({ title: 'Theirs' })
    expect(rowsOf(form)).toEqual([['A', 'changed'], ['b', 'removed'], ['c', 'unchanged'], ['x', 'new']])
    expect(await form.overwrite()).toMatchObject({ title: 'Theirs' })
    expect(await texts()).toEqual(['A', 'C', 'x'])
  })

  it('are shown by a refetch while the form has no changes, and never replace those of the rows', async () => {
    const form = await openForm()
    const get = harness.setup(() => harness.composables.useAutoApiGet('orders' as string, 1, { include: { lines: { sort: 'position' } } }))
    await writeElsewhere('PATCH', '/v1/orders/1', { title: 'Theirs', lines: { update: [{ id: 11, data: { text: 'A' } }] } })
    await get.refetch()
    expect([form.state.title, rowsOf(form)[0]]).toEqual(['Theirs', ['A', 'unchanged']])
    edit(form, 'b', { text: 'mine' })
    await writeElsewhere('PATCH', '/v1/orders/1', { title: 'Again', lines: { delete: [11] } })
    await get.refetch()
    expect([form.state.title, rowsOf(form)]).toEqual(['Theirs', [['A', 'unchanged'], ['mine', 'changed'], ['c', 'unchanged']]])
  })

  it('of the record can be taken with its children', async () => {
    const form = await openForm()
    edit(form, 'a', { text: 'A' })
    await writeElsewhere('PATCH', '/v1/orders/1', { title: 'Theirs', lines: { delete: [12] } })
    await form.submit()
    form.takeCurrent()
    expect([form.state.title, rowsOf(form), form.isDirty.value]).toEqual(['Theirs', [['a', 'unchanged'], ['c', 'unchanged']], false])
  })

  it('keep a changed child that another user has deleted as a new row, with the message', async () => {
    const form = await openForm()
    edit(form, 'a', { text: 'A' })
    await writeElsewhere('DELETE', '/v1/lines/11')
    expect(await form.submit()).toBeUndefined()
    expect(rowsOf(form)).toEqual([['A', 'new'], ['b', 'unchanged'], ['c', 'unchanged']])
    expect(linesOf(form).rows[0]!.message).toBe(form.error.value!.message)
    expect(await form.submit()).toBeDefined()
    expect(await texts()).toEqual(['A', 'b', 'c'])
  })

  it('are no problem if both have deleted a child', async () => {
    const form = await openForm()
    linesOf(form).remove(keyOf(form, 'a'))
    edit(form, 'b', { text: 'B' })
    await writeElsewhere('DELETE', '/v1/lines/11')
    await form.submit()
    expect(rowsOf(form)).toEqual([['B', 'changed'], ['c', 'unchanged']])
    expect(await form.submit()).toBeDefined()
    expect(await texts()).toEqual(['B', 'c'])
  })
})

describe('any sequence of edits', () => {
  beforeAll(open)
  afterAll(() => harness.close())

  type Edit = { readonly kind: 'add' | 'edit' | 'remove' | 'restore' | 'move', readonly at: number, readonly to: number }
  const edits = fc.array(fc.record<Edit>({
    kind: fc.constantFrom('add', 'edit', 'remove', 'restore', 'move'), at: fc.nat(20), to: fc.nat(20),
  }), { maxLength: 15 })
  let counter = 0

  function apply(form: AnyForm, { kind, at, to }: Edit) {
    const list = linesOf(form)
    const index = at % Math.max(1, list.rows.length)
    const row = list.rows[index]
    if (kind === 'add') list.add(to % 4 === 0 ? { text: `t${++counter}`, amount: '' } : { text: `t${++counter}`, amount: to })
    else if (!row) return
    else if (kind === 'edit') Object.assign(row.values, to % 3 === 0 ? { amount: to } : { text: `t${++counter}` })
    else if (kind === 'move') list.move(index, to % list.rows.length)
    else list[kind](row.key)
  }

  const shown = (form: AnyForm) => linesOf(form).rows.filter(({ state }) => state !== 'removed')
    .map(({ values: { text, amount } }) => [text, amount === '' ? null : amount])

  it('is stored as the form shows it, after each of two saves', async () => {
    await fc.assert(fc.asyncProperty(edits, edits, async (...rounds) => {
      const form = await openForm({ id: 1, ...POSITION })
      // An include has at most 100 records.
      for (const { key } of linesOf(form).rows.slice(5)) linesOf(form).remove(key)
      for (const round of rounds) {
        for (const one of round) apply(form, one)
        const expected = shown(form)
        expect(await form.submit()).toBeDefined()
        expect((await stored()).map(({ text, amount }) => [text, amount])).toEqual(expected)
        expect([shown(form), form.isDirty.value]).toEqual([expected, false])
        expect(await texts(2)).toEqual(['other'])
      }
    }), { numRuns: 60 })
  })
})
