/** Guards what is mounted, and that the app's own routes win. */
import { describe, expect, it } from 'vitest'
import { toHandlers, withoutTaken, type Handler } from '../../../src/build/routes'
import { ROUTES } from '../../../src/runtime/shared/routes'

const mount = (names: string[], prefix = '/api') => toHandlers(names, prefix, file => `/module/${file}`)
const line = ({ route, method }: Handler) => `${(method ?? 'any').toUpperCase()} ${route}`
const linesOf = (handlers: readonly Handler[]) => handlers.map(line)
/** Everything but the paths of the contract's first routes is left aside, so that a new row of `ROUTES` breaks nothing here. */
const onPaths = (handlers: readonly Handler[], ...paths: string[]) => linesOf(handlers.filter(({ route }) => paths.includes(route!)))
const left = (...app: Omit<Handler, 'handler'>[]) => withoutTaken(mount(['posts']), app.map(handler => ({ handler: '/app/file', ...handler })))

describe('mounting', () => {
  it('every route of every resource is a static path with its own file', () => {
    const handlers = mount(['posts', 'tags'])
    for (const name of ['posts', 'tags']) {
      for (const route of ROUTES) {
        expect(handlers).toContainEqual({ route: `/api${route.path.replace(':resource', name)}`, method: route.method.toLowerCase(), lazy: true, handler: `/module/${route.name}.${route.method.toLowerCase()}` })
      }
    }
  })

  it('every path answers the methods it does not have, once', () => {
    const handlers = mount(['posts', 'tags']).filter(({ method }) => !method)
    const paths = [...new Set<string>(ROUTES.map(({ path }) => path))]
    // A path of a resource is mounted for each of the two, a path of the whole API once.
    const expected = paths.reduce((sum, path) => sum + (path.startsWith('/:resource') ? 2 : 1), 0)
    expect(handlers.map(({ handler }) => handler)).toEqual(Array.from({ length: expected }, () => '/module/method-not-allowed'))
    expect(new Set(linesOf(handlers)).size).toBe(expected)
  })

  it('another prefix moves every route', () => {
    const handlers = mount(['posts'], '/internal/v2')
    expect(handlers.filter(({ route }) => !/^\/internal\/v2\/(?:posts|permissions|_m2m)/.test(route))).toEqual([])
  })

  it('without resources only the paths of the whole API are mounted', () => {
    expect(mount([]).filter(({ route }) => !/^\/api\/(?:permissions|_m2m)/.test(route))).toEqual([])
  })
})

describe('without routes of the app', () => {
  it('everything stays as it was mounted', () => {
    expect(left()).toEqual(mount(['posts']))
  })

  it.each([
    ['another resource\'s path', { route: '/api/tags', method: 'get' }],
    ['a path below', { route: '/api/posts/mine/today', method: 'get' }],
    ['a static path beside the id', { route: '/api/posts/mine', method: 'get' }],
    ['a catch-all', { route: '/api/**:rest' }],
    ['a dynamic resource', { route: '/api/:anything' }],
    ['middleware', { route: '/api/posts', middleware: true }],
    ['a handler without a route', {}],
    ['another prefix', { route: '/posts' }],
  ])('%s takes nothing', (_, app) => {
    expect(linesOf(left(app))).toEqual(linesOf(mount(['posts'])))
  })
})

describe('the app\'s own route wins', () => {
  it.each([
    ['a method of the list', { route: '/api/posts', method: 'get' }, ['POST /api/posts', 'ANY /api/posts']],
    ['in capital letters', { route: '/api/posts', method: 'GET' }, ['POST /api/posts', 'ANY /api/posts']],
    ['with a trailing slash', { route: '/api/posts/', method: 'get' }, ['POST /api/posts', 'ANY /api/posts']],
    ['a method we do not have', { route: '/api/posts', method: 'put' }, ['GET /api/posts', 'POST /api/posts', 'ANY /api/posts']],
    ['all methods', { route: '/api/posts' }, []],
  ])('%s', (_, app, expected) => {
    expect(onPaths(left(app), '/api/posts')).toEqual(expected)
  })

  it.each([':id', ':slug', ':postId', '*'])('whatever it calls its parameter: %s', (parameter) => {
    const route = `/api/posts/${parameter}`
    expect(onPaths(left({ route, method: 'get' }), route, '/api/posts/:id')).toEqual([`PATCH ${route}`, `DELETE ${route}`, `ANY ${route}`])
    expect(onPaths(left({ route }), route, '/api/posts/:id')).toEqual([])
  })

  it('where it answers all our methods, it answers the wrong ones as well', () => {
    const app = ['get', 'patch', 'delete'].map(method => ({ route: '/api/posts/:id', method }))
    expect(onPaths(left(...app), '/api/posts/:id')).toEqual([])
  })

  it('its name of a parameter is taken over, for Nitro looks into one of two names only', () => {
    const handlers = left({ route: '/api/posts/:slug/comments', method: 'get' })
    expect(onPaths(handlers, '/api/posts/:slug')).toEqual(['GET /api/posts/:slug', 'PATCH /api/posts/:slug', 'DELETE /api/posts/:slug', 'ANY /api/posts/:slug'])
    expect(handlers.filter(({ route }) => route.includes(':id'))).toEqual([])
  })

  it('a mixed segment is not a parameter', () => {
    expect(linesOf(left({ route: '/api/posts/:id.json', method: 'get' }))).toEqual(linesOf(mount(['posts'])))
  })

  it('one resource\'s routes are none of another\'s business', () => {
    const handlers = withoutTaken(mount(['posts', 'tags']), [{ route: '/api/posts', handler: '/app/file' }])
    expect(onPaths(handlers, '/api/posts', '/api/tags')).toEqual(['GET /api/tags', 'POST /api/tags', 'ANY /api/tags'])
  })

  it('what is mounted is not changed in place: the app may take its file away again', () => {
    const ours = mount(['posts'])
    withoutTaken(ours, [{ route: '/api/posts/:slug', method: 'get', handler: '/app/file' }])
    expect(ours).toEqual(mount(['posts']))
  })
})

it('200 resources beside 200 routes of the app are all sorted out', () => {
  const names = Array.from({ length: 200 }, (_, index) => `resource${index}`)
  const app = names.map(name => ({ route: `/api/${name}/:slug`, method: 'get', handler: '/app/file' }))
  const handlers = withoutTaken(mount(names), app)
  expect(handlers.some(({ route }) => route === '/api/resource199/:slug')).toBe(true)
})
