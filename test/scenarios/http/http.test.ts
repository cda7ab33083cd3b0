/** HTTP: HEAD, OPTIONS, caching headers, the size of a body, and the lines of the log. */
import { defineEventHandler, setResponseHeader } from 'h3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { ROUTES } from '../../../src/runtime/shared/routes'
import { ANN, CHIEF, NOBODY, openDesk, told, type Desk, type DeskOptions } from '../../support/desk'

let shared: Desk
let desk: Desk

beforeAll(async () => {
  desk = shared = await openDesk()
})

afterEach(() => {
  if (desk !== shared) desk.client.close()
  desk = shared
  vi.restoreAllMocks()
})

afterAll(() => shared.client.close())

async function reopen(options: DeskOptions): Promise<void> {
  if (desk !== shared) desk.client.close()
  desk = await openDesk(options)
}

const fill = (path: string) =>
  `/api${path.replace(':resource', 'articles').replace(':id', '1').replace(':relation', 'tags').replace(':table', 'article_tags').replace(':name', 'articles')}`
const paths = [...new Set(ROUTES.map(({ path }) => path))].map(path => ({
  path,
  methods: ROUTES.filter(route => route.path === path).map(({ method }) => method as string),
}))
const allowOf = (methods: readonly string[]) =>
  [...methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', ')

const CACHING = { 'cache-control': 'private, no-cache', 'vary': 'Cookie, Authorization, Accept' }
const cachingOf = (headers: Headers) => Object.fromEntries(Object.keys(CACHING).map(name => [name, headers.get(name)]))

/** All headers except those of the connection. */
const headersOf = ({ headers }: { headers: Headers }) =>
  Object.fromEntries([...headers].filter(([name]) => !['date', 'connection', 'keep-alive', 'transfer-encoding'].includes(name)))

describe('HEAD', () => {
  const reads = ROUTES.filter(({ method }) => method === 'GET').map(({ path }) => fill(path))

  it.each([...reads, '/api/articles?page=0', '/api/articles/999', '/api/articles?groupBy=status', '/api/articles?filter[secret]=x'])(
    'returns the status and the headers of GET without its body: %s',
    async (path) => {
      for (const caller of [ANN, NOBODY]) {
        const [get, head] = [await desk.request('GET', path, { caller }), await desk.request('HEAD', path, { caller })]
        expect(head.text).toBe('')
        expect(head.status).toBe(get.status)
        expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
        expect(cachingOf(head.headers)).toEqual(cachingOf(get.headers))
        if (get.status < 400) {
          expect(head.headers.get('content-length')).toBe(String(new TextEncoder().encode(get.text).byteLength))
          expect(headersOf(head)).toEqual({ ...headersOf(get), 'content-length': head.headers.get('content-length') })
        }
      }
    },
  )

  it('is authorized as GET: 401 for a caller who cannot read, 404 for a hidden row', async () => {
    await reopen({ auth: { articles: { permissions: { read: ctx => ctx.user !== null } } } })
    expect((await desk.request('HEAD', '/api/articles', { caller: NOBODY })).status).toBe(401)
    expect((await desk.request('HEAD', '/api/articles/11', { caller: ANN })).status).toBe(404)
  })

  it('is refused on a path that has no GET', async () => {
    expect((await desk.request('HEAD', '/api/articles/bulk', { caller: ANN })).status).toBe(405)
  })
})

describe('OPTIONS', () => {
  it.each(paths)('returns 204 with the methods of the path to every caller: $path', async ({ path, methods }) => {
    for (const caller of [NOBODY, ANN, CHIEF]) {
      const { status, headers, text } = await desk.request('OPTIONS', fill(path), { caller })
      expect({ status, text, allow: headers.get('allow') }).toEqual({ status: 204, text: '', allow: allowOf(methods) })
    }
  })

  it.each(paths)('lists the same methods as `Allow` of a refused method: $path', async ({ path, methods }) => {
    const method = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].find(method => !methods.includes(method))!
    const answer = await desk.request(method, fill(path), { caller: ANN })
    expect(told(answer)).toBe('405 METHOD_NOT_ALLOWED')
    expect(answer.headers.get('allow')).toBe(allowOf(methods))
  })
})

describe('a route of a plugin', () => {
  beforeEach(() =>
    reopen({
      plugins: [
        {
          name: 'stats',
          routes: [
            { method: 'GET', path: '/stats', handler: () => ({ count: 1 }) },
            { method: 'POST', path: '/stats', handler: () => undefined },
          ],
        },
      ],
    } as DeskOptions),
  )

  it('responds to HEAD and OPTIONS as generated routes do', async () => {
    const head = await desk.request('HEAD', '/api/stats')
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '11'])
    const options = await desk.request('OPTIONS', '/api/stats')
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS'])
    expect((await desk.request('PUT', '/api/stats')).headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS')
  })

  it.each(['/api/file', '/api/tagged', '/api/lines'])('responds to HEAD with all headers of GET: %s', async (path) => {
    await reopen({
      plugins: [
        {
          name: 'files',
          routes: [
            {
              method: 'GET',
              path: '/file',
              handler: () => ({
                status: 200,
                body: 'a,b',
                headers: { 'content-type': 'text/csv', 'content-disposition': 'attachment', 'x-rows': '1' },
              }),
            },
            {
              method: 'GET',
              path: '/tagged',
              handler: () => ({ status: 200, body: { a: 1 }, headers: { 'etag': '"x"', 'cache-control': 'no-store' } }),
            },
            {
              method: 'GET',
              path: '/lines',
              handler: () => ({
                status: 200,
                headers: { 'content-type': 'text/plain' },
                body: (async function* () {
                  yield new TextEncoder().encode('line')
                })(),
              }),
            },
          ],
        },
      ],
    } as unknown as DeskOptions)
    const [get, head] = [await desk.request('GET', path), await desk.request('HEAD', path)]
    expect([get.status, head.status, head.text]).toEqual([200, 200, ''])
    const { 'content-length': _length, ...headers } = headersOf(head)
    const { 'content-length': _own, ...expected } = headersOf(get)
    expect(headers).toEqual(expected)
  })

  it('forbids shared caches, and refuses a write from another site', async () => {
    for (const [method, status] of [['GET', 200], ['HEAD', 200], ['POST', 204], ['OPTIONS', 204], ['PUT', 405]] as const) {
      const answer = await desk.request(method, '/api/stats')
      expect([answer.status, cachingOf(answer.headers)]).toEqual([status, CACHING])
    }
    expect(told(await desk.request('POST', '/api/stats', { headers: { host: 'app.example', origin: 'https://evil.example' } }))).toBe(
      '403 CROSS_SITE',
    )
  })
})

describe('every response', () => {
  it.each([
    ['GET', '/api/articles', 200],
    ['GET', '/api/articles/1', 200],
    ['GET', '/api/permissions', 200],
    ['GET', '/api/articles/permissions', 200],
    ['GET', '/api/articles?page=0', 400],
    ['GET', '/api/articles/999', 404],
    ['GET', '/api/_m2m/detect/nothing', 404],
    ['PUT', '/api/articles', 405],
    ['POST', '/api/articles', 415],
    ['DELETE', '/api/articles/3', 200],
    ['OPTIONS', '/api/articles', 204],
  ])('has Cache-Control private and Vary: %s %s → %i', async (method, path, status) => {
    const answer = await desk.request(method, path, { caller: ANN })
    expect(answer.status).toBe(status)
    expect(cachingOf(answer.headers)).toEqual(CACHING)
  })

  it('of an endpoint of the app has the same headers, error responses included', async () => {
    await reopen({ endpoints: async () => {
      const { createEndpoint } = await import('../../../src/runtime/server/utils/index')
      return {
        'GET /open': createEndpoint({ handler: () => ({ some: 'thing' }) }),
        'GET /closed': createEndpoint({ resource: 'tags', operation: 'purge', handler: () => 'nothing' }),
        'GET /broken': createEndpoint({ handler: () => { throw new Error('broken') } }),
        'GET /web': createEndpoint({ handler: () => new Response('"x"', { headers: { 'cache-control': 'public' } }) }),
      }
    }, auth: { tags: null } })
    vi.spyOn(console, 'error').mockImplementation(() => {})
    for (const [path, status] of [['/open', 200], ['/closed', 403], ['/broken', 500]] as const) {
      const answer = await desk.request('GET', path, { caller: ANN })
      expect([answer.status, cachingOf(answer.headers)]).toEqual([status, CACHING])
    }
    expect((await desk.request('GET', '/web')).headers.get('cache-control')).toBe('public')
  })

  it.each([200, 400])('keeps headers that the app has set: %i', async (status) => {
    await reopen({
      hooks: { articles: { beforeList: ctx => setResponseHeader(ctx.event as never, 'cache-control', 'public, max-age=5') } },
      endpoints: async () => ({
        // Middleware: it answers nothing.
        'GET /api/articles': defineEventHandler(event => void setResponseHeader(event, 'vary', 'X-Shop')),
      }),
    })
    const { headers, ...answer } = await desk.request('GET', status === 400 ? '/api/articles?filter[nothing]=1' : '/api/articles', {
      caller: ANN,
    })
    expect(answer.status).toBe(status)
    expect(cachingOf(headers)).toEqual({
      'vary': 'X-Shop',
      'cache-control': status === 400 ? CACHING['cache-control'] : 'public, max-age=5',
    })
  })
})

describe('an error as application/problem+json', () => {
  const PROBLEM = { accept: 'application/problem+json' }

  const CASES: [method: string, path: string, options: object, expected: [status: number, title: string, code: string | undefined]][] = [
    ['GET', '/api/articles?filter[nothing]=1', { caller: ANN }, [400, 'Unknown field', 'UNKNOWN_FIELD']],
    ['GET', '/api/articles/999', { caller: ANN }, [404, 'Not found', 'NOT_FOUND']],
    ['GET', '/api/_m2m/junctions', { caller: NOBODY }, [401, 'Unauthenticated', 'UNAUTHENTICATED']],
    ['PUT', '/api/articles', { caller: ANN }, [405, 'Method not allowed', 'METHOD_NOT_ALLOWED']],
    ['POST', '/api/articles', { caller: ANN }, [415, 'Unsupported media type', 'UNSUPPORTED_MEDIA_TYPE']],
    ['POST', '/api/articles', { caller: ANN, body: { title: 5 } }, [400, 'Validation failed', 'VALIDATION_FAILED']],
    [
      'POST',
      '/api/articles',
      { caller: ANN, raw: JSON.stringify({ title: 'x'.repeat(300) }) },
      [413, 'Payload too large', 'PAYLOAD_TOO_LARGE'],
    ],
    ['PATCH', '/api/articles/bulk', { caller: ANN, body: { items: [{ id: 999, data: {} }] } }, [404, 'Bulk failed', 'BULK_FAILED']],
    [
      'POST',
      '/api/articles',
      { caller: ANN, body: {}, headers: { origin: 'https://evil.example', host: 'app.example' } },
      [403, 'Cross site', 'CROSS_SITE'],
    ],
    ['GET', '/api/refused', {}, [403, 'Forbidden', undefined]],
    ['GET', '/api/teapot', {}, [422, 'Unprocessable Content', 'TEAPOT']],
    ['PUT', '/api/teapot', {}, [405, 'Method not allowed', 'METHOD_NOT_ALLOWED']],
    ['GET', '/api/limited', {}, [429, 'Rate limited', 'RATE_LIMITED']],
    ['GET', '/closed', { caller: ANN }, [403, 'Forbidden', 'FORBIDDEN']],
    ['GET', '/broken', {}, [500, 'Internal Server Error', undefined]],
  ]

  beforeEach(async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { createError } = await import('h3')
    await reopen({
      config: { http: { ...DEFAULT_CONFIG.http, maxBodySize: 200 } },
      auth: { tags: null },
      plugins: [async () => {
        const { apiError } = await import('../../../src/runtime/server/utils/index')
        return {
          name: 'errors',
          routes: [
            {
              method: 'GET',
              path: '/refused',
              handler: () => {
                throw createError({
                  statusCode: 403,
                  statusMessage: 'No',
                  message: 'Not today.',
                  data: { status: 200, type: 'x', why: 'rain' },
                })
              },
            },
            {
              method: 'GET',
              path: '/teapot',
              handler: () => {
                throw apiError('TEAPOT', 'Short and stout.', { status: 422, details: { handle: true } })
              },
            },
            {
              method: 'GET',
              path: '/limited',
              handler: () => {
                throw apiError('RATE_LIMITED', 'Too many requests.', { details: { retryAfter: 7 }, headers: { 'retry-after': '7' } })
              },
            },
          ],
        }
      }],
      endpoints: async () => {
        const { createEndpoint } = await import('../../../src/runtime/server/utils/index')
        return {
          'GET /closed': createEndpoint({ resource: 'tags', operation: 'purge', handler: () => 'nothing' }),
          'GET /broken': createEndpoint({ handler: () => { throw new Error('broken') } }),
        }
      },
    } as unknown as DeskOptions)
  })

  it.each(CASES)('has the members of the standard and the keys of `data`: %s %s', async (method, path, options, [status, title, code]) => {
    const plain = await desk.request(method, path, options)
    const problem = await desk.request(method, path, { ...options, headers: { ...(options as { headers?: object }).headers, ...PROBLEM } })
    expect([plain.status, plain.headers.get('content-type'), problem.status, problem.headers.get('content-type')]).toEqual([
      status,
      'application/json',
      status,
      'application/problem+json',
    ])
    const isKnown = code !== undefined && code !== 'TEAPOT'
    expect(problem.body).toEqual({
      ...plain.body.data,
      type: isKnown ? `https://unpkg.com/nuxt-auto-api/docs/errors.md#${code.toLowerCase()}` : 'about:blank',
      title,
      status,
      detail: plain.body.message,
    })
    const [first, second] = [headersOf(plain), headersOf(problem)]
    for (const name of ['content-type', 'content-length']) for (const headers of [first, second]) Reflect.deleteProperty(headers, name)
    expect(second).toEqual(first)
  })

  it('has no body in the response to HEAD', async () => {
    const { status, text, headers } = await desk.request('HEAD', '/api/articles/999', { caller: ANN, headers: PROBLEM })
    expect([status, text, headers.get('content-type')]).toEqual([404, '', 'application/problem+json'])
  })

  it.each([
    ['application/problem+json', true],
    ['Application/Problem+JSON; q=0.5', true],
    ['application/json, application/problem+json', true],
    ['text/html;q=0.9, application/problem+json;q=0.1', true],
    ['application/json;q=0.5, application/problem+json;q=0.8, */*', true],
    ['application/json, application/problem+json;q=0.9', false],
    ['application/problem+json;q=0', false],
    ['*/*', false],
    ['application/*', false],
    ['application/json', false],
    ['application/problem+xml', false],
    [`${'application/problem+json,'.repeat(200)}`, false],
  ])('is negotiated by its quality: %s → %s', async (accept, isProblem) => {
    const { status, headers, body } = await desk.request('GET', '/api/articles/999', { caller: ANN, headers: { accept } })
    expect([status, headers.get('content-type')]).toEqual([404, isProblem ? 'application/problem+json' : 'application/json'])
    expect(isProblem ? body.code : body.data.code).toBe('NOT_FOUND')
    expect(headers.get('vary')).toContain('Accept')
  })

  it('does not change a response without an error', async () => {
    const { status, headers } = await desk.request('GET', '/api/articles', { caller: ANN, headers: PROBLEM })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
  })
})

describe('a body', () => {
  const limit = 200
  const titled = (length: number) => JSON.stringify({ title: 'x'.repeat(length) })
  const exact = titled(limit - titled(0).length)

  beforeEach(() => reopen({ config: { http: { ...DEFAULT_CONFIG.http, maxBodySize: limit } } }))

  it('of exactly the limit is read, and one of a byte more is a 413 that writes nothing', async () => {
    expect(exact).toHaveLength(limit)
    const before = desk.dump()
    const refused = await desk.request('POST', '/api/articles', { raw: `${exact} `, caller: ANN })
    expect(refused.body).toMatchObject({
      statusCode: 413,
      statusMessage: 'Payload Too Large',
      data: { code: 'PAYLOAD_TOO_LARGE', maxBodySize: limit },
    })
    expect(desk.dump()).toBe(before)
    expect((await desk.request('POST', '/api/articles', { raw: exact, caller: ANN })).status).toBe(201)
  })

  it('is counted in bytes, not in characters', async () => {
    const raw = JSON.stringify({ title: 'é'.repeat(limit / 2) })
    expect(raw.length).toBeLessThan(limit)
    expect((await desk.request('POST', '/api/articles', { raw, caller: ANN })).status).toBe(413)
  })

  it.each([
    ['POST', '/bulk'],
    ['PATCH', '/bulk'],
    ['DELETE', '/bulk'],
    ['POST', '/bulk/restore'],
    ['PATCH', '/1'],
    ['PUT', '/1/relations'],
    ['DELETE', '/1/relations/tags'],
  ])('is limited on every write: %s /articles%s', async (method, path) => {
    expect(told(await desk.request(method, `/api/articles${path}`, { raw: titled(limit), caller: ANN }))).toBe('413 PAYLOAD_TOO_LARGE')
  })

  it('is not read for a caller who cannot write', async () => {
    await reopen({ config: { http: { ...DEFAULT_CONFIG.http, maxBodySize: limit } }, auth: { articles: { permissions: { read: true } } } })
    expect((await desk.request('POST', '/api/articles', { raw: titled(limit), caller: ANN })).status).toBe(403)
  })
})

describe('a line of the log', () => {
  it('cannot be forged by a path or by the text of an error', async () => {
    const fail = (text: string) => {
      throw new Error(`${text}\n[auto-api] forged`)
    }
    const hooks = {
      beforeGet: (id: unknown) => fail(`no record ${id}`),
      beforeUpdate: (_: unknown, { title }: { title: string }) => fail(title),
    }
    await reopen({ hooks: { articles: hooks as never } })
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await desk.request('GET', '/api/articles/1%0A%5Bauto-api%5D%20forged%1B%5B31m', { caller: ANN })
    await desk.request('GET', '/api/articles/1', { caller: ANN })
    await desk.request('PATCH', '/api/articles/bulk', {
      body: { items: [{ id: 1, data: { title: 'one\r[auto-api] forged\n\u2028[auto-api] forged' } }] },
      caller: ANN,
    })
    expect(log.mock.calls.length).toBeGreaterThan(1)
    for (const call of log.mock.calls) {
      const lines = call.map(String).join(' ').split(/[\n\r\u2028\u2029\u0085]/)
      for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}/)
      // eslint-disable-next-line no-control-regex -- what would steer a terminal
      expect(lines.join('')).not.toMatch(/[\u0000-\u001F\u007F-\u009F]/)
    }
  })
})
