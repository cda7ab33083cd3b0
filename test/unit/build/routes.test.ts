/** Checks the mounted routes, and that the app's own routes take precedence. */
import { createApp, toWebHandler, type EventHandler } from 'h3'
import { describe, expect, it } from 'vitest'
import { toHandlers, withoutAppRoutes, type Handler } from '../../../src/build/routes'
import { PATHS, ROUTES } from '../../../src/runtime/shared/routes'

const mount = (names: string[], prefix = '/api') => toHandlers(names, prefix, file => `/module/${file}`)
const pathsOf = (handlers: readonly Handler[]) => handlers.map(({ route }) => route)
/** Only the given paths, so that a new row of `PATHS` does not break these tests. */
const onPaths = (handlers: readonly Handler[], ...paths: string[]) => pathsOf(handlers).filter(path => paths.includes(path!))
const left = (...app: Omit<Handler, 'handler'>[]) =>
  withoutAppRoutes(
    mount(['posts']),
    app.map(handler => ({ handler: '/app/file', ...handler })),
  )

describe('the mounted routes', () => {
  it('have one static path per resource and path, with the file that handles its methods', () => {
    const handlers = mount(['posts', 'tags'])
    for (const name of ['posts', 'tags']) {
      expect(handlers).toContainEqual({ route: `/api/${name}`, lazy: true, handler: '/module/collection' })
      expect(handlers).toContainEqual({ route: `/api/${name}/:id`, lazy: true, handler: '/module/record' })
    }
    const paths = [...new Set<string>(ROUTES.map(({ path }) => path))]
    // A path of a resource is mounted for each of the two, a path of the whole API once.
    expect(handlers).toHaveLength(paths.reduce((sum, path) => sum + (path.startsWith('/:resource') ? 2 : 1), 0))
    expect(new Set(pathsOf(handlers)).size).toBe(handlers.length)
  })

  it.each(Object.entries(PATHS))('respond at %s to the methods in ROUTES and to no other', async (path, file) => {
    const { default: answer } = await import(`../../../src/runtime/server/routes/${file}.ts`) as { default: EventHandler }
    const app = createApp({ debug: false })
    app.use(answer)
    const { status, headers } = await toWebHandler(app)(new Request('http://localhost/', { method: 'OPTIONS' }))
    const methods = ROUTES.filter(route => route.path === path).flatMap(({ method }) => method === 'GET' ? ['GET', 'HEAD'] : [method])
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 204, allow: [...methods, 'OPTIONS'].join(', ') })
  })

  it('have the configured prefix', () => {
    const handlers = mount(['posts'], '/internal/v2')
    expect(handlers.filter(({ route }) => !/^\/internal\/v2\/(?:posts|permissions|_m2m|_schema)/.test(route))).toEqual([])
  })

  it('are only the global ones without resources', () => {
    expect(mount([]).filter(({ route }) => !/^\/api\/(?:permissions|_m2m|_schema)/.test(route))).toEqual([])
  })
})

describe('without routes of the app at the same paths', () => {
  it('all routes stay mounted', () => {
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
  ])('all routes stay mounted beside %s', (_, app) => {
    expect(pathsOf(left(app))).toEqual(pathsOf(mount(['posts'])))
  })
})

describe('the app\'s own route takes precedence', () => {
  it.each([
    ['one method, and the module handles the others', { route: '/api/posts', method: 'get' }, ['/api/posts']],
    ['a method we do not have', { route: '/api/posts', method: 'put' }, ['/api/posts']],
    ['all methods', { route: '/api/posts' }, []],
    ['with a trailing slash', { route: '/api/posts/' }, []],
  ])('over the module\'s: %s', (_, app, expected) => {
    expect(onPaths(left(app), '/api/posts')).toEqual(expected)
  })

  it.each([':id', ':slug', ':postId', '*'])('with any name of its parameter: %s', (parameter) => {
    const route = `/api/posts/${parameter}`
    expect(onPaths(left({ route, method: 'get' }), route, '/api/posts/:id')).toEqual([route])
    expect(onPaths(left({ route }), route, '/api/posts/:id')).toEqual([])
  })

  it.each(['get', 'GET'])('for all methods if it handles every method of the path: %s', (get) => {
    const app = [get, 'patch', 'delete'].map(method => ({ route: '/api/posts/:id', method }))
    expect(onPaths(left(...app), '/api/posts/:id')).toEqual([])
    expect(onPaths(left(...app.slice(1)), '/api/posts/:id')).toEqual(['/api/posts/:id'])
  })

  it('and the module uses its parameter name, because Nitro searches only one of two names', () => {
    const handlers = left({ route: '/api/posts/:slug/comments', method: 'get' })
    expect(onPaths(handlers, '/api/posts/:slug')).toEqual(['/api/posts/:slug'])
    expect(handlers.filter(({ route }) => route.includes(':id'))).toEqual([])
  })

  it('but a mixed segment is not a parameter', () => {
    expect(pathsOf(left({ route: '/api/posts/:id.json', method: 'get' }))).toEqual(pathsOf(mount(['posts'])))
  })

  it('only for its resource', () => {
    const handlers = withoutAppRoutes(mount(['posts', 'tags']), [{ route: '/api/posts', handler: '/app/file' }])
    expect(onPaths(handlers, '/api/posts', '/api/tags')).toEqual(['/api/tags'])
  })

  it('without changing the mounted handlers, because the app can remove its file', () => {
    const own = mount(['posts'])
    withoutAppRoutes(own, [{ route: '/api/posts/:slug', method: 'get', handler: '/app/file' }])
    expect(own).toEqual(mount(['posts']))
  })
})

it('removes the right routes with 200 resources and 200 routes of the app', () => {
  const names = Array.from({ length: 200 }, (_, index) => `resource${index}`)
  const app = names.map(name => ({ route: `/api/${name}/:slug`, method: 'get', handler: '/app/file' }))
  const handlers = withoutAppRoutes(mount(names), app)
  expect(handlers.some(({ route }) => route === '/api/resource199/:slug')).toBe(true)
})
