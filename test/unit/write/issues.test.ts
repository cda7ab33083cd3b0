/** What a response says of an invalid body: everything at once, bounded, and nothing of fields that the caller may not read. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { sql } from 'drizzle-orm'
import { check, integer, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ResourceValidation } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { ADA, EVERYTHING, openWorld, told, type World, type WorldOptions } from './world'

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
const open = async (validation?: ResourceValidation, options: Partial<WorldOptions> = {}) => world = await openWorld({
  tables: { owners, posts, pages },
  resources: {
    owners: { authorization: { permissions: EVERYTHING, listFilter: table => sql`${(table as typeof owners).id} <> 2` } },
    posts: { validation: validation!, hiddenFields: ['secret'], authorization: { permissions: EVERYTHING, fields: { grade: { read: 'staff' }, weight: { read: 'staff' }, ownerId: { write: 'owner' } } as never } },
    pages: { authorization: { permissions: EVERYTHING, fields: { code: { read: 'staff' } } as never } },
  },
  rows: `insert into owners values (1, 'a'), (2, 'hidden'); insert into posts (id, title, secret, grade) values (1, 'one', 's', 'gold'); insert into pages values (1, 1, 'home', 'x')`,
  ...options,
})
const STAFF = { ...ADA, permissions: ['staff', 'owner'] }
const ask = async (body: unknown, caller = ADA) => {
  const { status, body: answer, text: whole } = await world.ask('POST', 'posts', body, caller)
  return { status, data: answer.data as { issues: { path: unknown[], message: string, code: string }[], truncated?: boolean }, text: whole }
}

const short = ({ data }: Awaited<ReturnType<typeof ask>>) => data.issues.map(({ path, code }) => `${path.join('.')}: ${code}`)
const GENERIC = { path: [], message: 'A value is missing or not valid.', code: 'invalid' }

describe('the size of a response', () => {
  it('is bounded however many keys are unknown and however long they are', async () => {
    await open()
    const keys = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`${'k'.repeat(index === 0 ? 100_000 : 5)}${index}`, 1]))
    const { status, data, text } = await ask({ ...keys, title: 'x' }, STAFF)
    expect([status, data.issues.length, data.truncated]).toEqual([400, 100, true])
    expect(data.issues[0]!.path[0]).toBe(`${'k'.repeat(60)}…`)
    expect(text.length).toBeLessThan(20_000)
  })

  it('is bounded over all items of a batch; each item that fails is named with an issue of its own', async () => {
    await open()
    const wrong = () => Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`unknown${index}`, 1]))
    const { status, body } = await world.ask('POST', 'posts/bulk', { items: Array.from({ length: 100 }, wrong) })
    const counts = body.data.errors.map(({ issues }: { issues: unknown[] }) => issues.length)
    expect([status, counts.length, Math.min(...counts), body.data.errors.every(({ truncated }: { truncated: boolean }) => truncated)]).toEqual([400, 100, 1, true])
    expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(100)
    const few = await world.ask('POST', 'posts/bulk', { items: [wrong(), { title: 1 }] }, STAFF)
    expect(few.body.data.errors.map(({ issues, truncated }: { issues: unknown[], truncated?: boolean }) => [issues.length, truncated])).toEqual([[99, true], [1, true]])
  })

  it('is bounded where an app\'s schema quotes every key in one message, or points to a place deep inside', async () => {
    await open({ create: z.object({ title: z.string(), details: z.strictObject({ a: z.number() }) }) })
    const { text } = await ask({ title: 'x', details: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, 1])) })
    expect(text.length).toBeLessThan(1500)
    await open({ create: { '~standard': { version: 1, vendor: 'by hand', validate: () => ({ issues: [{ message: 'm'.repeat(9999), path: Array.from({ length: 9999 }, () => 'p'.repeat(999)) }] }) } } satisfies StandardSchemaV1 })
    expect((await ask({})).text.length).toBeLessThan(6000)
  })

  it('is bounded where ids that were not found are named', async () => {
    await open()
    const { text } = await world.ask('DELETE', 'posts/bulk', { ids: Array.from({ length: 100 }, (_, index) => `${index}${'x'.repeat(5000)}`) })
    expect(text.length).toBeLessThan(60_000)
  })
})

describe('every problem of a body is in one response', () => {
  it('unknown keys, missing and invalid values together, with a generated schema', async () => {
    await open()
    expect(short(await ask({ nothing: 1, views: 'many', details: 5, grade: 'gold' }, STAFF))).toEqual(['nothing: unrecognized_keys', 'views: invalid_type', 'title: invalid_type', ': invalid'])
  })

  it('and with a schema of the app', async () => {
    await open({ create: z.object({ title: z.string(), views: z.number() }) })
    expect(short(await ask({ nothing: 1, views: 'many' }))).toEqual(['nothing: unrecognized_keys', 'title: invalid_type', 'views: invalid_type'])
  })

  it('says what was expected, and speaks of NUL characters only where there are any', async () => {
    await open()
    const messages = async (body: object) => (await ask({ ...body, grade: 'gold', secret: 's' }, STAFF)).data.issues.map(({ message }) => message)
    expect(await messages({ title: 5 })).toEqual(['Expected text.'])
    expect(await messages({ title: 'a\0b' })).toEqual(['A value cannot contain NUL characters.'])
  })
})

describe('fields that the caller may not read', () => {
  it('are one issue without name and values, whether missing or wrong', async () => {
    await open()
    expect((await ask({ title: 'x' })).data.issues).toEqual([GENERIC])
    const { data, text } = await ask({ title: 'x', grade: 'tin', secret: 5 })
    expect([data.issues, text]).toEqual([[GENERIC], expect.not.stringMatching(/gold|lead|grade|secret/)])
    expect(short(await ask({ title: 'x', secret: 's' }, STAFF))).toEqual(['grade: invalid_value'])
  })

  it('are so with a schema of the app and at nested paths, in bulk and on updates too', async () => {
    const schema = z.object({ title: z.string(), grade: z.enum(['gold', 'lead']), secret: z.object({ code: z.enum(['red']) }) })
    await open({ create: schema, update: schema.partial() })
    expect((await ask({ title: 'x', grade: 'tin', secret: { code: 'blue' } })).data.issues).toEqual([GENERIC])
    expect(short(await ask({ title: 'x', secret: { code: 'blue' } }, STAFF))).toEqual(['grade: invalid_value', ': invalid'])
    const updated = await world.ask('PATCH', 'posts/1', { grade: 'tin' })
    const bulk = await world.ask('POST', 'posts/bulk', { items: [{ title: 'x' }] })
    expect([updated.body.data.issues, bulk.body.data.errors[0].issues]).toEqual([[GENERIC], [GENERIC]])
  })
})

describe('what the database refuses', () => {
  const valid = { title: 'x', secret: 's', grade: 'gold' }

  it('names the column of a check to a caller who may read it, and has an issue without a path otherwise', async () => {
    await open()
    expect((await ask({ ...valid, rank: -1 })).data.issues).toEqual([{ path: ['rank'], message: 'The value is not allowed.', code: 'check' }])
    expect((await ask({ ...valid, weight: 99 }, STAFF)).data.issues).toEqual([{ path: ['weight'], message: 'The value is not allowed.', code: 'check' }])
    expect((await ask({ ...valid, weight: 99 })).data.issues).toEqual([{ path: [], message: 'A value is not allowed.', code: 'check' }])
  })

  it('of a required value that may not be read is an issue without a path', async () => {
    await open({ create: { '~standard': { version: 1, vendor: 'by hand', validate: (value: unknown) => ({ value }) } } satisfies StandardSchemaV1 })
    expect((await ask({ title: 'x', grade: 'gold' })).data.issues).toEqual([{ path: [], message: 'A required value is missing.', code: 'required' }])
  })

  it('of a unique value names neither the tenant column nor one that the caller may not read', async () => {
    await open(undefined, { config: { multiTenancy: DEFAULT_MULTI_TENANCY } })
    const taken = async (body: object, caller = ADA) => (await world.ask('POST', 'pages', body, caller)).body
    expect(await taken({ slug: 'home' })).toMatchObject({ message: 'A record with this slug already exists.', data: { code: 'CONFLICT', fields: ['slug'] } })
    world.client.exec('insert into pages values (2, 2, \'other\', \'y\')')
    expect((await taken({ slug: 'other', code: 'y' })).data).toEqual({ code: 'CONFLICT', fields: ['slug'] })
    expect((await taken({ slug: 'other', code: 'y' }, STAFF)).data).toEqual({ code: 'CONFLICT', fields: ['slug', 'code'] })
  })
})

describe('a schema that renames keys', () => {
  const renaming = z.object({ title: z.string(), owner: z.number().optional() }).transform(({ owner, ...rest }) => ({ ...rest, secret: 's', grade: 'gold', ...owner !== undefined && { ownerId: owner } }))
  const updating = z.object({ owner: z.number() }).transform(({ owner }) => ({ ownerId: owner }))

  it('does not escape the field-write rule', async () => {
    await open({ create: renaming, update: updating })
    for (const [method, path, body] of [['POST', 'posts', { title: 'x', owner: 1 }], ['PATCH', 'posts/1', { owner: 1 }]] as const) {
      const { status, body: answer } = await world.ask(method, path, body)
      expect([method, status, answer.data]).toEqual([method, 403, { code: 'FIELD_FORBIDDEN', fields: ['ownerId'] }])
      expect(told(await world.ask(method, path, body, STAFF))).toMatch(/^20/)
    }
  })

  it('does not escape the check of references', async () => {
    await open({ create: renaming, update: updating })
    const dump = world.dump()
    for (const owner of [2, 99]) {
      expect((await ask({ title: 'x', owner }, STAFF))).toMatchObject({ status: 400, data: { code: 'INVALID_REFERENCE', field: 'ownerId' } })
      expect(told(await world.ask('PATCH', 'posts/1', { owner }, STAFF))).toBe('400 INVALID_REFERENCE')
      expect(told(await world.ask('POST', 'posts/bulk', { items: [{ title: 'x', owner }] }, STAFF))).toBe('400 BULK_FAILED')
    }
    expect(world.dump()).toBe(dump)
  })
})
