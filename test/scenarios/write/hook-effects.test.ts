/**
 * Tests the effects of hooks: what they can write, which of the fields they return are in the response, and what happens when they throw.
 */
import { sql, type SQL } from 'drizzle-orm'
import { createError } from 'h3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ResourceHooks } from '../../../src/runtime/server/registration'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { openBlog } from './blog'
import { outcome, type World } from './world'

let world: World
let dump: string
afterEach(() => {
  world.client.close()
  vi.restoreAllMocks()
})
const open = async (hooks: ResourceHooks, hookConfig: Partial<typeof DEFAULT_CONFIG.hookConfig> = {}) => {
  world = await openBlog({ hooks, config: { hookConfig: { ...DEFAULT_CONFIG.hookConfig, ...hookConfig } } })
  dump = world.dump()
}

const row = (id: number) => world.client.prepare('select * from posts where id = ?').get(id)
const silence = () => vi.spyOn(console, 'error').mockImplementation(() => {})

/** Each kind of write, named after its hooks. */
const WRITES = [
  ['Create', 'POST', 'posts', { title: 'new' }, 201],
  ['Update', 'PATCH', 'posts/1', { title: 'new' }, 200],
  ['Delete', 'DELETE', 'posts/1', undefined, 200],
  ['Restore', 'POST', 'posts/3/restore', undefined, 200],
  ['Purge', 'DELETE', 'posts/1?force=true', undefined, 200],
  ['Create', 'POST', 'posts/bulk', { items: [{ title: 'new' }] }, 200],
  ['Update', 'PATCH', 'posts/bulk', { items: [{ id: 1, data: { title: 'new' } }] }, 200],
  ['Delete', 'DELETE', 'posts/bulk', { ids: [1] }, 200],
  ['Restore', 'POST', 'posts/bulk/restore', { ids: [3] }, 200],
  ['Purge', 'DELETE', 'posts/bulk?force=true', { ids: [1] }, 200],
] as const

const refuse = () => {
  throw createError({ statusCode: 409, message: 'Not in the holidays.', data: { until: 'Monday' } })
}

describe.each(WRITES)('%s by %s %s', (name, method, path, body, status) => {
  const bulk = path.includes('bulk')

  it('returns the status of the error that a before-hook throws, and writes nothing', async () => {
    await open({ [`before${name}`]: refuse })
    const answer = await world.send(method, path, body)
    expect([answer.status, bulk ? answer.body.data.errors[0].message : answer.body.message]).toEqual([409, 'Not in the holidays.'])
    if (!bulk) expect(answer.body.data).toEqual({ until: 'Monday' })
    expect(world.dump()).toBe(dump)
  })

  it('stays committed when an after-hook throws, returns the status of the error, and runs the other hooks', async () => {
    const others: unknown[] = []
    world = await openBlog({
      hooks: { [`after${name}`]: () => void others.push(world.dump()) },
      added: ({ addGlobalHook }) => addGlobalHook({ [`after${name}`]: refuse }),
    })
    dump = world.dump()
    const answer = await world.send(method, path, body)
    expect([answer.status, answer.body.message]).toEqual([409, 'Not in the holidays.'])
    // The after-hook found it committed.
    expect(others).toEqual([world.dump()])
    expect(world.dump()).not.toBe(dump)
  })

  it('returns success and logs the error when `afterErrors` is "log"', async () => {
    const log = silence()
    await open({ [`after${name}`]: refuse }, { afterErrors: 'log' })
    expect((await world.send(method, path, body)).status).toBe(status)
    expect(log).toHaveBeenCalledOnce()
    expect(world.dump()).not.toBe(dump)
  })

  it('returns 500 and writes nothing when a before-hook exceeds its timeout', async () => {
    const log = silence()
    await open({ [`before${name}`]: () => new Promise(() => {}) }, { timeout: 15 })
    const answer = await world.send(method, path, body)
    expect(answer.status).toBe(500)
    expect([world.dump(), JSON.stringify(log.mock.calls.flat().map(String))]).toEqual([dump, expect.stringContaining(`before${name}`)])
  })
})

describe('an after-hook', () => {
  it('returns 500 when it exceeds its timeout, and the write stays committed', async () => {
    silence()
    await open({ afterCreate: () => new Promise(() => {}) }, { timeout: 15 })
    expect((await world.send('POST', 'posts', { title: 'new' })).status).toBe(500)
    expect(row(12)).toMatchObject({ title: 'new' })
  })

  it.each([
    ['posts', { title: 'a', slug: 'taken' }],
    ['posts/bulk', { items: [{ title: 'a' }, { title: 'b', slug: 'taken' }] }],
  ])('does not run when the commit fails: %s', async (path, body) => {
    const afterCreate = vi.fn()
    await open({ afterCreate })
    world.client.exec('update posts set slug = \'taken\' where id = 11')
    expect((await world.send('POST', path, body)).status).toBe(409)
    expect(afterCreate).not.toHaveBeenCalled()
  })

  it.each([
    ['afterGet', 'posts/1'],
    ['afterList', 'posts'],
    ['beforeGet', 'posts/1'],
    ['beforeList', 'posts'],
  ])('fails the request when it throws in a read, as a before-hook does, whatever `afterErrors` is: %s', async (name, path) => {
    await open({ [name]: refuse }, { afterErrors: 'log' })
    expect((await world.send('GET', path)).status).toBe(409)
  })

  const answers = { secret: 's', fee: 9, title: 'told', extra: true, organizationId: 7 }
  it.each([
    ['afterCreate', 'POST', 'posts', { title: 'a' }],
    ['afterUpdate', 'PATCH', 'posts/1', { title: 'a' }],
    ['afterUpdate', 'PATCH', 'posts/1', {}],
    ['afterRestore', 'POST', 'posts/3/restore', undefined],
    ['afterGet', 'GET', 'posts/1', undefined],
    ['afterCreate', 'POST', 'posts/bulk', { items: [{ title: 'a' }] }],
    ['afterUpdate', 'PATCH', 'posts/bulk', { items: [{ id: 1, data: {} }] }],
    ['afterList', 'GET', 'posts', undefined],
  ])('returns to the client only readable fields and keys that are no column: %s of %s %s', async (name, method, path, body) => {
    await open({ [name]: () => (name === 'afterList' ? [answers] : answers) })
    const { body: answer } = await world.send(method, path, body)
    expect(answer.data?.[0] ?? answer).toEqual({ title: 'told', extra: true, organizationId: 7 })
  })

  it.each([
    ['PATCH', 'posts/1', 'afterUpdate'],
    ['GET', 'posts/1', 'afterGet'],
  ])('can replace a date by a text: %s %s', async (method, path, name) => {
    await open({ [name]: (record: object) => ({ ...record, updatedAt: 'today' }) })
    expect((await world.send(method, path, method === 'PATCH' ? { title: 'x' } : undefined)).body.updatedAt).toBe('today')
  })

  it('does not receive fields that the caller cannot read', async () => {
    const given: unknown[] = []
    await open({ afterUpdate: record => void given.push(Object.keys(record)), afterGet: record => void given.push(Object.keys(record)) })
    await world.send('PATCH', 'posts/1', { title: 'a' })
    await world.send('GET', 'posts/1')
    for (const keys of given) expect(keys).not.toEqual(expect.arrayContaining(['fee']))
    expect(given).toHaveLength(2)
  })
})

describe('several hooks of an operation', () => {
  /** The ways to return a value. */
  const WAYS: Record<string, (value: unknown) => unknown> = {
    'directly': value => value,
    'as a promise': value => Promise.resolve(value),
    'as an object that runs when it is awaited': value => ({ then: (done: (value: unknown) => void) => void setTimeout(done, 1, value) }),
  }
  const pairs = Object.keys(WAYS).flatMap(first => Object.keys(WAYS).map(second => [first, second]))

  it.each(pairs)('run one after another, whether they return values %s or %s', async (first, second) => {
    const ran: string[] = []
    const adding = (way: string, mark: string) => (record: { title?: string }) => {
      ran.push(mark + record.title)
      return WAYS[way]!({ ...record, title: record.title + mark })
    }
    world = await openBlog({
      added: ({ addGlobalHook }) => {
        addGlobalHook({ beforeCreate: adding(first!, '1'), afterCreate: adding(first!, '3') } as ResourceHooks)
        addGlobalHook({ beforeCreate: adding(second!, '2'), afterCreate: adding(second!, '4') } as ResourceHooks)
      },
    })
    const { body } = await world.send('POST', 'posts/bulk', { items: [{ title: 'a' }, { title: 'b' }] })
    expect(body.data.map(({ title }: { title: string }) => title)).toEqual(['a1234', 'b1234'])
    expect(ran).toEqual(['1a', '2a1', '1b', '2b1', '3a12', '4a123', '3b12', '4b123'])
  })

  it.each(Object.keys(WAYS))('of a get change its record, whether they return it %s', async (way) => {
    await open({ afterGet: (record: object) => WAYS[way]!({ ...record, title: 'changed' }) } as ResourceHooks)
    expect((await world.send('GET', 'posts/1')).body.title).toBe('changed')
  })

  it('can set a condition when the object is awaited', async () => {
    const refusing = (_id: unknown, data: object, ctx: { condition?: SQL }) => ({
      then: (done: (value: object) => void) => {
        ctx.condition = sql`1 = 0`
        done(data)
      },
    })
    await open({ beforeUpdate: refusing } as unknown as ResourceHooks)
    expect((await world.send('PATCH', 'posts/1', { title: 'new' })).status).toBe(412)
    expect(world.dump()).toBe(dump)
  })

  it.each([
    ['beforeCreate', 'POST', 'posts'],
    ['afterCreate', 'POST', 'posts'],
    ['beforeGet', 'GET', 'posts/1'],
    ['afterGet', 'GET', 'posts/1'],
  ])('have the same timeout for an object that never ends as for a promise: %s', async (name, method, path) => {
    const log = silence()
    await open({ [name]: () => ({ then: () => {} }) } as unknown as ResourceHooks, { timeout: 15 })
    expect((await world.send(method, path, method === 'POST' ? { title: 'new' } : undefined)).status).toBe(500)
    expect(JSON.stringify(log.mock.calls.flat().map(String))).toContain(`${name} of \`posts\` took longer`)
  })
})

describe('a value that a before-hook sets', () => {
  /** Everything there is to set, and more. */
  const ALL = {
    id: 77,
    organizationId: 2,
    title: 'hook',
    score: 8,
    fee: 9,
    secret: 'hook',
    createdBy: 66,
    parentId: 11,
    deletedAt: new Date(1),
    deletionId: 'mine',
    nothing: 1,
  }

  it('is written by a create to hidden, protected and unwritable columns, but not to tenant and trash columns', async () => {
    await open({ beforeCreate: () => ALL })
    expect(outcome(await world.send('POST', 'posts', { title: 'new' }))).toBe('201')
    expect(row(77)).toMatchObject({
      organization_id: 1,
      title: 'hook',
      score: 8,
      fee: 9,
      secret: 'hook',
      created_by: 66,
      parent_id: 11,
      deleted_at: null,
      deletion_id: null,
    })
  })

  it('is written by an update, but not to the primary key, tenant and trash columns', async () => {
    await open({ beforeUpdate: () => ALL })
    expect((await world.send('PATCH', 'posts/1', { title: 'new' })).body).toMatchObject({ id: 1, title: 'hook' })
    expect(row(1)).toMatchObject({
      id: 1,
      organization_id: 1,
      title: 'hook',
      score: 8,
      fee: 9,
      secret: 'hook',
      created_by: 66,
      parent_id: 11,
      deleted_at: null,
      deletion_id: null,
    })
    expect(row(77)).toBeUndefined()
  })

  it('replaces the value of the client, also when the hook removes it', async () => {
    await open({ beforeUpdate: () => ({ slug: 'only' }) })
    await world.send('PATCH', 'posts/1', { title: 'new', parentId: 11 })
    expect(row(1)).toMatchObject({ title: 'one', slug: 'only', parent_id: null })
  })

  it('can remove a field that the client cannot write; a field that remains is refused', async () => {
    await open({ beforeUpdate: (id, { fee: _, ...data }) => id === 1 ? data : undefined })
    expect(outcome(await world.send('PATCH', 'posts/1', { title: 'new', fee: 1 }))).toBe('200')
    expect(row(1)).toMatchObject({ title: 'new', fee: 5 })
    expect(outcome(await world.send('PATCH', 'posts/2', { title: 'new', fee: 1 }))).toBe('403 FIELD_FORBIDDEN')
    expect(row(2)).toMatchObject({ title: 'two' })
  })

  it('is trusted as a reference, while a reference that the client sent is checked', async () => {
    await open({ beforeCreate: ({ title }) => title === 'hook' ? { title, parentId: 11 } : undefined })
    expect(outcome(await world.send('POST', 'posts', { title: 'hook', parentId: 1 }))).toBe('201')
    expect(outcome(await world.send('POST', 'posts', { title: 'hook', parentId: 11 }))).toBe('400 INVALID_REFERENCE')
    expect(outcome(await world.send('POST', 'posts', { title: 'hook' }))).toBe('201')
    expect(outcome(await world.send('POST', 'posts', { title: 'client', parentId: 11 }))).toBe('400 INVALID_REFERENCE')
  })

  it('returns the usual error when the database refuses it', async () => {
    await open({ beforeCreate: () => ({ title: null }) })
    expect(outcome(await world.send('POST', 'posts', { title: 'a' }))).toBe('400 VALIDATION_FAILED')
  })
})
