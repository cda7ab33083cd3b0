/** The request of a plugin route's handler: media types, forms, the body as a stream, and headers. */
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_CONFIG } from '../../../../src/runtime/shared/defaults'
import { defineAutoApiPlugin, type AutoApiPlugin, type PluginRoute, type RouteRequest } from '../../../../src/runtime/server/define'
import type { PluginServer } from '../../../../src/runtime/server/plugin/server'
import { createServer, type ListeningServer, type TestServer } from '../../../support/server'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull() })

let client: Database.Database | undefined
let listening: ListeningServer | undefined
afterEach(async () => {
  vi.restoreAllMocks()
  await listening?.close()
  listening = undefined
  client?.close()
})

type RouteOptions = Partial<PluginRoute> & Pick<PluginRoute, 'handler'>

function open(options: RouteOptions, maxBodySize = 1_000_000, plugins: readonly AutoApiPlugin[] = []): Promise<TestServer> {
  client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, title text not null)')
  return createServer({
    db: drizzle({ client }),
    config: { http: { ...DEFAULT_CONFIG.http, maxBodySize } },
    registrations: [{ name: 'posts', schema: posts, authorization: { permissions: { read: true, update: 'editor' } } }],
    plugins: [
      defineAutoApiPlugin({ name: 'probe', routes: [{ method: 'POST', path: '/:resource/probe', operation: 'update', ...options }] }),
      ...plugins,
    ],
  })
}

const EDITOR = { user: { id: 1 }, permissions: ['editor'] }

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString()
}

/** A handler that returns the body as text. */
const echo = async (_ctx: unknown, request: RouteRequest) => ({ text: await collect(request.stream()) })

interface Sent { status: number, code?: string, message?: string, body: unknown }

/** Sends the body over both adapters, which must agree. */
async function post(server: TestServer, type: string | undefined, raw: BodyInit | undefined, caller = EDITOR): Promise<Sent> {
  const headers = type === undefined ? undefined : { 'content-type': type }
  listening = await server.listen(caller)
  const responses = [
    await server.fetch(new Request('http://localhost/api/posts/probe', { method: 'POST', headers, body: raw }), caller),
    await fetch(`${listening.url}/api/posts/probe`, { method: 'POST', headers, body: raw }),
  ]
  await listening.close()
  const [web, node] = await Promise.all(responses.map(async (response): Promise<Sent> => {
    const body = await response.text().then(text => text === '' ? undefined : JSON.parse(text))
    return { status: response.status, code: body?.data?.code, message: body?.message, body: body?.data?.code ? undefined : body }
  }))
  expect(web).toEqual(node)
  return node!
}

describe('text that a handler returns', () => {
  it.each([
    [undefined, 'text/plain; charset=utf-8'],
    ['text/html; charset=utf-8', 'text/html; charset=utf-8'],
  ])('is sent as %s → %s', async (set, sent) => {
    const server = await open({
      handler: (_ctx, request) => {
        if (set !== undefined) request.setHeader('content-type', set)
        return '<script>alert(1)</script>'
      },
    })
    listening = await server.listen(EDITOR)
    const init = { method: 'POST' }
    const responses = [
      await server.fetch(new Request('http://localhost/api/posts/probe', init), EDITOR),
      await fetch(`${listening.url}/api/posts/probe`, init),
    ]
    for (const response of responses)
      expect([response.headers.get('content-type'), await response.text()]).toEqual([sent, '<script>alert(1)</script>'])
  })
})

describe('the media types of a route', () => {
  it.each<[accepts: string[] | undefined, type: string, accepted: boolean]>([
    [undefined, 'application/json', true],
    [undefined, 'text/csv', false],
    [undefined, 'multipart/form-data; boundary=x', false],
    [['text/csv'], 'text/csv; charset=utf-8', true],
    [['text/csv'], 'TEXT/CSV', true],
    [['text/csv'], 'application/json', false],
    [['text/csv', 'application/x-ndjson'], 'application/x-ndjson', true],
    [['image/*'], 'image/png', true],
    [['image/*'], 'image/svg+xml', true],
    [['image/*'], 'image', false],
    [['image/*'], 'image/', false],
    [['image/*'], 'imagery/png', false],
    [['image/*'], 'image/png, text/html', false],
    [['image/*'], 'text/html; image/png', false],
    [['*/*'], 'application/octet-stream', true],
    [['*/*'], 'no type', false],
  ])('%j: a body of `%s` is accepted: %s', async (accepts, type, accepted) => {
    const handler = vi.fn(echo)
    const { status, code } = await post(await open({ accepts, handler }), type, 'a,b')
    expect([status, code]).toEqual(accepted ? [200, undefined] : [415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  it('are named in the error', async () => {
    const { message } = await post(await open({ accepts: ['text/csv', 'image/*'], handler: echo }), 'text/html', '<p>')
    expect(message).toBe('Send the body as text/csv or image/*.')
  })

  it('are checked after the permission, and before the handler runs', async () => {
    const handler = vi.fn(() => 1)
    const server = await open({ accepts: ['text/csv'], handler })
    expect((await post(server, 'text/html', 'x', { user: { id: 2 }, permissions: [] })).status).toBe(403)
    expect((await post(server, 'text/html', 'x')).status).toBe(415)
    expect(handler).not.toHaveBeenCalled()
  })

  it('do not matter for a request without a body', async () => {
    expect(await post(await open({ accepts: ['text/csv'], handler: echo }), undefined, undefined)).toMatchObject({
      status: 200,
      body: { text: '' },
    })
  })

  it.each<[what: string, options: Partial<RouteOptions>, message: RegExp]>([
    ['no list', { accepts: 'text/csv' as never }, /`accepts` is not a list of media types/],
    ['an empty list', { accepts: [] }, /`accepts` is not a list of media types/],
    ['an upper-case type', { accepts: ['Text/CSV'] }, /`accepts` is not a list of media types/],
    ['a type with parameters', { accepts: ['text/csv; charset=utf-8'] }, /`accepts` is not a list of media types/],
    [
      'a schema for a type that the API cannot parse',
      { accepts: ['application/json', 'text/csv'], body: z.object({}) },
      /`body` cannot validate `text\/csv`.*request\.stream\(\)/,
    ],
    ['a schema for every type', { accepts: ['*/*'], body: z.object({}) }, /`body` cannot validate/],
  ])('fail the start with %s', async (_what, options, message) => {
    await expect(open({ handler: echo, ...options })).rejects.toThrow(message)
  })
})

describe('a body with a schema', () => {
  const FORM = 'application/x-www-form-urlencoded'
  const body = z.object({ token: z.string(), scope: z.array(z.string()).optional() })
  const handler = (ctx: { body: unknown }) => ({ got: ctx.body })

  it('can be a form, whose repeated fields are lists', async () => {
    const server = await open({ accepts: [FORM, 'application/json'], body, handler })
    expect(await post(server, FORM, 'token=a%20b%C3%A9&scope=x&scope=y')).toMatchObject({
      status: 200,
      body: { got: { token: 'a bé', scope: ['x', 'y'] } },
    })
    expect(await post(server, 'application/json', '{"token":"t"}')).toMatchObject({ status: 200, body: { got: { token: 't' } } })
    expect((await post(server, FORM, 'scope=x')).code).toBe('VALIDATION_FAILED')
  })

  it('is refused if its JSON is so deep that a validator could overflow the stack', async () => {
    const tree: z.ZodType = z.lazy(() => z.array(tree))
    const { status, code } = await post(
      await open({ body: tree, handler: () => ({}) }),
      'application/json',
      '['.repeat(20_000) + ']'.repeat(20_000),
    )
    expect([status, code]).toEqual([400, 'INVALID_BODY'])
  })

  it('is JSON if the accepted type ends with +json', async () => {
    expect(
      await post(await open({ accepts: ['application/merge-patch+json'], body, handler }), 'application/merge-patch+json', '{"token":"t"}'),
    ).toMatchObject({ status: 200 })
  })

  it('cannot set the prototype of the form', async () => {
    const server = await open({
      accepts: [FORM],
      body: z.looseObject({}),
      handler: ctx => ({ own: Object.keys(ctx.body as object), admin: (ctx.body as { admin?: string }).admin ?? null }),
    })
    expect((await post(server, FORM, '__proto__=x&admin=1&constructor=y')).status).toBe(200)
  })

  it('is refused quickly if a form has too many fields', async () => {
    const server = await open({ accepts: [FORM], body: z.looseObject({}), handler: () => 1 })
    const start = performance.now()
    expect((await post(server, FORM, 'a&'.repeat(400_000))).code).toBe('LIMIT_EXCEEDED')
    expect(performance.now() - start).toBeLessThan(2000)
  })

  it('cannot be read again as a stream', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open({ body, handler: echo })
    expect((await post(server, 'application/json', '{"token":"t"}')).status).toBe(500)
    expect(log.mock.calls.join(' ')).toContain('was read before')
  })
})

describe('request.stream()', () => {
  it('yields the bytes of the body', async () => {
    const bytes = new Uint8Array(300_000).map((_, index) => index)
    const handler = async (_ctx: unknown, request: RouteRequest) => {
      let sum = 0
      let length = 0
      for await (const chunk of request.stream()) {
        length += chunk.byteLength
        for (const byte of chunk) sum += byte
      }
      return { length, sum }
    }
    expect(await post(await open({ accepts: ['application/octet-stream'], handler }), 'application/octet-stream', bytes))
      .toMatchObject({ status: 200, body: { length: 300_000, sum: bytes.reduce((sum, byte) => sum + byte, 0) } })
  })

  it.each<[what: string, size: number, options: { maxSize?: number } | undefined, status: number]>([
    ['http.maxBodySize, exactly', 1000, undefined, 200],
    ['http.maxBodySize', 1001, undefined, 413],
    ['a larger maxSize', 5000, { maxSize: 5000 }, 200],
    ['its maxSize', 5001, { maxSize: 5000 }, 413],
    ['a smaller maxSize', 11, { maxSize: 10 }, 413],
  ])('is limited by %s', async (_what, size, options, status) => {
    const handler = async (_ctx: unknown, request: RouteRequest) => ({ text: (await collect(request.stream(options))).length })
    expect((await post(await open({ accepts: ['text/csv'], handler }, 1000), 'text/csv', 'x'.repeat(size))).status).toBe(status)
  })

  it('counts a body without a declared length while it is read, and receives the response', async () => {
    const seen: number[] = []
    const server = await open({ accepts: ['text/csv'], handler: async (_ctx, request) => {
      for await (const chunk of request.stream({ maxSize: 100_000 })) seen.push(chunk.byteLength)
    } })
    listening = await server.listen(EDITOR)
    const endless = new ReadableStream({ pull: controller => controller.enqueue(new Uint8Array(10_000)) }, { highWaterMark: 0 })
    let sent = 0
    const counted = endless.pipeThrough(new TransformStream({ transform(chunk, controller) {
      sent += chunk.byteLength
      if (sent > 3_000_000) controller.terminate()
      else controller.enqueue(chunk)
    } }))
    const response = await fetch(`${listening.url}/api/posts/probe`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: counted,
      duplex: 'half',
    } as RequestInit)
    expect([response.status, (await response.json()).data.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect(seen.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(100_000)
  })

  it('refuses a declared length before it reads a byte', async () => {
    const read = vi.fn()
    const { status } = await post(await open({ accepts: ['text/csv'], handler: async (_ctx, request) => {
      for await (const chunk of request.stream({ maxSize: 10 })) read(chunk)
    } }), 'text/csv', 'x'.repeat(20))
    expect(status).toBe(413)
    expect(read).not.toHaveBeenCalled()
  })

  it('lets the client wait while the handler works on a chunk', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>(resolve => release = resolve)
    const server = await open({ accepts: ['text/csv'], handler: async (_ctx, request) => {
      let length = 0
      for await (const chunk of request.stream({ maxSize: 100_000_000 })) {
        length += chunk.byteLength
        await held
      }
      return { length }
    } })
    listening = await server.listen(EDITOR)
    const socket = connect(listening.port, '127.0.0.1')
    let received = ''
    socket.on('data', data => received += String(data))
    const size = 60_000_000
    socket.write(
      `POST /api/posts/probe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/csv\r\nContent-Length: ${size}\r\n\r\n`,
    )
    let sent = 0
    const send = (): void => {
      while (sent < size) {
        sent += 1_000_000
        if (!socket.write(Buffer.alloc(1_000_000, 97))) return void socket.once('drain', send)
      }
    }
    send()
    await wait(500)
    const inFlight = sent
    expect(inFlight).toBeLessThan(30_000_000)
    release()
    await new Promise(resolve => socket.once('close', resolve))
    expect(JSON.parse(received.slice(received.indexOf('{'), received.lastIndexOf('}') + 1))).toEqual({ length: size })
    expect(sent).toBe(size)
  })

  it('throws INVALID_BODY if the client disconnects', async () => {
    const failed: unknown[] = []
    const server = await open({ accepts: ['text/csv'], handler: async (_ctx, request) => {
      try {
        for await (const _ of request.stream());
      }
      catch (error) {
        failed.push((error as { data: { code: string } }).data.code)
      }
    } })
    listening = await server.listen(EDITOR)
    const socket = connect(listening.port, '127.0.0.1')
    socket.write('POST /api/posts/probe HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: 100\r\n\r\na,b\n')
    await wait(50)
    socket.destroy()
    await wait(100)
    expect(failed).toEqual(['INVALID_BODY'])
  })

  it('keeps the connection usable if the handler reads only a part of the body', async () => {
    const server = await open({ accepts: ['text/csv'], handler: async (_ctx, request) => {
      for await (const chunk of request.stream({ maxSize: 10_000_000 })) return { first: chunk.byteLength > 0 }
      return undefined
    } })
    expect(await post(server, 'text/csv', 'x'.repeat(5_000_000))).toMatchObject({ status: 200, body: { first: true } })
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity, '10' as never])('refuses the maxSize %s', async (maxSize) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { status } = await post(
      await open({ accepts: ['text/csv'], handler: (_ctx, request) => collect(request.stream({ maxSize })) }),
      'text/csv',
      'a',
    )
    expect(status).toBe(500)
    expect(log.mock.calls.join(' ')).toContain('is not a whole number of bytes')
  })

  it('can be read once', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { status } = await post(
      await open({ accepts: ['text/csv'], handler: (_ctx, request) => [request.stream(), request.stream()] }),
      'text/csv',
      'a',
    )
    expect(status).toBe(500)
    expect(log.mock.calls.join(' ')).toContain('was read before')
  })
})

describe('the handler\'s request', () => {
  it('has the method, the resource, the query and the headers', async () => {
    const seen: unknown[] = []
    const server = await open({
      handler: (_ctx, { method, resource, operation, query, header }) =>
        void seen.push([method, resource, operation, query.a, header('x-probe')]),
    })
    expect((await server.request('POST', '/api/posts/probe?a=1', { caller: EDITOR, headers: { 'x-probe': 'here' } })).status).toBe(204)
    expect(seen).toEqual([['POST', 'posts', 'update', '1', 'here']])
  })

  it('sets headers of the response, also from a streamed body before its first chunk', async () => {
    const server = await open({ method: 'GET', operation: 'read', handler: async function* (_ctx, request) {
      request.setHeader('Content-Type', 'text/csv')
      request.setHeader('Content-Disposition', 'attachment; filename="posts.csv"')
      yield 'id\n'
    } })
    const response = await server.fetch(new Request('http://localhost/api/posts/probe'))
    expect([response.headers.get('content-type'), response.headers.get('content-disposition'), await response.text()]).toEqual([
      'text/csv',
      'attachment; filename="posts.csv"',
      'id\n',
    ])
  })

  it.each([
    ['content-disposition', 'attachment; filename="日本.csv"'],
    ['x-title', 'a\r\nset-cookie: b=c'],
    ['x title', 'a'],
    ['x-size', 1 as never],
  ])('refuses the invalid header %s: %s', async (name, value) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open({
      handler: (_ctx, request) => {
        request.setHeader(name, value)
        return (async function* () {
          yield 'a'
        })()
      },
    })
    expect((await post(server, undefined, undefined)).status).toBe(500)
    expect(log.mock.calls.join(' ')).toContain(`request.setHeader(): the header "${name}" has an invalid name or value.`)
  })

  it('sets headers from a streamed body also if `around` of a plugin copied the response', async () => {
    const stamp: AutoApiPlugin = { name: 'stamp', around: async (_ctx, next) => {
      const response = await next()
      return { ...response, headers: { ...response.headers, 'x-stamp': 'here' } }
    } }
    const server = await open({ method: 'GET', operation: 'read', handler: async function* (_ctx, request) {
      request.setHeader('Content-Type', 'text/csv')
      yield 'id\n'
    } }, undefined, [stamp])
    const { headers } = await server.fetch(new Request('http://localhost/api/posts/probe'))
    expect([headers.get('content-type'), headers.get('x-stamp')]).toEqual(['text/csv', 'here'])
  })

  it('sets no headers of an error response', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const server = await open({ method: 'GET', operation: 'read', handler: async function* (_ctx, request) {
      request.setHeader('Content-Type', 'text/csv')
      request.setHeader('Content-Disposition', 'attachment')
      if (request.method === 'GET') throw new Error('no rows')
      yield 'id'
    } })
    const response = await server.fetch(new Request('http://localhost/api/posts/probe'))
    expect([response.status, response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
      500,
      'application/json',
      null,
    ])
  })

  it('aborts its signal when the client leaves, and not when the response is sent', async () => {
    const signals: AbortSignal[] = []
    let slow = false
    const server = await open({ handler: async (_ctx, { signal }) => {
      signals.push(signal)
      if (slow) await new Promise(resolve => signal.addEventListener('abort', resolve))
      return 1
    } })
    listening = await server.listen(EDITOR)
    await fetch(`${listening.url}/api/posts/probe`, { method: 'POST' })
    slow = true
    const controller = new AbortController()
    const request = fetch(`${listening.url}/api/posts/probe`, { method: 'POST', signal: controller.signal }).catch(() => {})
    while (signals.length < 2) await wait(5)
    controller.abort()
    await request
    await wait(50)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true])
  })
})

describe('the id of a path', () => {
  const links = sqliteTable('links', { from: integer('from'), to: text('to') }, table => [primaryKey({ columns: [table.from, table.to] })])

  it.each(['posts', 'links'])('that is not valid percent-encoding is a 404 for an update of %s by a plugin', async (resource) => {
    client = new Database(':memory:')
    let plugin: PluginServer
    const server = await createServer({
      db: drizzle({ client }),
      registrations: [
        { name: 'posts', schema: posts, authorization: { permissions: { update: true } } },
        { name: 'links', schema: links, authorization: { permissions: { update: true } } },
      ],
      plugins: [
        defineAutoApiPlugin({
          name: 'probe',
          setup: (server) => {
            plugin = server
          },
          routes: [
            {
              method: 'POST',
              path: '/:resource/:id/probe',
              operation: 'update',
              handler: ctx => plugin.authorizeUpdate(ctx, ctx.resource, ctx.params.id!, []),
            },
          ],
        }),
      ],
    })
    expect((await server.request('POST', `/api/${resource}/%ff/probe`, { caller: EDITOR })).status).toBe(404)
  })
})
