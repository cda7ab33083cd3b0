/** A body that the server pushes: a client that does not read is dropped, and one that leaves ends it. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { pushedBody } from '../../../../src/runtime/server/kit/respond'
import { handleDirectly } from '../../../../src/runtime/server/plugin/direct-route'
import { openWorld, type World } from '../../../scenarios/write/world'
import type { ListeningServer } from '../../../support/server'

const MAX_QUEUED = 256 * 1024
const bytes = (text: string) => new TextEncoder().encode(text)
const CHUNK = bytes('x'.repeat(16 * 1024))
/** What the sockets of both sides hold at most, beside the queue. */
const IN_SOCKETS = 16 * 1024 * 1024

type Push = Parameters<Parameters<typeof pushedBody>[0]['start']>[0]

interface Stream {
  readonly push: Push
  readonly stopped: () => boolean
}

const streams: Stream[] = []
const plugin = {
  name: 'pushing',
  routes: [{
    method: 'GET',
    path: '/pushed',
    handler: handleDirectly(async () => {
      let stopped = false
      return {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: pushedBody({
          maxQueued: MAX_QUEUED,
          start(push) {
            streams.push({ push, stopped: () => stopped })
            push.send(bytes('begin\n'))
          },
          stop: () => stopped = true,
        }),
      }
    }),
  }],
}

let world: World
let server: ListeningServer
const sockets: Socket[] = []
beforeEach(async () => {
  streams.length = 0
  world = await openWorld({ tables: {}, plugins: [plugin] })
  server = await world.listen()
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.close()
})

async function begin(): Promise<{ readonly socket: Socket, readonly stream: Stream }> {
  const socket = connect(server.port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(`GET /api/pushed HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)
  await once(socket, 'readable')
  return { socket, stream: await vi.waitFor(() => streams.at(-1) ?? Promise.reject(new Error('There is no stream.'))) }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

describe('a client over a socket', () => {
  it('is dropped when it does not read, and what it does not read needs no more memory than the limit', async () => {
    const { socket, stream } = await begin()
    const memory = process.memoryUsage().rss
    let sent = 0
    for (; !stream.stopped() && sent < 2 * IN_SOCKETS; sent += CHUNK.length) {
      stream.push.send(CHUNK)
      await turn()
    }
    expect(stream.stopped()).toBe(true)
    expect(sent).toBeLessThan(IN_SOCKETS)
    // Everything after the end has no effect.
    for (let count = 0; count < 10_000; count++) stream.push.send(CHUNK)
    expect(process.memoryUsage().rss - memory).toBeLessThan(100 * 1024 * 1024)
    let received = 0
    socket.on('data', (chunk: Buffer) => received += chunk.length)
    await new Promise(resolve => socket.once('close', resolve))
    expect(received).toBeLessThanOrEqual(sent)
  })

  it('is not dropped when it reads, however much it receives', async () => {
    const { socket, stream } = await begin()
    let received = 0
    socket.on('data', (chunk: Buffer) => received += chunk.length)
    for (let count = 0; count < 1000; count++) {
      stream.push.send(CHUNK)
      await turn()
    }
    stream.push.end()
    await vi.waitFor(() => expect(received).toBeGreaterThan(1000 * CHUNK.length))
    expect(stream.stopped()).toBe(true)
  })

  it('ends the stream when it leaves', async () => {
    const { socket, stream } = await begin()
    socket.destroy()
    await vi.waitFor(() => expect(stream.stopped()).toBe(true))
  })
})

describe('a client of a web server', () => {
  it('is dropped when it does not read', async () => {
    const response = await world.fetch(new Request('http://localhost/api/pushed'))
    const [stream] = streams
    let sent = 0
    for (; !stream!.stopped() && sent < 100; sent++) stream!.push.send(CHUNK)
    expect(sent).toBeLessThanOrEqual(MAX_QUEUED / CHUNK.length + 2)
    stream!.push.send(CHUNK)
    stream!.push.end()
    await expect(response.text()).rejects.toThrow()
  })

  it('ends the stream when it leaves, and receives everything before the end', async () => {
    const left = await world.fetch(new Request('http://localhost/api/pushed'))
    await left.body!.cancel()
    expect(streams[0]!.stopped()).toBe(true)
    const response = await world.fetch(new Request('http://localhost/api/pushed'))
    streams[1]!.push.send(bytes('end\n'))
    streams[1]!.push.end()
    expect(await response.text()).toBe('begin\nend\n')
  })
})
