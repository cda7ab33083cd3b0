/** Tests the response to an invalid body: it reports every problem, is limited in size, and does not disclose unreadable fields. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { sql } from 'drizzle-orm'
import { check, integer, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ResourceValidation } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { ADA, EVERYTHING, openWorld, outcome, type World, type WorldOptions } from './world'

const owners = sqliteTable('owners', { id: integer('id').primaryKey(), name: text('name') })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  views: integer('views'),
  rank: integer('rank'),
  weight: integer('weight'),
  details: text('details', { mode: 'json' }).$type<object>(),
  /** Hidden from everybody. */
  secret: text('secret').notNull(),
  /** Read by staff. */
  grade: text('grade', { enum: ['gold', 'lead'] }).notNull(),
  ownerId: integer('owner_id').references(() => owners.id),
}, t => [check('rank_is_positive', sql`${t.rank} > 0`), check('weight_is_small', sql`${t.weight} < 10`)])
const pages = sqliteTable('pages', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  slug: text('slug').notNull(),
  code: text('code'),
}, t => [unique().on(t.organizationId, t.slug), unique().on(t.slug, t.code)])

let world: World
afterEach(() => world.client.close())
const open = async (validation?: ResourceValidation, options: Partial<WorldOptions> = {}) =>
  (world = await openWorld({
    tables: { owners, posts, pages },
    resources: {
      owners: { authorization: { permissions: EVERYTHING, listFilter: table => sql`${(table as typeof owners).id} <> 2` } },
      posts: {
        validation: validation!,
        hiddenFields: ['secret'],
        authorization: {
          permissions: EVERYTHING,
          fields: { grade: { read: 'staff' }, weight: { read: 'staff' }, ownerId: { write: 'owner' } } as never,
        },
      },
      pages: { authorization: { permissions: EVERYTHING, fields: { code: { read: 'staff' } } as never } },
    },
    rows: `insert into owners values (1, 'a'), (2, 'hidden'); insert into posts (id, title, secret, grade) values (1, 'one', 's', 'gold'); insert into pages values (1, 1, 'home', 'x')`,
    ...options,
  }))
const STAFF = { ...ADA, permissions: ['staff', 'owner'] }
const send = async (body: unknown, caller = ADA) => {
  const { status, body: answer, text: whole } = await world.send('POST', 'posts', body, caller)
  return { status, data: answer.data as { issues: { path: unknown[], message: string, code: string }[], truncated?: boolean }, text: whole }
}

const short = ({ data }: Awaited<ReturnType<typeof send>>) => data.issues.map(({ path, code }) => `${path.join('.')}: ${code}`)
const GENERIC = { path: [], message: 'A value is missing or not valid.', code: 'invalid' }

describe('the size of an error response', () => {
  it('is limited for many and for long unknown keys', async () => {
    await open()
    const keys = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`${'k'.repeat(index === 0 ? 100_000 : 5)}${index}`, 1]))
    const { status, data, text } = await send({ ...keys, title: 'x' }, STAFF)
    expect([status, data.issues.length, data.truncated]).toEqual([400, 100, true])
    expect(data.issues[0]!.path[0]).toBe(`${'k'.repeat(60)}…`)
    expect(text.length).toBeLessThan(20_000)
  })

  it('is limited over all items of a batch, while each failed item has at least one issue', async () => {
    await open()
    const wrong = () => Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`unknown${index}`, 1]))
    const { status, body } = await world.send('POST', 'posts/bulk', { items: Array.from({ length: 100 }, wrong) })
    const counts = body.data.errors.map(({ issues }: { issues: unknown[] }) => issues.length)
    expect([
      status,
      counts.length,
      Math.min(...counts),
      body.data.errors.every(({ truncated }: { truncated: boolean }) => truncated),
    ]).toEqual([400, 100, 1, true])
    expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(100)
    const few = await world.send('POST', 'posts/bulk', { items: [wrong(), { title: 1 }] }, STAFF)
    expect(
      few.body.data.errors.map(({ issues, truncated }: { issues: unknown[], truncated?: boolean }) => [issues.length, truncated]),
    ).toEqual([
      [99, true],
      [1, true],
    ])
  })

  it('is limited when a schema of the app quotes every key in one message, or reports a deeply nested path', async () => {
    await open({ create: z.object({ title: z.string(), details: z.strictObject({ a: z.number() }) }) })
    const { text } = await send({ title: 'x', details: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, 1])) })
    expect(text.length).toBeLessThan(1500)
    await open({
      create: {
        '~standard': {
          version: 1,
          vendor: 'by hand',
          validate: () => ({ issues: [{ message: 'm'.repeat(9999), path: Array.from({ length: 9999 }, () => 'p'.repeat(999)) }] }),
        },
      } satisfies StandardSchemaV1,
    })
    expect((await send({})).text.length).toBeLessThan(6000)
  })

  it('is limited when it names ids that were not found', async () => {
    await open()
    const { text } = await world.send('DELETE', 'posts/bulk', {
      ids: Array.from({ length: 100 }, (_, index) => `${index}${'x'.repeat(5000)}`),
    })
    expect(text.length).toBeLessThan(60_000)
  })
})

describe('the response to an invalid body', () => {
  it('reports unknown keys, missing values and invalid values together, with a generated schema', async () => {
    await open()
    expect(short(await send({ nothing: 1, views: 'many', details: 5, grade: 'gold' }, STAFF))).toEqual([
      'nothing: unrecognized_keys',
      'views: invalid_type',
      'title: invalid_type',
      ': invalid',
    ])
  })

  it('reports them together with a schema of the app', async () => {
    await open({ create: z.object({ title: z.string(), views: z.number() }) })
    expect(short(await send({ nothing: 1, views: 'many' }))).toEqual([
      'nothing: unrecognized_keys',
      'title: invalid_type',
      'views: invalid_type',
    ])
  })

  it('states what was expected, and mentions NUL characters only when there are any', async () => {
    await open()
    const messages = async (body: object) =>
      (await send({ ...body, grade: 'gold', secret: 's' }, STAFF)).data.issues.map(({ message }) => message)
    expect(await messages({ title: 5 })).toEqual(['Expected text.'])
    expect(await messages({ title: 'a\0b' })).toEqual(['A value cannot contain NUL characters.'])
  })
})

describe('fields that the caller cannot read', () => {
  it('are reported as one issue without names and values, whether missing or invalid', async () => {
    await open()
    expect((await send({ title: 'x' })).data.issues).toEqual([GENERIC])
    const { data, text } = await send({ title: 'x', grade: 'tin', secret: 5 })
    expect([data.issues, text]).toEqual([[GENERIC], expect.not.stringMatching(/gold|lead|grade|secret/)])
    expect(short(await send({ title: 'x', secret: 's' }, STAFF))).toEqual(['grade: invalid_value'])
  })

  it('are reported in the same way with a schema of the app, at nested paths, in bulk writes and in updates', async () => {
    const schema = z.object({ title: z.string(), grade: z.enum(['gold', 'lead']), secret: z.object({ code: z.enum(['red']) }) })
    await open({ create: schema, update: schema.partial() })
    expect((await send({ title: 'x', grade: 'tin', secret: { code: 'blue' } })).data.issues).toEqual([GENERIC])
    expect(short(await send({ title: 'x', secret: { code: 'blue' } }, STAFF))).toEqual(['grade: invalid_value', ': invalid'])
    const updated = await world.send('PATCH', 'posts/1', { grade: 'tin' })
    const bulk = await world.send('POST', 'posts/bulk', { items: [{ title: 'x' }] })
    expect([updated.body.data.issues, bulk.body.data.errors[0].issues]).toEqual([[GENERIC], [GENERIC]])
  })
})

describe('a value that the database refuses', () => {
  const valid = { title: 'x', secret: 's', grade: 'gold' }

  it('names the column of a check constraint only if the caller can read it', async () => {
    await open()
    expect((await send({ ...valid, rank: -1 })).data.issues).toEqual([
      { path: ['rank'], message: 'The value is not allowed.', code: 'check' },
    ])
    expect((await send({ ...valid, weight: 99 }, STAFF)).data.issues).toEqual([
      { path: ['weight'], message: 'The value is not allowed.', code: 'check' },
    ])
    expect((await send({ ...valid, weight: 99 })).data.issues).toEqual([{ path: [], message: 'A value is not allowed.', code: 'check' }])
  })

  it('is an issue without a path when a required column is not readable', async () => {
    await open({
      create: { '~standard': { version: 1, vendor: 'by hand', validate: (value: unknown) => ({ value }) } } satisfies StandardSchemaV1,
    })
    expect((await send({ title: 'x', grade: 'gold' })).data.issues).toEqual([
      { path: [], message: 'A required value is missing.', code: 'required' },
    ])
  })

  it('names neither the tenant column nor an unreadable column of a unique constraint', async () => {
    await open(undefined, { config: { multiTenancy: DEFAULT_MULTI_TENANCY } })
    const taken = async (body: object, caller = ADA) => (await world.send('POST', 'pages', body, caller)).body
    expect(await taken({ slug: 'home' })).toMatchObject({
      message: 'A record with this slug already exists.',
      data: { code: 'CONFLICT', fields: ['slug'] },
    })
    world.client.exec('insert into pages values (2, 2, \'other\', \'y\')')
    expect((await taken({ slug: 'other', code: 'y' })).data).toEqual({ code: 'CONFLICT', fields: ['slug'] })
    expect((await taken({ slug: 'other', code: 'y' }, STAFF)).data).toEqual({ code: 'CONFLICT', fields: ['slug', 'code'] })
  })
})

describe('a schema that renames keys', () => {
  const renaming = z
    .object({ title: z.string(), owner: z.number().optional() })
    .transform(({ owner, ...rest }) => ({ ...rest, secret: 's', grade: 'gold', ...(owner !== undefined && { ownerId: owner }) }))
  const updating = z.object({ owner: z.number() }).transform(({ owner }) => ({ ownerId: owner }))

  it('does not bypass field write rules', async () => {
    await open({ create: renaming, update: updating })
    for (const [method, path, body] of [['POST', 'posts', { title: 'x', owner: 1 }], ['PATCH', 'posts/1', { owner: 1 }]] as const) {
      const { status, body: answer } = await world.send(method, path, body)
      expect([method, status, answer.data]).toEqual([method, 403, { code: 'FIELD_FORBIDDEN', fields: ['ownerId'] }])
      expect(outcome(await world.send(method, path, body, STAFF))).toMatch(/^20/)
    }
  })

  it('does not bypass the check of references', async () => {
    await open({ create: renaming, update: updating })
    const dump = world.dump()
    for (const owner of [2, 99]) {
      expect(await send({ title: 'x', owner }, STAFF)).toMatchObject({ status: 400, data: { code: 'INVALID_REFERENCE', field: 'ownerId' } })
      expect(outcome(await world.send('PATCH', 'posts/1', { owner }, STAFF))).toBe('400 INVALID_REFERENCE')
      expect(outcome(await world.send('POST', 'posts/bulk', { items: [{ title: 'x', owner }] }, STAFF))).toBe('400 BULK_FAILED')
    }
    expect(world.dump()).toBe(dump)
  })
})
