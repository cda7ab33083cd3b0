/** `around` of plugins: the routes it wraps, and the names by which it knows them. */
import { afterEach, describe, expect, it } from 'vitest'
import { ROUTES } from '../../../../src/runtime/shared/routes'
import type { AutoApiPlugin, PluginRoute } from '../../../../src/runtime/server/define'
import { ANN, openDesk, told, type Desk } from '../../../support/desk'

let desk: Desk
afterEach(() => desk?.client.close())

const BODIES: Readonly<Record<string, unknown>> = {
  'create': { title: 'a' },
  'update': { title: 'a' },
  'bulk-create': { items: [{ title: 'a' }] },
  'bulk-update': { items: [{ id: 1, data: { title: 'a' } }] },
  'bulk-delete': { ids: [1] },
  'bulk-restore': { ids: [4] },
  'relation-replace': { ids: [2] },
  'relation-add': { ids: [2] },
  'relation-remove': { ids: [1] },
  'relations-replace': { relations: { tags: { ids: [2] } } },
}

const pathOf = ({ name, path }: { readonly name: string, readonly path: string }) =>
  `/api${path.replace(':resource', 'articles').replace(':id', name === 'restore' ? '4' : '1').replace(':relation', 'tags')}`

/** Collects the routes that `around` is told. */
function collecting(routes: readonly PluginRoute[] = []): { readonly plugin: AutoApiPlugin, readonly names: string[] } {
  const names: string[] = []
  return { names, plugin: { name: 'probe', routes, around: (_ctx, next, { route }) => {
    names.push(route)
    return next()
  } } }
}

describe('around knows the name', () => {
  it.each(ROUTES.filter(({ path }) => path.startsWith('/:resource')))('of a generated route: $name', async (route) => {
    const { plugin, names } = collecting()
    desk = await openDesk({ plugins: [plugin] })
    expect(told(await desk.request(route.method, pathOf(route), { body: BODIES[route.name], caller: ANN }))).toMatch(/^20[01]$/)
    expect(names).toEqual([route.name])
  })

  it('of a list with `groupBy` and of a HEAD request', async () => {
    const { plugin, names } = collecting()
    desk = await openDesk({ plugins: [plugin] })
    await desk.request('GET', '/api/articles?groupBy=title', { caller: ANN })
    await desk.request('HEAD', '/api/articles/1', { caller: ANN })
    expect(names).toEqual(['list', 'get'])
  })

  it('of a plugin route of a resource, after its authorization', async () => {
    const { plugin, names } = collecting([
      { method: 'GET', path: '/:resource/:id/history', operation: 'read', handler: () => ({ from: 'handler' }) },
      { name: 'export', method: 'GET', path: '/:resource/export', operation: 'read', handler: () => ({}) },
    ])
    const inner: AutoApiPlugin = { name: 'inner', around: async (_ctx, next) => {
      const response = await next()
      return { ...response, body: { ...response.body as object, wrapped: true } }
    } }
    desk = await openDesk({ plugins: [plugin, inner] })
    expect((await desk.request('GET', '/api/articles/1/history', { caller: ANN })).body).toEqual({ from: 'handler', wrapped: true })
    await desk.request('GET', '/api/articles/export', { caller: ANN })
    expect((await desk.request('GET', '/api/articles/export', { caller: { user: { id: 9 }, permissions: [] } })).status).toBe(403)
    expect(names).toEqual(['probe: GET /:resource/:id/history', 'export'])
  })

  it('and does not wrap routes of no resource', async () => {
    const { plugin, names } = collecting([{ method: 'GET', path: '/ping', handler: () => ['pong'] }])
    desk = await openDesk({ plugins: [plugin] })
    for (const path of ['/api/ping', '/api/permissions']) expect((await desk.request('GET', path, { caller: ANN })).status).toBe(200)
    expect(names).toEqual([])
  })
})

describe('the start fails when a plugin route', () => {
  const get = (path: string, rest: Partial<PluginRoute> = {}): PluginRoute => ({ method: 'GET', path, handler: () => ({}), ...rest })

  it.each<[string, PluginRoute[], RegExp]>([
    [
      'has the name of a generated route',
      [get('/ping', { name: 'list' })],
      /the route GET \/ping has the name `list`, which another route has/,
    ],
    ['has the name of another one', [get('/ping', { name: 'a' }), get('/pong', { name: 'a' })], /the route GET \/pong has the name `a`/],
    ['has an empty name', [get('/ping', { name: '' })], /`name` that is not a string/],
    [
      'begins with the name of a resource',
      [get('/articles/today')],
      /plugin `probe`: the route GET \/articles\/today begins with the name of the resource `articles`/,
    ],
    ['is the name of a resource', [get('/tags', { method: 'PUT' })], /begins with the name of the resource `tags`/],
    ['begins with a parameter', [get('/:name/:id')], /begins with a parameter, so it would match the paths of every resource/],
  ])('%s', async (_what, routes, message) => {
    await expect(openDesk({ plugins: [{ name: 'probe', routes }] })).rejects.toThrow(message)
  })
})
