/** Operations that a registration disables: no caller has them, on any route. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import { OPERATIONS, type Operation } from '../../../src/runtime/shared/operations'
import { ROUTES, type Route } from '../../../src/runtime/shared/routes'
import { createServer } from '../../support/server'
import { ADA, EVERYTHING, openWorld, outcome, type World } from '../write/world'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  parentId: integer('parent_id'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
})
const notes = sqliteTable('notes', { id: integer('id').primaryKey(), postId: integer('post_id').references(() => posts.id) })
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name') })
const postTags = sqliteTable(
  'post_tags',
  {
    postId: integer('post_id')
      .notNull()
      .references(() => posts.id),
    tagId: integer('tag_id')
      .notNull()
      .references(() => tags.id),
  },
  t => [primaryKey({ columns: [t.postId, t.tagId] })],
)

let world: World
afterEach(() => world.client.close())
const open = async (disabled: readonly Operation[], permissions: object = EVERYTHING) =>
  (world = await openWorld({
    tables: { posts, notes, tags, postTags },
    resources: { posts: { disabled, authorization: { permissions } }, postTags: false },
    rows: `insert into posts (id, title) values (1, 'one'), (2, 'two'); insert into posts (id, title, deleted_at, deletion_id) values (3, 'gone', 1000, 'd3');
    insert into notes values (1, 1); insert into tags values (1, 'a'); insert into post_tags values (1, 1)`,
  }))

const CHIEF = { user: { id: 9 }, permissions: ['*'] }
/** A body that the route would take. */
const BODIES: Readonly<Record<string, unknown>> = {
  'create': { title: 'new' },
  'update': { title: 'x' },
  'bulk-create': { items: [{ title: 'new' }] },
  'bulk-update': { items: [{ id: 1, data: { title: 'x' } }] },
  'bulk-delete': { ids: [2] },
  'bulk-restore': { ids: [3] },
  'relation-replace': { ids: [1] },
  'relation-add': { ids: [1] },
  'relation-remove': { ids: [1] },
  'relations-replace': { relations: { tags: { ids: [1] } } },
}

const OF_POSTS = (ROUTES as readonly Route[]).filter(({ operation, path }) => operation && path.startsWith('/:resource'))
const pathOf = ({ path, name }: Route) =>
  path
    .slice(1)
    .replace(':resource', 'posts')
    .replace(':relation', 'tags')
    .replace(':id', name === 'restore' ? '3' : '1')

/** What a method of a path may be asked for. */
const operationsOf = (path: string, method: string) =>
  OF_POSTS.filter(route => route.path === path && route.method === method).flatMap(({ operation, alternative: or }) => [
    operation!,
    ...(or ? [or] : []),
  ])
const methodsOn = (path: string, disabled: Operation) =>
  [...new Set(OF_POSTS.filter(route => route.path === path).map(({ method }) => method))].filter(method =>
    operationsOf(path, method).some(operation => operation !== disabled),
  )
const allowedOn = (path: string, disabled: Operation) =>
  [...methodsOn(path, disabled).flatMap(method => method === 'GET' ? ['GET', 'HEAD'] : [method]), 'OPTIONS'].join(', ')

describe.each(OPERATIONS.filter(operation => operation !== 'viewDeleted'))('a disabled `%s`', (disabled) => {
  it('returns 405 with the remaining methods on each of its routes, for every caller, and changes nothing', async () => {
    await open([disabled])
    const before = world.dump()
    for (const route of OF_POSTS) {
      for (const [operation, query] of [[route.operation, ''], [route.alternative, '?force=true']] as const) {
        if (operation !== disabled) continue
        for (const caller of [{}, ADA, CHIEF]) {
          const answer = await world.send(route.method, pathOf(route) + query, BODIES[route.name], caller)
          expect([route.name, outcome(answer), answer.headers.get('allow')]).toEqual([
            route.name,
            '405 METHOD_NOT_ALLOWED',
            allowedOn(route.path, disabled),
          ])
        }
      }
    }
    expect(world.dump()).toBe(before)
  })

  it('does not affect the other operations', async () => {
    await open([disabled])
    for (const route of OF_POSTS) {
      if (route.operation === disabled) continue
      world.reset()
      expect([route.name, (await world.send(route.method, pathOf(route), BODIES[route.name])).status]).toEqual([
        route.name,
        expect.toSatisfy((status: number) => status < 300),
      ])
    }
  })

  it('is false in the capabilities of every caller', async () => {
    await open([disabled])
    const flag = `can${disabled.charAt(0).toUpperCase()}${disabled.slice(1)}`
    for (const caller of [ADA, CHIEF]) {
      const { body } = await world.send('GET', 'posts/permissions?ids=1', undefined, caller)
      const all = await world.send('GET', 'permissions', undefined, caller)
      const others = Object.entries(body).filter(([name]) => name.startsWith('can') && name !== flag).map(([, can]) => can)
      expect([body[flag], all.body.permissions.posts[flag], new Set(others), body.records[1][flag] ?? false]).toEqual([
        false,
        false,
        new Set([true]),
        false,
      ])
    }
  })
})

it('a method that a path never had returns 405 with the remaining methods', async () => {
  await open(['delete', 'purge', 'update'])
  const answer = await world.send('PUT', 'posts/1', {})
  expect([outcome(answer), answer.headers.get('allow')]).toEqual(['405 METHOD_NOT_ALLOWED', 'GET, HEAD, OPTIONS'])
  const restore = await world.send('GET', 'posts/1/restore')
  expect([outcome(restore), restore.headers.get('allow')]).toEqual(['405 METHOD_NOT_ALLOWED', 'POST, OPTIONS'])
})

it('a disabled `viewDeleted` or `aggregate` refuses a list that requests deleted rows or aggregates', async () => {
  await open(['viewDeleted', 'aggregate'])
  for (const query of ['includeDeleted=true', 'onlyDeleted=true', 'aggregate=count']) {
    expect(outcome(await world.send('GET', `posts?${query}`, undefined, CHIEF))).toBe('403 FORBIDDEN')
    expect(outcome(await world.send('GET', `posts?${query}`, undefined, {}))).toBe('401 UNAUTHENTICATED')
  }
  expect(outcome(await world.send('GET', 'posts/aggregate'))).toBe('405 METHOD_NOT_ALLOWED')
  expect(outcome(await world.send('GET', 'posts'))).toBe('200')
})

it('a resource whose `read` is disabled is not included, related or linked from another', async () => {
  await open(['read'])
  for (const caller of [ADA, CHIEF]) {
    expect(outcome(await world.send('GET', 'notes?include=post', undefined, caller))).toBe('403 FORBIDDEN')
    expect(outcome(await world.send('GET', 'tags/1/relations/posts', undefined, caller))).toBe('403 FORBIDDEN')
    expect(outcome(await world.send('POST', 'tags/1/relations/posts', { ids: [2] }, caller))).toBe('403 FORBIDDEN')
  }
})

it('only \'*\' passes `false`', async () => {
  await open([], { ...EVERYTHING, delete: false })
  expect(outcome(await world.send('DELETE', 'posts/1'))).toBe('403 FORBIDDEN')
  expect((await world.send('GET', 'posts/permissions', undefined, CHIEF)).body).toMatchObject({ canDelete: true, canPurge: true })
  expect(outcome(await world.send('DELETE', 'posts/1', undefined, CHIEF))).toBe('200')
})

describe('a route of a plugin or of the app, for a disabled operation', () => {
  const plugin = { name: 'cards', routes: [
    { method: 'GET' as const, path: '/:resource/:id/card', operation: 'read' as const, handler: () => ({ card: true }) },
    { method: 'DELETE' as const, path: '/:resource/:id/card', operation: 'delete' as const, handler: () => ({ gone: true }) },
    { method: 'POST' as const, path: '/:resource/cards', operation: ['create', 'update'] as const, handler: () => ({ sent: true }) },
  ] }
  const CUSTOM = { archive: { permissions: { delete: true, update: false } } }
  const client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, title text not null, parent_id integer, deleted_at integer, deletion_id text)')
  const serve = (disabled: Operation[]) => createServer({
    registrations: [{ name: 'posts', schema: posts, disabled, authorization: { permissions: EVERYTHING, custom: CUSTOM } }],
    db: drizzle({ client }),
    plugins: [plugin],
    endpoints: async () => {
      const { createEndpoint } = await import('../../../src/runtime/server/utils')
      const archive = (operation: Operation) =>
        createEndpoint({ resource: 'posts', operation, endpointName: 'archive', handler: () => ({ archived: true }) })
      return { 'POST /api/archive': archive('delete'), 'POST /api/unarchive': archive('update') }
    },
  })

  it('returns 405 with the remaining methods, or is refused by the authorization of the endpoint', async () => {
    const server = await serve(['delete'])
    const answer = await server.request('DELETE', '/api/posts/1/card', { caller: CHIEF })
    expect([outcome(answer), answer.headers.get('allow')]).toEqual(['405 METHOD_NOT_ALLOWED', 'GET, HEAD, OPTIONS'])
    expect((await server.request('PUT', '/api/posts/1/card')).headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect((await server.request('GET', '/api/posts/1/card', { caller: ADA })).body).toEqual({ card: true })
    expect(outcome(await server.request('POST', '/api/archive', { caller: CHIEF }))).toBe('403 FORBIDDEN')
  })

  it.each([
    ['the first one is disabled', ['create'], 200, 'POST, OPTIONS'],
    ['the second one is disabled', ['update'], 200, 'POST, OPTIONS'],
    ['both are disabled', ['create', 'update'], 405, 'OPTIONS'],
  ] as const)('with two operations runs until both are disabled: %s', async (_, disabled, status, allowed) => {
    const server = await serve([...disabled])
    expect((await server.request('POST', '/api/posts/cards', { caller: ADA })).status).toBe(status)
    expect((await server.request('PUT', '/api/posts/cards', { caller: ADA })).headers.get('allow')).toBe(allowed)
  })

  it('runs when the operation is not disabled; \'*\' passes `false` of a named gate', async () => {
    const server = await serve([])
    expect((await server.request('DELETE', '/api/posts/1/card', { caller: ADA })).body).toEqual({ gone: true })
    expect((await server.request('POST', '/api/archive', { caller: ADA })).body).toEqual({ archived: true })
    expect(outcome(await server.request('POST', '/api/unarchive', { caller: ADA }))).toBe('403 FORBIDDEN')
    expect((await server.request('POST', '/api/unarchive', { caller: CHIEF })).body).toEqual({ archived: true })
  })
})
