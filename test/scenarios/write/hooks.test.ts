/** Tests the hooks of writes and reads: their arguments, their order, and what they can change. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiContext, ResourceHooks } from '../../../src/runtime/server/registration'
import { openBlog } from './blog'
import { ADA, type World } from './world'

let world: World
afterEach(() => {
  world.client.close()
  vi.restoreAllMocks()
})
const open = async (options?: Parameters<typeof openBlog>[0]) => {
  world = await openBlog(options)
}

const NAMES = [
  'beforeCreate',
  'beforeUpdate',
  'beforeDelete',
  'beforeRestore',
  'beforePurge',
  'beforeGet',
  'beforeList',
  'afterCreate',
  'afterUpdate',
  'afterDelete',
  'afterRestore',
  'afterPurge',
  'afterGet',
  'afterList',
] as const
type Call = [hook: string, ...args: unknown[]]
/** Every hook; each records its arguments. */
const record = (calls: Call[]): ResourceHooks =>
  Object.fromEntries(
    NAMES.map(name => [
      name,
      (...args: unknown[]) => void calls.push([name, ...args.slice(0, -1), (args.at(-1) as AutoApiContext).operation]),
    ]),
  )
const shown = (id: number, title: string) => expect.objectContaining({ id, title })

/** Each request, and the hooks that it runs with their arguments. The last argument is the operation of `ctx`. */
const RUNS: [method: string, path: string, body: unknown, calls: Call[]][] = [
  [
    'POST',
    'posts',
    { title: 'new' },
    [
      ['beforeCreate', { title: 'new' }, 'create'],
      ['afterCreate', shown(12, 'new'), 'create'],
    ],
  ],
  [
    'PATCH',
    'posts/1',
    { title: 'x' },
    [
      ['beforeUpdate', 1, { title: 'x' }, 'update'],
      ['afterUpdate', shown(1, 'x'), 'update'],
    ],
  ],
  [
    'DELETE',
    'posts/1',
    undefined,
    [
      ['beforeDelete', 1, 'delete'],
      ['afterDelete', 1, 'delete'],
    ],
  ],
  [
    'DELETE',
    'posts/3?force=true',
    undefined,
    [
      ['beforePurge', 3, 'purge'],
      ['afterPurge', 3, 'purge'],
    ],
  ],
  [
    'POST',
    'posts/3/restore',
    undefined,
    [
      ['beforeRestore', 3, 'restore'],
      ['afterRestore', shown(3, 'three'), 'restore'],
    ],
  ],
  [
    'GET',
    'posts/1',
    undefined,
    [
      ['beforeGet', 1, 'read'],
      ['afterGet', shown(1, 'one'), 'read'],
    ],
  ],
  [
    'GET',
    'posts',
    undefined,
    [
      ['beforeList', 'read'],
      ['afterList', [shown(1, 'one'), shown(2, 'two')], 'read'],
    ],
  ],
  [
    'POST',
    'posts/bulk',
    { items: [{ title: 'a' }, { title: 'b' }] },
    [
      ['beforeCreate', { title: 'a' }, 'create'],
      ['beforeCreate', { title: 'b' }, 'create'],
      ['afterCreate', shown(12, 'a'), 'create'],
      ['afterCreate', shown(13, 'b'), 'create'],
    ],
  ],
  [
    'PATCH',
    'posts/bulk',
    {
      items: [
        { id: 2, data: { title: 'a' } },
        { id: 1, data: { title: 'b' } },
      ],
    },
    [
      ['beforeUpdate', 2, { title: 'a' }, 'update'],
      ['beforeUpdate', 1, { title: 'b' }, 'update'],
      ['afterUpdate', shown(2, 'a'), 'update'],
      ['afterUpdate', shown(1, 'b'), 'update'],
    ],
  ],
  [
    'DELETE',
    'posts/bulk',
    { ids: [1, 2] },
    [
      ['beforeDelete', 1, 'delete'],
      ['beforeDelete', 2, 'delete'],
      ['afterDelete', 1, 'delete'],
      ['afterDelete', 2, 'delete'],
    ],
  ],
  [
    'POST',
    'posts/bulk/restore',
    { ids: [3] },
    [
      ['beforeRestore', 3, 'restore'],
      ['afterRestore', shown(3, 'three'), 'restore'],
    ],
  ],
  [
    'DELETE',
    'posts/bulk?force=true',
    { deletionId: 'd3' },
    [
      ['beforePurge', 3, 'purge'],
      ['afterPurge', 3, 'purge'],
    ],
  ],
  ['GET', 'posts/aggregate?aggregate=count', undefined, []],
]

describe('the hooks', () => {
  it.each(RUNS)('of %s %s %j receive the id, the values and the context', async (method, path, body, expected) => {
    const calls: Call[] = []
    await open({ hooks: record(calls) })
    expect((await world.send(method, path, body)).status).toBeLessThan(300)
    expect(calls).toEqual(expected)
  })

  it('receive the caller, the tenant, the resource, the query and the body', async () => {
    const seen: AutoApiContext[] = []
    await open({ hooks: { beforeCreate: (_data, ctx) => void seen.push(ctx) } })
    await world.send('POST', 'posts?reason=x', { title: 'new' })
    expect(
      seen.map(({ user, tenant, resource, operation, query, db }) => [user?.id, tenant?.id, resource, operation, query.reason, typeof db]),
    ).toEqual([[1, 1, 'posts', 'create', 'x', 'object']])
  })

  it('run in the order global, resource, registration, and each receives what the previous one returned', async () => {
    const append = (letter: string) => (data: { title?: string }) => ({ ...data, title: data.title + letter })
    await open({
      hooks: { beforeCreate: append('r'), afterCreate: append('R') as never },
      added: ({ addGlobalHook, addResourceHook }) => {
        addResourceHook('posts', { beforeCreate: append('p'), afterCreate: append('P') as never })
        addResourceHook('seats', { beforeCreate: append('!') as never })
        addGlobalHook({ beforeCreate: append('g'), afterCreate: append('G') as never })
      },
    })
    expect((await world.send('POST', 'posts', { title: '-' })).body.title).toBe('-gprGPR')
    expect(world.rows('select title from posts where id = 12')).toEqual(['-gpr'])
  })

  it('keep the values when they return nothing, including changes in place', async () => {
    await open({
      hooks: { beforeUpdate: (_id, data) => void (data.slug = 'made'), beforeCreate: async () => 'text', afterUpdate: () => true },
    })
    expect((await world.send('PATCH', 'posts/1', { title: 'x' })).body).toMatchObject({ title: 'x', slug: 'made' })
    expect((await world.send('POST', 'posts', { title: 'y' })).body.title).toBe('y')
  })

  it('receive one context for each item of a batch, shared by its before- and after-hook', async () => {
    const marks: unknown[] = []
    await open({ hooks: {
      beforeCreate: (data, ctx) => void ((ctx as { mark?: unknown }).mark ??= data.title),
      afterCreate: (_record, ctx) => void marks.push((ctx as { mark?: unknown }).mark),
    } })
    await world.send('POST', 'posts/bulk', { items: ['a', 'b', 'c'].map(title => ({ title })) })
    expect(marks).toEqual(['a', 'b', 'c'])
  })

  it.each([
    ['the gate', 'POST', 'posts', { title: 'a' }, { tenantId: 1 }],
    ['validation', 'POST', 'posts', {}, ADA],
    ['the row', 'PATCH', 'posts/11', { title: 'a' }, ADA],
    ['the row', 'DELETE', 'posts/11', undefined, ADA],
    ['the row', 'GET', 'posts/11', undefined, ADA],
    ['the trash', 'POST', 'posts/1/restore', undefined, ADA],
    ['one item', 'POST', 'posts/bulk', { items: [{ title: 'a' }, {}] }, ADA],
    ['one item', 'DELETE', 'posts/bulk', { ids: [1, 11] }, ADA],
  ])('do not run when %s fails: %s %s', async (_check, method, path, body, caller) => {
    const calls: Call[] = []
    await open({ hooks: record(calls) })
    expect((await world.send(method, path, body, caller)).status).toBeGreaterThanOrEqual(400)
    expect(calls).toEqual([])
  })
})
