/** Streamed responses, on Node's HTTP server and as web responses: backpressure, clients that leave, and errors. */
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Readable } from 'node:stream'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { apiPlugin, posts } from './streams'
import { createServer, type ListeningServer, type TestServer } from '../../support/server'

let client: Database.Database
let listening: ListeningServer | undefined
/** The result of the route's handler. */
let result: () => unknown
let server: TestServer

beforeEach(async () => {
  client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, title text not null)')
  server = await createServer({
    db: drizzle({ client }),
    registrations: [{ name: 'posts', schema: posts, authorization: { permissions: { read: true } } }],
    plugins: [apiPlugin(() => result())],
  })
})

afterEach(async () => {
  vi.restoreAllMocks()
  await listening?.close()
  listening = undefined
  client.close()
})

/** A producer that counts its chunks and records its end. */
function produce(chunks: number, size: number, between: () => Promise<unknown> = async () => {}) {
  const state = { started: false, produced: 0, ended: false }
  async function* run() {
    state.started = true
    try {
      for (; state.produced < chunks; state.produced++) {
        await between()
        yield new Uint8Array(size).fill(97)
      }
    }
    finally {
      state.ended = true
    }
  }
  return { state, run }
}

async function until(holds: () => boolean, limit = 1000): Promise<number> {
  const start = performance.now()
  while (!holds()) {
    if (performance.now() - start > limit) throw new Error(`not within ${limit} ms`)
    await wait(5)
  }
  return performance.now() - start
}

/** Sends a request over TCP and reads nothing until `resume`. */
function request(port: number, { method = 'GET', version = '1.1' } = {}) {
  const socket = connect(port, '127.0.0.1')
  socket.pause()
  socket.on('error', () => {})
  socket.write(`${method} /api/stream HTTP/${version}\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  return socket
}

describe.each(['Node', 'web'] as const)('a streamed response (%s)', (runtime) => {
  async function get(method = 'GET'): Promise<Response> {
    if (runtime === 'web') return server.fetch(new Request('http://localhost/api/stream', { method }))
    listening ??= await server.listen()
    return fetch(`${listening.url}/api/stream`, { method })
  }

  it('contains the strings and bytes of an async iterable, with the caching headers', async () => {
    result = async function* () {
      yield ''
      yield 'id,title\n'
      yield new TextEncoder().encode('1,é\n')
      yield new Uint8Array()
      yield '2,b\n'
    }
    const response = await get()
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control'), await response.text()])
      .toEqual([200, 'application/octet-stream', 'private, no-cache', 'id,title\n1,é\n2,b\n'])
  })

  it.each([
    ['a web stream', () => new ReadableStream({ start(controller) {
      controller.enqueue(new TextEncoder().encode('streamed'))
      controller.close()
    } })],
    ['a stream of Node', () => Readable.from([Buffer.from('stream'), 'ed'])],
    ['an iterable with an empty last chunk', async function* () {
      yield 'streamed'
      yield ''
    }],
  ])('can be %s', async (_kind, body) => {
    result = body
    expect(await (await get()).text()).toBe('streamed')
  })

  it('can be empty', async () => {
    result = async function* () {}
    const response = await get()
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it('is an ordinary error response if the producer throws before its first byte', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    result = async function* () {
      yield ''
      await wait(1)
      throw new Error('no rows')
    }
    const response = await get()
    expect([response.status, response.headers.get('content-type'), (await response.json()).message]).toEqual([
      500,
      'application/json',
      'Something went wrong.',
    ])
  })

  it('fails in the client if the producer throws after its first byte, and the error is logged', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    result = async function* () {
      yield 'id,title\n'
      await wait(20)
      throw new Error('row 2 is gone')
    }
    await expect(get().then(response => response.text())).rejects.toThrow()
    expect(log.mock.calls.map(call => call.join(' '))).toEqual([expect.stringMatching(/GET \/api\/stream Error: row 2 is gone/)])
  })

  it('fails in the client if the producer yields a value that cannot be sent, and ends the producer', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const ended = vi.fn()
    result = async function* () {
      try {
        yield 'a'
        yield { not: 'bytes' }
      }
      finally {
        ended()
      }
    }
    // On Node, the reset can overtake the headers.
    await expect(get().then(response => response.text())).rejects.toThrow()
    expect(ended).toHaveBeenCalledOnce()
    expect(log.mock.calls.join(' ')).toContain('neither a string nor a Uint8Array')
  })

  it.each([['first', 0], ['second', 1]])('is not complete if the %s next() returns no object', async (_which, before) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    let calls = 0
    result = () => ({ [Symbol.asyncIterator]: () => ({ next: async () => calls++ < before ? { value: 'a', done: false } : undefined }) })
    const outcome = await get()
      .then(
        async response => ({ status: response.status, text: await response.text() }),
        () => 'broken',
      )
      .catch(() => 'broken')
    expect(outcome).toEqual(before === 0 ? { status: 500, text: expect.stringContaining('Something went wrong.') } : 'broken')
    expect(log.mock.calls.join(' ')).toContain('`next()` of a streamed response returned no object')
  })

  it('has only headers for HEAD, and the producer does not start', async () => {
    const { state, run } = produce(3, 1)
    result = run
    const response = await get('HEAD')
    expect([response.status, response.headers.get('content-type'), await response.text(), state.started]).toEqual([
      200,
      'application/octet-stream',
      '',
      false,
    ])
  })

  it('releases a stream that a HEAD request does not read', async () => {
    const cancelled = vi.fn()
    result = () => new ReadableStream({ cancel: cancelled })
    await get('HEAD')
    expect(cancelled).toHaveBeenCalledOnce()
  })
})

describe('a client that reads nothing', () => {
  it('stops the producer on Node after the buffers are full', async () => {
    listening = await server.listen()
    const { state, run } = produce(100_000, 10_000)
    result = run
    const socket = request(listening.port)
    await until(() => state.produced > 0)
    await wait(300)
    const produced = state.produced
    await wait(300)
    expect(state.produced).toBe(produced)
    expect(produced).toBeLessThan(2_000)
    // It continues when the client reads again.
    socket.resume()
    await until(() => state.produced > produced + 1000, 5000)
    socket.destroy()
    await until(() => state.ended)
  })

  it('stops the producer of a web response at once', async () => {
    const { state, run } = produce(100_000, 10_000)
    result = run
    const response = await server.fetch(new Request('http://localhost/api/stream'))
    await wait(50)
    // The first chunk is pulled before the headers are sent.
    expect(state.produced).toBeLessThanOrEqual(1)
    await response.body!.cancel()
    await until(() => state.ended)
  })
})

describe('a client that leaves', () => {
  it('ends the producer within a second, while chunks are sent', async () => {
    listening = await server.listen()
    const { state, run } = produce(1_000_000, 1000, () => wait(1))
    result = run
    const socket = request(listening.port)
    socket.resume()
    await until(() => state.produced > 3)
    socket.destroy()
    expect(await until(() => state.ended)).toBeLessThan(1000)
  })

  it('ends the producer within a second, while it stalls', async () => {
    listening = await server.listen()
    const { state, run } = produce(1_000_000, 10_000)
    result = run
    const socket = request(listening.port)
    await until(() => state.produced > 10)
    await wait(100)
    socket.destroy()
    expect(await until(() => state.ended)).toBeLessThan(1000)
  })

  const slow = () => {
    const ended = vi.fn(async () => ({ done: true as const, value: undefined }))
    const asked = vi.fn()
    const iterable = (chunks: number) => ({ [Symbol.asyncIterator]: () => {
      let left = chunks
      return {
        next: async () => {
          asked()
          if (left-- > 0) return { done: false as const, value: 'a' }
          return new Promise<never>(() => {})
        },
        return: ended,
      }
    } })
    return { ended, asked, iterable }
  }

  it.each([
    ['before the first chunk', 0],
    ['after a chunk', 1],
  ])('ends the producer within a second, while it waits for a slow next(), %s', async (_when, chunks) => {
    listening = await server.listen()
    const { ended, asked, iterable } = slow()
    result = () => iterable(chunks)
    const socket = request(listening.port)
    socket.resume()
    await until(() => asked.mock.calls.length === chunks + 1)
    socket.destroy()
    expect(await until(() => ended.mock.calls.length > 0)).toBeLessThan(1000)
    expect(ended).toHaveBeenCalledOnce()
  })

  it('ends the producer of a web response, while it waits for a slow next()', async () => {
    const { ended, asked, iterable } = slow()
    result = () => iterable(1)
    const reader = (await server.fetch(new Request('http://localhost/api/stream'))).body!.getReader()
    await reader.read()
    void reader.read().catch(() => {})
    await until(() => asked.mock.calls.length === 2)
    await reader.cancel()
    expect(ended).toHaveBeenCalledOnce()
  })

  it('cancels a web stream that waits for its source', async () => {
    listening = await server.listen()
    const cancelled = vi.fn()
    result = () => new ReadableStream({
      start: controller => controller.enqueue(new Uint8Array(10)),
      pull: () => new Promise(() => {}),
      cancel: cancelled,
    })
    const socket = request(listening.port)
    await wait(50)
    socket.destroy()
    await until(() => cancelled.mock.calls.length > 0)
  })

  it('destroys a stream of Node that waits for its source', async () => {
    listening = await server.listen()
    const stream = new Readable({ read() {} })
    stream.push('a')
    result = () => stream
    const socket = request(listening.port)
    await wait(50)
    socket.destroy()
    await until(() => stream.destroyed)
  })

  it('logs an error of a producer that cannot be stopped, and the server goes on', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    listening = await server.listen()
    result = async function* () {
      try {
        for (;;) yield new Uint8Array(100_000)
      }
      finally {
        // eslint-disable-next-line no-unsafe-finally -- a producer that fails while it is stopped
        throw new Error('cannot close the file')
      }
    }
    const socket = request(listening.port)
    await wait(100)
    socket.destroy()
    await until(() => log.mock.calls.length > 0)
    expect(log.mock.calls[0]!.join(' ')).toContain('cannot close the file')
    result = async function* () {
      yield 'still here'
    }
    expect(await (await fetch(`${listening.url}/api/stream`)).text()).toBe('still here')
  })
})

it('resets the connection of an HTTP/1.0 client, which could not distinguish a broken file from a complete one', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  listening = await server.listen()
  result = async function* () {
    yield 'half'
    await wait(20)
    throw new Error('the other half')
  }
  const socket = connect(listening.port, '127.0.0.1')
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code!))
    socket.on('end', () => resolve('complete'))
  })
  socket.resume()
  socket.write('GET /api/stream HTTP/1.0\r\nHost: localhost\r\n\r\n')
  expect(await ended).toBe('ECONNRESET')
})

it('ends the producer if `around` or the app made the headers invalid', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const ended = vi.fn()
  const response = { once: vi.fn(), socket: {}, destroyed: false }
  const { sendStream } = await import('../../../src/runtime/server/http/stream')
  const body = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 'a', done: false }), return: ended }) }
  const setHead = () => {
    throw new TypeError('Invalid character in header content')
  }
  const event = { method: 'GET', path: '/', headers: new Headers(), context: {}, node: { res: response } }
  await expect(sendStream(event, body, { setHead, onError: () => {} })).rejects.toThrow(
    'Invalid character',
  )
  expect(ended).toHaveBeenCalledOnce()
})
