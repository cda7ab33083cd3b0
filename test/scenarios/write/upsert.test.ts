/** Creates with `onConflict`: they update the record that has the values of a unique constraint, and create the others. */
import { sql } from 'drizzle-orm'
import { integer, real, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { AutoApiContext } from '../../../src/runtime/server/registration'
import { EVERYTHING, openWorld, outcome, type World } from './world'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  slug: text('slug'),
  code: text('code').unique(),
  day: integer('day', { mode: 'timestamp' }),
  room: text('room'),
  title: text('title').notNull(),
  note: text('note'),
  rate: real('rate').unique(),
  secret: text('secret').unique(),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
}, t => [unique('slugs').on(t.organizationId, t.slug), unique('slots').on(t.day, t.room)])

const people = sqliteTable('people', { id: integer('id').primaryKey(), email: text('email').notNull().unique(), name: text('name') })

const seats = sqliteTable('seats', { name: text('name').primaryKey(), note: text('note') })

const hooks = { beforeCreate: vi.fn((data: object) => data), beforeUpdate: vi.fn((_: unknown, data: object) => data), afterCreate: vi.fn(),
  afterUpdate: vi.fn() }

let world: World
beforeAll(async () => {
  world = await openWorld({
    tables: { posts, people, seats },
    resources: {
      posts: {
        authorization: {
          permissions: { read: true, create: 'create', update: 'update', delete: true },
          listFilter: (table, ctx) => {
            const { note } = table as typeof posts
            return ctx.permissions.includes('all') ? undefined : sql`${note} <> ${'invisible'}`
          },
          fields: { slug: { write: (ctx: AutoApiContext) => ctx.operation === 'create' } } as never,
        },
        hiddenFields: ['secret'],
        hooks: hooks as never,
      },
      people: { authorization: { permissions: EVERYTHING },
        validation: {
          create: z.object({ email: z.string().transform(text => text.toLowerCase()), name: z.string() }),
          update: z.object({ email: z.string().transform(text => text.toLowerCase()), name: z.string() }).partial(),
        } as never },
    },
    rows: `insert into posts (id, organization_id, slug, code, day, room, title, note) values (1, 1, 'one', 'c1', 86400, 'a', 'One', ''),
        (2, 1, 'two', 'c2', null, null, 'Two', ''), (3, 1, 'hidden', 'c3', null, null, 'Hidden', 'invisible'), (11, 2, 'one', 'c11', null, null, 'Theirs', '');
      insert into posts (id, organization_id, slug, code, title, note, deleted_at) values (4, 1, 'trashed', 'c4', 'Trashed', '', 1000);
      insert into seats values ('red', null);
      insert into people values (1, 'ada@example.org', 'Ada')`,
    config: { multiTenancy: { ...DEFAULT_MULTI_TENANCY, excludedResources: ['people', 'seats'] } },
  })
})
beforeEach(() => {
  world.reset()
  vi.clearAllMocks()
})
afterAll(() => world.client.close())

const calls = () => [hooks.beforeCreate, hooks.afterCreate, hooks.beforeUpdate, hooks.afterUpdate].map(({ mock }) => mock.calls.length)

const as = (...permissions: string[]) => ({ user: { id: 1, organizationId: 1 }, permissions })
const BOTH = as('create', 'update')
const upsert = (body: object, on = 'slug', caller = BOTH) => world.send('POST', `posts?onConflict=${on}`, body, caller)
const upsertAll = (items: object[], on = 'slug', caller = BOTH) => world.send('POST', `posts/bulk?onConflict=${on}`, { items }, caller)

describe('an upsert of one record', () => {
  it('creates a record whose key no record has: 201 with its address', async () => {
    const { status, body, headers } = await upsert({ slug: 'new', title: 'New', note: '' })
    expect([status, headers.get('location')]).toEqual([201, `/api/posts/${body.id}`])
    expect(body).toMatchObject({ slug: 'new', title: 'New', organizationId: 1 })
    expect(calls()).toEqual([1, 1, 0, 0])
  })

  it('updates the record that has the key: 200 without an address, and no field that is not given changes', async () => {
    const { status, body, headers } = await upsert({ slug: 'one', title: 'Changed' })
    expect([status, headers.get('location')]).toEqual([200, null])
    expect(body).toMatchObject({ id: 1, slug: 'one', code: 'c1', title: 'Changed' })
    expect(calls()).toEqual([0, 0, 1, 1])
    expect(world.rows('select title from posts where id = 11')).toEqual(['Theirs'])
  })

  it('is validated as an update if the record exists, and as a create if not', async () => {
    expect(outcome(await upsert({ slug: 'one', note: 'x' }))).toBe('200')
    expect(outcome(await upsert({ slug: 'new', note: 'x' }))).toBe('400 VALIDATION_FAILED')
  })

  it('does not write the key, so a rule that forbids to change it does not refuse the update', async () => {
    expect(outcome(await upsert({ slug: 'one', title: 'x' }))).toBe('200')
    expect(outcome(await world.send('PATCH', 'posts/1', { slug: 'other' }, BOTH))).toBe('403 FIELD_FORBIDDEN')
  })

  it.each([
    ['a constraint over several columns, in any order', 'room,day', { day: '1970-01-02T00:00:00.000Z', room: 'a' }, 1],
    ['a constraint of one column', 'code', { code: 'c2' }, 2],
    ['the tenant column of the constraint, named', 'organizationId,slug', { slug: 'two' }, 2],
  ])('finds the record by %s', async (_, on, key, id) => {
    const { status, body } = await upsert({ ...key, title: 'x' }, on)
    expect([status, body.id]).toEqual([200, id])
  })

  it('finds the record by the primary key, if a client can set it', async () => {
    for (const [name, status] of [['red', 200], ['blue', 201]] as const)
      expect((await world.send('POST', 'seats?onConflict=name', { name, note: 'x' })).status).toBe(status)
    expect(world.rows('select note from seats')).toEqual(['x', 'x'])
  })

  it('creates a record whose key contains NULL or is missing', async () => {
    for (const key of [{ slug: null }, {}]) expect(outcome(await upsert({ ...key, title: 'x', note: '' }))).toBe('201')
    expect(world.rows('select count(*) from posts where slug is null')).toEqual([2])
  })

  it('finds the record by the key that the schema of the app returns', async () => {
    const { status, body } = await world.send('POST', 'people?onConflict=email', { email: 'ADA@example.org', name: 'Countess' })
    expect([status, body]).toEqual([200, { id: 1, email: 'ada@example.org', name: 'Countess' }])
  })

  it.each([
    ['in the trash', { slug: 'trashed' }, 'slug'],
    ['that the caller cannot see', { slug: 'hidden' }, 'slug'],
    ['of another tenant', { code: 'c11' }, 'code'],
  ])('answers for a record %s exactly what a create answers', async (_, key, on) => {
    const body = { ...key, title: 'x', note: '' }
    const before = world.dump()
    const created = await world.send('POST', 'posts', body, BOTH)
    const upserted = await upsert(body, on)
    expect(outcome(created)).toBe('409 CONFLICT')
    expect({ ...upserted.body, url: '' }).toEqual({ ...created.body, url: '' })
    expect(world.dump()).toBe(before)
  })

  it.each([
    ['create', { slug: 'new' }, '201'],
    ['create', { slug: 'one' }, '403 FORBIDDEN'],
    ['update', { slug: 'new' }, '403 FORBIDDEN'],
    ['update', { slug: 'one' }, '200'],
    ['none', { slug: 'one' }, '403 FORBIDDEN'],
  ])('needs the permission for what it does: with %s, %j is %s', async (permission, key, expected) => {
    expect(outcome(await upsert({ ...key, title: 'x', note: '' }, 'slug', as(permission)))).toBe(expected)
  })

  it('refuses an anonymous caller before it reads the request', async () => {
    expect(outcome(await upsert({ nothing: 1 }, 'nothing', { user: null } as never))).toBe('401 UNAUTHENTICATED')
  })

  it('writes nothing in a dry run', async () => {
    const before = world.dump()
    for (const [slug, status] of [['one', 200], ['new', 201]] as const) {
      const answer = await world.send('POST', 'posts?onConflict=slug&dryRun=true', { slug, title: 'x', note: '' }, BOTH)
      expect([answer.status, answer.headers.get('location'), answer.body.title]).toEqual([status, null, 'x'])
    }
    expect(world.dump()).toBe(before)
  })
})

describe('the parameter `onConflict`', () => {
  it.each([
    ['', '400 INVALID_QUERY', /names no field/],
    ['title', '400 INVALID_QUERY', /no unique constraint of `posts` has exactly the fields `title`\. You can name: `slug`, `day,room`, `code`/],
    ['slug,code', '400 INVALID_QUERY', /no unique constraint/],
    ['organizationId,code', '400 INVALID_QUERY', /no unique constraint/],
    ['id', '400 INVALID_QUERY', /the server sets `id`, so no new record can have a given value/],
    ['organizationId', '400 INVALID_QUERY', /no unique constraint/],
    ['nothing', '400 UNKNOWN_FIELD', /nothing/],
    ['secret', '400 UNKNOWN_FIELD', /secret/],
    ['rate', '400 INVALID_QUERY', /`rate` is of the kind number/],
  ])('refuses %j', async (on, expected, message) => {
    const answer = await upsert({ slug: 'x', title: 'x' }, on)
    expect([outcome(answer), answer.body.message]).toEqual([expected, expect.stringMatching(message)])
  })

  it('cannot be sent with `If-Match`', async () => {
    const answer = await world.request('POST', '/api/posts?onConflict=slug', { body: { slug: 'one' }, caller: BOTH,
      headers: { 'if-match': '*' } })
    expect(outcome(answer)).toBe('400 INVALID_VALUE')
  })
})

describe('an upsert of many records', () => {
  it('answers the records in the order of the request, and counts both kinds', async () => {
    const { status, body } = await upsertAll([{ slug: 'new', title: 'a', note: '' }, { slug: 'two', title: 'b' }, { slug: 'newer', title: 'c', note: '' },
      { slug: 'one', title: 'd' }])
    expect([status, body.data.map(({ title, slug }: Record<string, unknown>) => [title, slug])]).toEqual([200,
      [['a', 'new'], ['b', 'two'], ['c', 'newer'], ['d', 'one']]])
    expect(body.meta).toEqual({ total: 4, successful: 4, failed: 0, created: 2, updated: 2 })
  })

  it('names all items with one key, whether a record has it or not', async () => {
    const before = world.dump()
    const { status, body } = await upsertAll([{ slug: 'x', title: 'a' }, { slug: 'y', title: 'b' }, { slug: 'x', title: 'c' }, { slug: 'one', title: 'd' },
      { slug: 'one', title: 'e' }])
    expect([status, body.data.code, body.data.errors.map(({ index, code }: Record<string, unknown>) => [index, code])]).toEqual([409, 'BULK_FAILED',
      [[0, 'CONFLICT'], [2, 'CONFLICT'], [3, 'CONFLICT'], [4, 'CONFLICT']]])
    expect(world.dump()).toBe(before)
  })

  it('names two new items with one key to a caller who cannot update', async () => {
    const { status, body } = await upsertAll([{ slug: 'x', title: 'a' }, { slug: 'x', title: 'c' }], 'slug', as('create'))
    expect([status, body.data.code]).toEqual([409, 'BULK_FAILED'])
  })

  it('writes nothing if one item fails, and names it', async () => {
    const before = world.dump()
    const { status, body } = await upsertAll([{ slug: 'one', title: 'x' }, { slug: 'new' }, { slug: 'hidden', title: 'x', note: '' }, 7 as never])
    expect([status, body.data.errors.map(({ index, code }: Record<string, unknown>) => [index, code])])
      .toEqual([400, [[1, 'VALIDATION_FAILED'], [3, 'INVALID_BODY']]])
    expect(world.dump()).toBe(before)
  })
})

describe('an upsert beside another request', () => {
  /** Runs SQL once, in the last hook before the commit. */
  const meanwhile = (hook: 'beforeCreate' | 'beforeUpdate', statement: string) => {
    const run = (data: object) => {
      world.client.exec(statement)
      return data
    }
    if (hook === 'beforeCreate') hooks.beforeCreate.mockImplementationOnce(run)
    else hooks.beforeUpdate.mockImplementationOnce((_, data) => run(data))
  }

  it('updates a record that the other request has created', async () => {
    meanwhile('beforeCreate', 'insert into posts (id, organization_id, slug, title, note) values (50, 1, \'new\', \'Other\', \'\')')
    const { status, body } = await upsert({ slug: 'new', title: 'Mine', note: '' })
    expect([status, body.id, body.title]).toEqual([200, 50, 'Mine'])
    // Both before-hooks, and the after-hook of the update.
    expect(calls()).toEqual([1, 0, 1, 1])
  })

  it('creates a record that the other request has deleted', async () => {
    meanwhile('beforeUpdate', 'delete from posts where id = 1')
    const { status, body } = await upsert({ slug: 'one', title: 'Mine', note: '' })
    expect([status, body.title]).toEqual([201, 'Mine'])
  })

  it('does not update a record that the other request has renamed', async () => {
    meanwhile('beforeUpdate', 'update posts set slug = \'renamed\' where id = 1')
    const { status, body } = await upsert({ slug: 'one', title: 'Mine', note: '' })
    expect([status, body.title]).toEqual([201, 'Mine'])
    expect(world.rows('select title from posts where id = 1')).toEqual(['One'])
  })

  it('runs the hooks of the other items once', async () => {
    meanwhile('beforeCreate', 'insert into posts (id, organization_id, slug, title, note) values (50, 1, \'new\', \'Other\', \'\')')
    const { status, body } = await upsertAll([{ slug: 'new', title: 'a', note: '' }, { slug: 'newer', title: 'b', note: '' }, { slug: 'two', title: 'c' }])
    expect([status, body.meta.created, body.meta.updated]).toEqual([200, 1, 2])
    expect([hooks.beforeCreate, hooks.beforeUpdate].map(({ mock }) => mock.calls.length)).toEqual([2, 2])
  })
})
