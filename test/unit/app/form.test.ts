/** `useAutoApiForm` against the API in memory: values, validation, changed fields, conflicts and the requests of a form. */
import { text, integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { effectScope, isReactive, ref } from 'vue'
import { z } from 'zod'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { openClientServer, type ClientServer } from '../../support/client-server'

const notes = sqliteTable('notes', {
  id: integer('id').primaryKey(),
  title: text('title', { length: 20 }).notNull(),
  status: text('status', { enum: ['draft', 'sent'] }).notNull().default('draft'),
  stars: integer('stars').notNull().default(3),
  price: integer('price'),
  remindAt: integer('remind_at', { mode: 'timestamp_ms' }),
  summary: text('summary'),
  layout: text('layout', { mode: 'json' }).$type<{ columns: number[] }>(),
  pin: text('pin'),
  secret: text('secret'),
})
const guests = sqliteTable('guests', { id: integer('id').primaryKey(), email: text('email').notNull() })
const guestSchema = z
  .object({ email: z.email() })
  .refine(({ email }) => !email.endsWith('@spam.test'), { path: ['email'], message: 'No spam' })

const permissions = { read: true, create: 'edit', update: 'edit' }
const further = [
  {
    name: 'notes',
    schema: notes,
    hiddenFields: ['secret'],
    authorization: { permissions, fields: { pin: { read: false }, stars: { write: 'chief' } } },
  },
  { name: 'guests', schema: guests, validation: { create: guestSchema }, authorization: { permissions } },
] as ResourceRegistration[]
const sql = `
  create table notes (id integer primary key, title text not null, status text not null default 'draft', stars integer not null default 3, price integer, remind_at integer, summary text, layout text, pin text, secret text);
  create table guests (id integer primary key, email text not null);
  insert into notes (id, title, summary, price, layout, pin) values (1, 'One', 'First', 5, '{"columns":[1]}', '1234'), (2, 'Two', null, null, null, null);
`

let harness: ClientServer

beforeEach(async () => {
  harness = await openClientServer({ further, sql })
})
afterEach(() => harness.close())

/** The resources of this test are not in the generated types. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
type Loose = Record<string, (...args: any[]) => any>
const setup = <T>(run: (app: Loose) => T): T => harness.setup(() => run(harness.composables as unknown as Loose))
const stored = async (id: number) => (await harness.get(`/v1/notes/${id}`)).text
const changeElsewhere = (id: number, body: object) =>
  setup(app => app.useAutoApiEndpoint!(`/v1/notes/${id}`, { method: 'PATCH' }).mutateAsync(body))

async function openForm(options: object = {}, resource = 'notes') {
  const form = setup(app => app.useAutoApiForm!(resource, options))
  await form.suspense()
  harness.requests.length = 0
  return form
}

describe('a form for a new record', () => {
  it('starts with the defaults of the table, which the values of the caller override', async () => {
    const form = await openForm()
    expect([form.isNew.value, form.isReady.value, form.isDirty.value]).toEqual([true, true, false])
    expect(form.state).toEqual({ status: 'draft' })
    expect((await openForm({ defaults: { title: 'New', status: 'sent' } })).state).toEqual({ status: 'sent', title: 'New' })
  })

  it('offers only the fields that the caller can write', async () => {
    expect(Object.keys((await openForm()).fields.value)).toEqual(['title', 'status', 'price', 'remindAt', 'summary', 'layout', 'pin'])
    harness.caller = { user: { id: 1 }, permissions: ['edit', 'chief'] }
    harness.queryClient.clear()
    const form = await openForm()
    expect(Object.keys(form.fields.value)).toContain('stars')
    expect(form.state).toEqual({ status: 'draft', stars: 3 })
  })

  it('creates a record, is empty again and then calls `onSuccess`', async () => {
    const seen: unknown[] = []
    const form: { state: Record<string, unknown>, [name: string]: unknown } = await openForm({
      onSuccess: ({ id }: { id: number }) => seen.push([id, { ...form.state }]),
    })
    Object.assign(form.state, { title: 'Three', price: '', summary: '', remindAt: '2030-01-02T03:04:05.000Z' })
    expect(await (form.submit as () => Promise<unknown>)()).toMatchObject({
      id: 3,
      title: 'Three',
      price: null,
      summary: null,
      status: 'draft',
      remindAt: '2030-01-02T03:04:05.000Z',
    })
    expect(seen).toEqual([[3, { status: 'draft' }]])
    expect(harness.requests).toEqual(['POST /v1/notes'])
  })

  it('finds invalid values without a request, by field', async () => {
    const form = await openForm()
    form.state.status = 'lost'
    form.state.price = 1.5
    expect(await form.submit()).toBeUndefined()
    expect(form.errors.value).toEqual([
      { name: 'title', message: 'Required' },
      { name: 'status', message: 'One of: draft, sent' },
      { name: 'price', message: 'Expected a whole number' },
    ])
    expect([form.errorOf('title'), form.errorOf('summary'), form.message.value]).toEqual(['Required', undefined, undefined])
    expect(harness.requests).toEqual([])
  })

  it('forgets the message of a field whose value changes, and only that', async () => {
    const form = await openForm()
    form.state.title = 'A title that is much too long'
    form.state.status = 'lost'
    await form.submit()
    form.state.title = 'Short'
    expect(form.errors.value).toEqual([{ name: 'status', message: 'One of: draft, sent' }])
  })

  it('translates the issues it finds', async () => {
    const form = await openForm({
      message: ({ keyword, limit }: { keyword: string, limit: unknown }) => (keyword === 'maxLength' ? `${limit} 자 이하` : undefined),
    })
    form.state.title = 'A title that is much too long'
    form.state.status = 'lost'
    await form.submit()
    expect(form.errors.value.map(({ message }: { message: string }) => message)).toEqual(['20 자 이하', 'One of: draft, sent'])
  })

  it('maps the issues of the server to fields, for rules that JSON Schema cannot express', async () => {
    const form = await openForm({}, 'guests')
    form.state.email = 'ann@spam.test'
    expect(await form.submit()).toBeUndefined()
    expect(form.errors.value).toEqual([{ name: 'email', message: 'No spam' }])
    expect(form.error.value).toMatchObject({ status: 400 })
    expect(form.message.value).toBeUndefined()
    form.state.email = 'ann@mail.test'
    expect(form.errors.value).toEqual([])
    expect(await form.submit()).toMatchObject({ email: 'ann@mail.test' })
    expect(form.error.value).toBeNull()
  })

  it('has the message of a failure that belongs to no field', async () => {
    const form = await openForm()
    form.state.title = 'x'
    harness.refuseNext = { status: 503, body: { message: 'Busy', data: { code: 'BUSY' } } }
    expect(await form.submit()).toBeUndefined()
    expect([form.message.value, form.isPending.value, form.state.title]).toEqual(['Busy', false, 'x'])
    expect(await form.submit()).toMatchObject({ title: 'x' })
    expect(form.message.value).toBeUndefined()
  })

  it('sends one request if it is submitted twice', async () => {
    const form = await openForm({ defaults: { title: 'Once' } })
    const [first, second] = await Promise.all([form.submit(), form.submit()])
    expect([first.title, second]).toEqual(['Once', undefined])
    expect(harness.requests).toEqual(['POST /v1/notes'])
  })

  it('checks the state with the schema of the app instead', async () => {
    const form = await openForm({ schema: z.object({ title: z.string().startsWith('§') }) })
    form.state.title = 'x'
    await form.submit()
    expect(form.errors.value).toEqual([{ name: 'title', message: expect.stringContaining('§') as string }])
    expect(harness.requests).toEqual([])
  })
})

describe('a form for a record', () => {
  it('holds the values that the caller can write', async () => {
    const form = await openForm({ id: 1 })
    expect(form.state).toEqual({ title: 'One', status: 'draft', price: 5, remindAt: null, summary: 'First', layout: { columns: [1] } })
    expect(form.record.value).toMatchObject({ id: 1, stars: 3 })
    expect(form.isNew.value).toBe(false)
  })

  it('never changes the cached record', async () => {
    const form = await openForm({ id: 1 })
    form.state.layout.columns.push(2)
    expect(isReactive(form.state.layout)).toBe(true)
    expect(form.record.value.layout).toEqual({ columns: [1] })
    expect(form.changes.value).toEqual({ layout: { columns: [1, 2] } })
  })

  it('sends only the fields that have changed, with the tag of the record', async () => {
    const form = await openForm({ id: 1 })
    form.state.title = 'Uno'
    form.state.summary = ''
    expect([form.isDirty.value, form.changes.value]).toEqual([true, { title: 'Uno', summary: null }])
    await changeElsewhere(2, { title: 'Dos' })
    harness.requests.length = 0
    expect(await form.submit()).toMatchObject({ title: 'Uno', summary: null, price: 5 })
    expect(harness.requests).toEqual(['PATCH /v1/notes/1', 'GET /v1/notes/1'])
    expect([form.isDirty.value, form.state.title]).toEqual([false, 'Uno'])
    form.state.title = 'Eins'
    expect(await form.submit()).toMatchObject({ title: 'Eins' })
  })

  it('sends no request without a change', async () => {
    const form = await openForm({ id: 2 })
    Object.assign(form.state, { summary: '', price: '', title: 'x' })
    form.state.title = 'Two'
    expect(form.isDirty.value).toBe(false)
    expect(await form.submit()).toMatchObject({ id: 2 })
    expect(harness.requests).toEqual([])
  })

  it('can set a field that the caller cannot read', async () => {
    const form = await openForm({ id: 1 })
    expect(form.state).not.toHaveProperty('pin')
    form.state.pin = ''
    expect(form.isDirty.value).toBe(false)
    form.state.pin = '9999'
    await form.submit()
    harness.caller = { user: { id: 1 }, permissions: ['*'] }
    expect(form.isDirty.value).toBe(false)
    expect(form.state).not.toHaveProperty('pin')
  })

  it('requires a value where the column does, and checks only what has changed', async () => {
    const form = await openForm({ id: 1, defaults: { title: 'ignored' } })
    form.state.status = ''
    await form.submit()
    expect(form.errors.value).toEqual([{ name: 'status', message: 'Required' }])
    expect(harness.requests).toEqual([])
  })

  it('discards the changes', async () => {
    const form = await openForm({ id: 1 })
    form.state.title = 'A title that is much too long'
    await form.submit()
    form.reset()
    expect([form.state.title, form.errors.value, form.isDirty.value]).toEqual(['One', [], false])
  })

  it('opens another record when the id changes, and a new one without an id', async () => {
    const id = ref<number | undefined>(1)
    const form = await openForm({ id })
    form.state.title = 'Uno'
    id.value = 2
    expect(form.isReady.value).toBe(false)
    await expect.poll(() => form.isReady.value).toBe(true)
    expect([form.state.title, form.isDirty.value]).toEqual(['Two', false])
    id.value = undefined
    expect(form.state).toEqual({ status: 'draft' })
    await expect.poll(() => form.isReady.value).toBe(true)
  })

  it('takes a new version while it has no changes, and keeps its changes otherwise', async () => {
    const form = await openForm({ id: 1 })
    const get = setup(app => app.useAutoApiGet!('notes', 1))
    await changeElsewhere(1, { title: 'Uno' })
    await get.refetch()
    expect(form.state.title).toBe('Uno')
    form.state.summary = 'Mine'
    await changeElsewhere(1, { title: 'Eins' })
    await get.refetch()
    expect(form.state).toMatchObject({ title: 'Uno', summary: 'Mine' })
  })

  it('has the failure of loading it', async () => {
    const form = await openForm({ id: 99 })
    expect([form.error.value.status, form.isReady.value, await form.submit()]).toEqual([404, false, undefined])
    expect(form.message.value).toBe(form.error.value.message)
  })
})

describe('a conflict', () => {
  async function openConflict() {
    const form = await openForm({ id: 1 })
    form.state.title = 'Mine'
    await changeElsewhere(1, { title: 'Theirs', summary: 'Also theirs' })
    expect(await form.submit()).toBeUndefined()
    return form
  }

  it('has the current record, writes nothing and keeps the changes', async () => {
    const form = await openConflict()
    expect(form.conflict.value).toMatchObject({ title: 'Theirs' })
    expect([form.message.value, form.error.value.status, form.state.title]).toEqual([undefined, 412, 'Mine'])
    expect(await stored(1)).toContain('Theirs')
  })

  it('is solved by writing the changes over the current record, whose other fields stay', async () => {
    const form = await openConflict()
    expect(await form.overwrite()).toMatchObject({ title: 'Mine', summary: 'Also theirs' })
    expect([form.conflict.value, form.error.value, form.state.summary]).toEqual([undefined, null, 'Also theirs'])
  })

  it('is solved by taking the current record', async () => {
    const form = await openConflict()
    form.takeCurrent()
    expect([form.state.title, form.isDirty.value, form.conflict.value, form.error.value]).toEqual(['Theirs', false, undefined, null])
    form.reset()
    expect(form.state.title).toBe('Theirs')
    form.state.title = 'Ours'
    expect(await form.submit()).toMatchObject({ title: 'Ours' })
  })

  it('is not looked for without `ifMatch`', async () => {
    const form = await openForm({ id: 1, ifMatch: false })
    form.state.title = 'Mine'
    await changeElsewhere(1, { title: 'Theirs', price: 9 })
    expect(await form.submit()).toMatchObject({ title: 'Mine', price: 9 })
  })
})

describe('the schema for form libraries', () => {
  const validate = (form: { schema: { '~standard': { validate: (value: unknown) => unknown } } }, value: unknown) =>
    form.schema['~standard'].validate(value)

  it('is a Standard Schema with the same issues', async () => {
    const form = await openForm()
    expect(form.schema['~standard']).toMatchObject({ version: 1, vendor: 'nuxt-auto-api' })
    expect(await validate(form, { title: '' })).toEqual({ value: { title: '' } })
    expect(await validate(form, { price: 'x' })).toEqual({
      issues: [
        { path: ['title'], message: 'Required' },
        { path: ['price'], message: 'Expected a whole number' },
      ],
    })
  })

  it('accepts a record with an old value that is not valid any more, until a user changes it', async () => {
    const form = await openForm({ id: 1 })
    await setup(app => app.useAutoApiEndpoint!('/v1/notes/1', { method: 'PATCH' })).mutateAsync({ title: 'x' })
    expect(await validate(form, { ...form.state, summary: 'changed' })).toMatchObject({ value: { summary: 'changed' } })
    expect(await validate(form, { ...form.state, title: 'A title that is much too long' })).toMatchObject({ issues: [{ path: ['title'] }] })
  })

  it('ends with the component', async () => {
    const scope = effectScope()
    const form = setup(app => scope.run(() => app.useAutoApiForm!('notes', { id: 1 })))
    await form.suspense()
    scope.stop()
    expect(form.state.title).toBe('One')
  })
})
