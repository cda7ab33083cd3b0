/** Streamed responses on a connection on which an earlier response has not ended. A client that keeps connections can be this fast. */
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createApp, defineEventHandler, toNodeListener, type H3Event } from 'h3'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { runAfterResponse } from '../../../src/runtime/server/http/after-response'
import { sendStream, signalOf } from '../../../src/runtime/server/http/stream'

let server: Server
let socket: Socket
let received: string
/** The handlers of the requests, in their order. */
let handlers: ((event: H3Event) => unknown)[]
/** Ends the first response. */
let release: () => void
const warned = vi.fn()

beforeEach(async () => {
  server = createServer(toNodeListener(createApp().use(defineEventHandler(event => handlers.shift()!(event)))))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  received = ''
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {}).on('data', data => void (received += data.toString('latin1')))
  const released = new Promise<void>(resolve => release = resolve)
  handlers = [stream(async function* (event) {
    event.node.res.setHeader('content-length', '5')
    yield 'first'
    await released
  })]
  warned.mockClear()
  process.on('warning', warned)
})

afterEach(async () => {
  process.off('warning', warned)
  release()
  socket.destroy()
  await new Promise(resolve => server.close(resolve))
})

const stream = (produce: (event: H3Event) => AsyncIterable<string | Uint8Array>) => (event: H3Event) =>
  sendStream(event, produce(event), { setHead: () => {}, onError: () => {} })
const get = () => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
const until = (holds: () => boolean) => vi.waitUntil(holds, { timeout: 2000, interval: 5 })
const hasRun = (...mocks: { readonly mock: { readonly calls: unknown[] } }[]) =>
  until(() => mocks.every(({ mock }) => mock.calls.length > 0))

/** Sends a request, and waits until the client has its response, which the server has not ended. */
async function getFirst(): Promise<void> {
  get()
  await until(() => received.endsWith('first'))
}

it('are sent when it is their turn', async () => {
  await getFirst()
  const started = vi.fn()
  handlers.push(stream(async function* () {
    started()
    yield 'sec'
    yield 'ond'
  }))
  get()
  await hasRun(started)
  await wait(20)
  release()
  await until(() => received.endsWith('0\r\n\r\n'))
  const second = received.split('first')[1]!.split('\r\n')
  expect([second[0], ...second.slice(-7)]).toEqual(['HTTP/1.1 200 OK', '3', 'sec', '3', 'ond', '0', '', ''])
})

it('wait for the client, and end when it leaves before their turn', async () => {
  await getFirst()
  let produced = 0
  const [ended, aborted] = [vi.fn(), vi.fn()]
  handlers.push(stream(async function* (event) {
    signalOf(event).addEventListener('abort', aborted)
    try {
      for (; produced < 10_000; produced++) yield new Uint8Array(10_000)
    }
    finally {
      ended()
    }
  }))
  get()
  await until(() => produced > 0)
  await wait(100)
  expect(produced).toBeLessThan(100)
  socket.destroy()
  await hasRun(ended, aborted)
})

it('do not keep work that runs after them from running when the client leaves before their turn', async () => {
  await getFirst()
  const handled = vi.fn()
  const work = vi.fn(async () => {})
  handlers.push((event) => {
    runAfterResponse(event, work)
    handled()
    return 'second'
  })
  get()
  await hasRun(handled)
  await wait(20)
  expect(work).not.toHaveBeenCalled()
  socket.destroy()
  await hasRun(work)
  expect(work).toHaveBeenCalledOnce()
})

it('can be many, and all of them end when the client leaves', async () => {
  await getFirst()
  const [started, ended] = [vi.fn(), vi.fn()]
  for (let count = 0; count < 30; count++) {
    handlers.push(stream(async function* () {
      started()
      try {
        for (;; await wait(20)) yield 'a'
      }
      finally {
        ended()
      }
    }))
    get()
  }
  await until(() => started.mock.calls.length === 30)
  socket.destroy()
  await until(() => ended.mock.calls.length === 30)
  expect(warned).not.toHaveBeenCalled()
})
