/** Tests the validation of bodies: by the generated schema, or by a schema of the app from any library. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ResourceHooks, ResourceValidation } from '../../../src/runtime/server/registration'
import { ADA, EVERYTHING, openWorld, outcome, type World } from './world'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title', { length: 10 }).notNull(),
  status: text('status', { enum: ['draft', 'done'] }).notNull().default('draft'),
  slug: text('slug').notNull().default('none'),
  views: integer('views').notNull().default(0),
  dueAt: integer('due_at', { mode: 'timestamp_ms' }),
  score: integer('score').notNull().default(0),
  createdAt: integer('created_at', { mode: 'timestamp_ms' }),
  createdBy: integer('created_by'),
})
/** A required column that only a hook sets. */
const letters = sqliteTable('letters', { code: text('code').primaryKey(), number: integer('number').notNull() })

let world: World
afterEach(() => world.client.close())
const open = async (validation?: ResourceValidation, hooks?: ResourceHooks) => world = await openWorld({
  tables: { posts, letters },
  resources: {
    posts: { validation: validation!, hooks: hooks!, protectedFields: ['score'] },
    letters: { hooks: { beforeCreate: data => ({ ...data, number: 7 }) }, protectedFields: ['number'] },
  },
  rows: `insert into posts (id, title, slug, views) values (1, 'one', 'kept', 5)`,
})
const issues = async (method: string, path: string, body: unknown) => {
  const answer = await world.send(method, path, body)
  expect(outcome(answer)).toBe('400 VALIDATION_FAILED')
  return (answer.body.data.issues as { path: (string | number)[], code: string }[]).map(({ path, code }) => `${path.join('.')}: ${code}`)
}
const stored = () => world.client.prepare('select * from posts order by id desc limit 1').get()

/** A schema of another library: a function with the Standard Schema interface. */
const other = (validate: (value: Record<string, unknown>) => { value: unknown }): StandardSchemaV1 => ({
  '~standard': { version: 1, vendor: 'by hand', validate: value => validate(value as never) },
})

describe('a generated schema', () => {
  it('requires the required columns in a create, and nothing in an update', async () => {
    await open()
    expect(await issues('POST', 'posts', { views: 'x', status: 'lost' })).toEqual([
      'views: invalid_type',
      'title: invalid_type',
      'status: invalid_value',
    ])
    expect(await issues('PATCH', 'posts/1', { title: 'much too long', status: null })).toEqual(['title: too_big', 'status: invalid_value'])
    expect(outcome(await world.send('PATCH', 'posts/1', {}))).toBe('200')
  })

  it('does not require a protected column, because a hook can set it', async () => {
    await open()
    expect((await world.send('POST', 'letters', { code: 'a', number: 3 })).body).toEqual({ code: 'a', number: 7 })
    expect((await world.send('POST', 'letters/bulk', { items: [{ code: 'b' }] })).body.data).toEqual([{ code: 'b', number: 7 }])
  })

  it('leaves defaults to the table, and applies none in an update', async () => {
    await open()
    expect((await world.send('POST', 'posts', { title: 'new' })).body).toMatchObject({ status: 'draft', slug: 'none', views: 0 })
    expect((await world.send('PATCH', 'posts/1', { title: 'x' })).body).toMatchObject({ slug: 'kept', views: 5 })
  })
})

const ZOD = z.object({
  title: z.string().trim().min(2, 'Say more.'),
  slug: z.string().default('made'),
  views: z.coerce.number().default(1),
  dueAt: z.string().optional(),
  note: z.string().optional(),
})

describe('a schema of the app', () => {
  it('replaces the generated schema and its issues for its operation', async () => {
    await open({ create: ZOD })
    expect(await issues('POST', 'posts', { title: ' x ' })).toEqual(['title: too_small'])
    expect((await world.send('POST', 'posts', { title: ' x ' })).body.data.issues).toEqual([
      { path: ['title'], message: 'Say more.', code: 'too_small' },
    ])
    expect(await issues('PATCH', 'posts/1', { title: 'much too long' })).toEqual(['title: too_big'])
    expect((await world.send('PATCH', 'posts/1', { title: ' x ' })).body.title).toBe(' x ')
  })

  it('replaces the body by what it returns, with its defaults in a create only', async () => {
    await open({ create: ZOD, update: ZOD.partial() })
    expect((await world.send('POST', 'posts', { title: ' new ', views: '7', dueAt: '2026-01-02T00:00:00Z' })).body).toMatchObject({
      title: 'new',
      slug: 'made',
      views: 7,
      dueAt: '2026-01-02T00:00:00.000Z',
    })
    expect((await world.send('PATCH', 'posts/1', { title: ' up ' })).body).toMatchObject({ title: 'up', slug: 'kept', views: 5 })
    expect((await world.send('PATCH', 'posts/bulk', { items: [{ id: 1, data: { title: ' in ' } }] })).body.data[0]).toMatchObject({
      title: 'in',
      slug: 'kept',
      views: 5,
    })
  })

  const BASE = z.object({ title: z.string(), slug: z.string().default('made'), views: z.number().optional(), note: z.string().optional() })
  const computed = ({ note, ...rest }: { note?: string, slug?: string }) => ({
    ...rest,
    ...(note === 'count' && { views: 9 }),
    ...(note === 'name' && { slug: 'computed' }),
  })
  it.each<[string, StandardSchemaV1]>([
    ['a transform', BASE.partial().transform(computed)],
    ['a preprocess around it', z.preprocess(value => value, BASE.partial().transform(computed))],
    ['a union', z.union([BASE.extend({ title: z.literal('never') }), BASE.partial().transform(computed)])],
    ['an intersection', z.intersection(BASE.partial(), z.object({ note: z.string().optional() })).transform(computed)],
    ['a schema that lists no keys', other(value => ({ value: computed(value) }))],
  ])('writes in an update what it computes, but not its defaults: %s', async (_name, update) => {
    await open({ update })
    expect((await world.send('PATCH', 'posts/1', { note: 'count' })).body).toMatchObject({ title: 'one', slug: 'kept', views: 9 })
    expect((await world.send('PATCH', 'posts/bulk', { items: [{ id: 1, data: { note: 'name' } }] })).body.data[0]).toMatchObject({
      slug: 'computed',
      views: 9,
    })
    expect((await world.send('PATCH', 'posts/1', { title: 'up' })).body).toMatchObject({ title: 'up', slug: 'computed', views: 9 })
    expect((await world.send('PATCH', 'posts/1', { slug: 'made' })).body).toMatchObject({ slug: 'made' })
  })

  it('sets no default in an update that differs each time, or that it returns as a promise', async () => {
    let count = 100
    await open({
      update: z.object({
        title: z.string().optional(),
        views: z.number().default(() => count++),
        slug: z
          .string()
          .default('later')
          .refine(async () => true),
      }),
    })
    expect((await world.send('PATCH', 'posts/1', { title: 'up' })).body).toMatchObject({ title: 'up', slug: 'kept', views: 5 })
  })

  it('can return promises, of which a batch reports every refusal', async () => {
    await open({ create: z.object({ title: z.string().refine(async title => title !== 'taken', 'Taken.') }) })
    const { status, body } = await world.send('POST', 'posts/bulk', {
      items: [{ title: 'fine' }, { title: 'taken' }, { title: 'more' }, { title: 'taken' }],
    })
    expect([status, body.data.errors.map(({ index }: { index: number }) => index)]).toEqual([400, [1, 3]])
    expect((await world.send('POST', 'posts/bulk', { items: [{ title: 'fine' }, { title: 'more' }] })).body.meta).toEqual({
      total: 2,
      successful: 2,
      failed: 0,
    })
    expect((await world.send('POST', 'posts', { title: 'fine' })).body).toMatchObject({ title: 'fine' })
  })

  it('can have keys that are no column, which only hooks receive', async () => {
    const given: unknown[] = []
    await open({ create: ZOD }, { beforeCreate: data => void given.push(data.note) })
    expect((await world.send('POST', 'posts', { title: 'new', note: 'by the way' })).body).not.toHaveProperty('note')
    expect(given).toEqual(['by the way'])
    expect(await issues('POST', 'posts', { title: 'new', other: 1 })).toEqual(['other: unrecognized_keys'])
    expect(await issues('PATCH', 'posts/1', { note: 'x' })).toEqual(['note: unrecognized_keys'])
  })

  it('neither receives nor sets the columns that the server sets', async () => {
    const given: object[] = []
    await open({ create: other((value) => {
      given.push(value)
      return { value: { ...value, id: 77, score: 9, createdBy: 66 } }
    }) })
    const { body } = await world.send('POST', 'posts', { title: 'new', id: 50, score: 5, createdBy: 50 })
    expect(given).toEqual([{ title: 'new' }])
    expect([body.id, body.score, body.createdBy]).toEqual([2, 0, 1])
  })

  it('returns 400 with the name of the column when it returns a value that does not fit', async () => {
    await open({ create: other(value => ({ value: { ...value, views: 'many', dueAt: 'soon' } })) })
    expect(await issues('POST', 'posts', { title: 'new' })).toEqual(['views: invalid_type', 'dueAt: invalid_type'])
  })

  it('can be asynchronous, list no keys, and report nested paths', async () => {
    await open({
      create: {
        '~standard': {
          version: 1,
          vendor: 'by hand',
          validate: async (value: unknown) =>
            (value as { title?: string }).title === 'good'
              ? { value: { ...(value as object), views: 3 } }
              : { issues: [{ message: 'No.', path: ['deep', { key: 'list' }, 0] }, { message: 'Never.' }] },
        },
      },
    })
    expect((await world.send('POST', 'posts', { title: 'good', anything: 1 })).body).toMatchObject({ title: 'good', views: 3 })
    const { status, body } = await world.send('POST', 'posts', { title: 'bad' })
    expect([status, body.data.issues]).toEqual([
      400,
      [
        { path: ['deep', 'list', 0], message: 'No.', code: expect.any(String) },
        { path: [], message: 'Never.', code: expect.any(String) },
      ],
    ])
  })

  it('returns 400 and writes nothing when it does not return an object', async () => {
    await open({ create: other(() => ({ value: 'text' })) })
    expect(outcome(await world.send('POST', 'posts', { title: 'x' }))).toBe('400 INVALID_BODY')
    expect(stored()).toMatchObject({ id: 1 })
  })

  it('returns 500 without details when it throws', async () => {
    const { error } = console
    console.error = () => {}
    await open({ create: other(() => {
      throw new Error('secret of the schema')
    }) })
    const single = await world.send('POST', 'posts', { title: 'x' })
    const bulk = await world.send('POST', 'posts/bulk', { items: [{ title: 'x' }] })
    console.error = error
    expect([single.status, bulk.status, single.text + bulk.text]).toEqual([500, 500, expect.not.stringContaining('secret')])
  })
})

describe('createdAt', () => {
  it('can be sent in a create by a caller who can write it, and never in an update', async () => {
    await open()
    const at = '2020-01-01T00:00:00.000Z'
    expect((await world.send('POST', 'posts', { title: 'old', createdAt: at })).body.createdAt).toBe(at)
    expect((await world.send('PATCH', 'posts/2', { createdAt: '2021-01-01T00:00:00Z' })).body.createdAt).toBe(at)
  })
})

it('checks the field rules and the references of a key that a schema computes in an update', async () => {
  const notes = sqliteTable('notes', {
    id: integer('id').primaryKey(),
    text: text('text').notNull(),
    approved: integer('approved', { mode: 'boolean' }).notNull().default(false),
    postId: integer('post_id').references(() => posts.id),
  })
  const update = z.object({ text: z.string().optional(), approved: z.boolean().optional(), postId: z.number().optional() })
    .transform(({ text, ...rest }) => ({ ...rest, ...text === 'approve' && { approved: true }, ...text === 'move' && { postId: 2 } }))
  world = await openWorld({
    tables: { posts, notes },
    resources: {
      posts: { authorization: { permissions: EVERYTHING, objectLevel: row => (row as { id: number }).id !== 2 } },
      notes: { validation: { update }, authorization: { permissions: EVERYTHING, fields: { approved: { write: 'staff' } } as never } },
    },
    rows: 'insert into posts (id, title) values (1, \'one\'), (2, \'hidden\'); insert into notes (id, text, approved) values (1, \'a\', 0)',
  })
  expect((await world.send('PATCH', 'notes/1', { text: 'approve' })).body.data).toEqual({ code: 'FIELD_FORBIDDEN', fields: ['approved'] })
  expect((await world.send('PATCH', 'notes/1', { text: 'approve' }, { ...ADA, permissions: ['staff'] })).body).toMatchObject({
    approved: true,
  })
  expect(outcome(await world.send('PATCH', 'notes/1', { text: 'move' }))).toBe('400 INVALID_REFERENCE')
})

it('checks the field rule `write` for every key that a schema returns, whatever its name in the body', async () => {
  world = await openWorld({
    tables: { posts },
    resources: {
      posts: {
        validation: {
          create: z
            .object({ title: z.string(), views: z.number().optional(), slug: z.string().optional(), reads: z.number().optional() })
            .transform(({ reads, ...rest }) => ({ ...rest, ...(reads !== undefined && { views: reads }) })),
        },
        authorization: { permissions: EVERYTHING, fields: { views: { write: 'staff' }, slug: { write: false } } as never },
      },
    },
  })
  expect((await world.send('POST', 'posts', { title: 'new' })).body).toMatchObject({ slug: 'none', views: 0 })
  expect((await world.send('POST', 'posts', { title: 'new', reads: 5 })).body.data).toEqual({ code: 'FIELD_FORBIDDEN', fields: ['views'] })
  expect((await world.send('POST', 'posts', { title: 'new', reads: 5 }, { ...ADA, permissions: ['staff'] })).body.views).toBe(5)
  expect(outcome(await world.send('POST', 'posts', { title: 'new', views: 1 }))).toBe('403 FIELD_FORBIDDEN')
  expect(outcome(await world.send('POST', 'posts', { title: 'new', views: 1 }, { ...ADA, permissions: ['staff'] }))).toBe('201')
  expect(outcome(await world.send('POST', 'posts', { title: 'new', slug: 's' }, { ...ADA, permissions: ['*'] }))).toBe(
    '403 FIELD_FORBIDDEN',
  )
})
