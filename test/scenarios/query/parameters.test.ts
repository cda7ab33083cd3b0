/** Parameters of the query string that a route does not know: refused, logged or ignored, as `http.strictParameters` says. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { PARAMETERS } from '../../../src/runtime/server/core/parse/parameters'
import { findDirectRoute } from '../../../src/runtime/server/plugin/direct-route'
import { createEndpoint } from '../../../src/runtime/server/utils/endpoint'
import { ROUTES } from '../../../src/runtime/shared/routes'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { createBuiltInPlugins } from '../../support/plugins'
import { openPlaces, type PlacesApi } from './places-app'

const config = (strictParameters: 'warn' | boolean) => ({ http: { ...DEFAULT_CONFIG.http, strictParameters } })

const endpoints = async () => ({
  'GET /api/free': createEndpoint({ handler: ({ query }) => query }),
  'GET /api/narrow': createEndpoint({ query: z.object({ page: z.string().optional() }), handler: ({ query }) => query }),
  'GET /api/piped': createEndpoint({
    query: z.object({ page: z.string().optional() }).transform(query => query),
    handler: ({ query }) => query,
  }),
  'GET /api/open': createEndpoint({ query: z.looseObject({ page: z.string().optional() }), handler: ({ query }) => query }),
})

let strict: PlacesApi
let api: PlacesApi

beforeAll(async () => {
  strict = await openPlaces({ config: config(true), endpoints })
  api = await openPlaces({ config: config(false) })
})

afterAll(() => [strict, api].forEach(({ close }) => close()))

const PARAMS: Readonly<Record<string, string>> = {
  id: '1',
  resource: 'things',
  relation: 'marks',
  table: 'thingMarks',
  name: 'things',
  key: 'x',
}
const toPath = (template: string) =>
  template.replace(/^\/api/, '').replace(/:(\w+)|\{(\w+)\}/g, (_, name: string, other: string) => PARAMS[name ?? other]!)

const unknown = (name: string, meant?: string) => ({
  status: 400,
  body: {
    message: `"${name}" is not a parameter of this route.${meant === undefined ? '' : ` Did you mean \`${meant}\`?`}`,
    data: { code: 'INVALID_QUERY', parameter: name },
  },
})

describe('with `strictParameters: true`, an unknown parameter', () => {
  it.each(ROUTES.map(({ name, method, path }) => [name, method, path] as const))('is a 400 of the route %s', async (name, method, path) => {
    const send = (query: Record<string, string>) => strict.send({ method, path: toPath(path), query })
    expect(await send({ nonsense: '1' })).toMatchObject(unknown('nonsense'))
    expect(await send({ ['__proto__']: '1' })).toMatchObject(unknown('__proto__'))
    for (const known of [...PARAMETERS[name], ...(method === 'GET' ? [] : ['dryRun'])])
      expect((await send({ [known]: '' })).text).not.toContain('is not a parameter')
  })

  it.each([
    ['fitler', 'filter'],
    ['fitler[id]', 'filter'],
    ['Limit', 'limit'],
    ['includes', 'include'],
    ['order', undefined],
    ['page[__proto__]', 'page'],
  ])('is named, with the parameter that is meant: %s', async (name, meant) => {
    expect(await strict.send({ path: '/things', query: { [name]: '1' } })).toMatchObject(unknown(name, meant))
  })

  it('is refused by every operation that the OpenAPI document lists, and every parameter of the document is known', async () => {
    const { body: document } = await strict.send({ path: '/_openapi.json' })
    const count = { operations: 0, parameters: 0 }
    const named = (parameter: { $ref?: string }) =>
      parameter.$ref ? document.components.parameters[parameter.$ref.split('/').at(-1)!] : parameter
    for (const [template, operations] of Object.entries(
      document.paths as Record<string, Record<string, { parameters?: { $ref?: string }[] }>>,
    )) {
      for (const [method, { parameters = [] }] of Object.entries(operations)) {
        if (template.includes('/free') || template.includes('/open')) continue
        const send = (name: string, accept = '*/*') =>
          strict.send({ method: method.toUpperCase(), path: toPath(template), query: { [name]: '' }, headers: { accept } })
        expect([template, method, (await send('nonsense')).text]).toEqual([template, method, expect.stringContaining('is not a parameter')])
        count.operations++
        for (const { name, in: where } of parameters.map(named)) {
          if (where !== 'query') continue
          // A list that is requested as a file has the parameters of the export too.
          const answers = [await send(name), await send(name, 'text/csv')].map(({ text }) => text.includes('is not a parameter'))
          expect([template, method, name, answers.includes(false)]).toEqual([template, method, name, true])
          count.parameters++
        }
      }
    }
    console.info(`${count.operations} operations, ${count.parameters} parameters`)
    expect(count.operations).toBeGreaterThan(50)
  })

  it('is refused after authorization, so that the routes of others look the same', async () => {
    for (const path of ['/pairs', '/pairs/1,x', '/_m2m/junctions'])
      expect((await strict.send({ path, query: { nonsense: '1' } }, {})).status).toBe(401)
  })

  it('of an endpoint is refused only if its `query` schema lists every parameter', async () => {
    const statuses = async (path: string) => (await strict.send({ path, query: { pge: '1' } })).status
    expect([await statuses('/free'), await statuses('/narrow'), await statuses('/piped'), await statuses('/open')]).toEqual([
      200, 400, 400, 200,
    ])
    expect(await strict.send({ path: '/narrow', query: { pge: '1' } })).toMatchObject(unknown('pge', 'page'))
    expect((await strict.send({ path: '/narrow', query: { page: '1' } })).status).toBe(200)
  })

  it('of thousands of characters is refused at once', async () => {
    const begin = performance.now()
    expect(await strict.send({ path: '/things', query: { ['f'.repeat(60_000)]: '1' } })).toMatchObject({ status: 400 })
    expect(performance.now() - begin).toBeLessThan(500)
  })
})

describe('an unknown parameter', () => {
  it('is logged with `warn`, and otherwise ignored', async () => {
    const warned = await openPlaces({ config: config('warn') })
    const log = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { status, body } = await warned.send({ path: '/things', query: { 'fitler[id]\n': '7' } })
    expect([status, body.data.length]).toEqual([200, 1])
    expect(log.mock.calls.map(line => line.join(' '))).toEqual([
      '[auto-api] GET /api/things "fitler[id]\\n" is not a parameter of this route. Did you mean `filter`?',
    ])
    log.mockRestore()
    warned.close()
  })

  it('is ignored without a line with `false`', async () => {
    const log = vi.spyOn(console, 'warn').mockImplementation(() => {})
    expect((await api.send({ path: '/things', query: { fitler: '7' } })).status).toBe(200)
    expect(log).not.toHaveBeenCalled()
    log.mockRestore()
  })
})

describe('the built-in plugins', () => {
  it('list the parameters of each of their routes', () => {
    const routes = createBuiltInPlugins().flatMap(({ name, routes = [] }) => routes.map(route => ({ plugin: name, ...route })))
    // A route without a session checks its parameters itself.
    const silent = routes.filter(({ parameters, handler }) => !parameters && !findDirectRoute(handler))
    expect(routes.length).toBeGreaterThan(10)
    expect(silent.map(({ plugin, method, path }) => `${plugin}: ${method} ${path}`)).toEqual([])
  })
})
