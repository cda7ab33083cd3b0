/** A response that a plugin pushes: what the client receives, and when the plugin learns that it has left. */
import { request, type IncomingMessage } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { pushedBody, type Push } from '../../../src/runtime/server/plugin-kit'
import { openFeed, sleep } from './feed'

const bytes = (text: string) => new TextEncoder().encode(text)
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function open() {
  const pushes: Push[] = []
  const stop = vi.fn()
  const body = () => pushedBody({ maxQueued: 256 * 1024, stop, start: (push) => {
    push.send(bytes('hello '))
    pushes.push(push)
  } })
  const world = await openFeed({}, { plugins: [{ name: 'pushing', routes: [{ method: 'GET', path: '/pushed', handler: body }] }] })
  return { world, pushes, stop }
}

describe('a pushed body', () => {
  it('arrives piece by piece, and ends when the plugin ends it', async () => {
    const { world, pushes, stop } = await open()
    const response = await world.fetch(new Request('http://localhost/api/pushed'))
    pushes[0]!.send(bytes('world'))
    pushes[0]!.end()
    pushes[0]!.send(bytes('!'))
    expect([await response.text(), stop.mock.calls.length]).toEqual(['hello world', 1])
  })

  it('of a HEAD request does not begin', async () => {
    const { world, pushes } = await open()
    const { status } = await world.request('HEAD', '/api/pushed')
    expect([status, pushes]).toEqual([200, []])
  })

  it('stops over HTTP when the client leaves, and drops a client that does not read', async () => {
    const { world, pushes, stop } = await open()
    const server = await world.listen()
    ends.push(server.close)
    const connect = () => new Promise<Pick<IncomingMessage, 'destroy'>>((resolve) => {
      request(`${server.url}/api/pushed`, response => resolve(response.on('error', () => {}))).on('error', () => {}).end()
    })
    const left = await connect()
    left.destroy()
    await vi.waitFor(() => expect(stop).toHaveBeenCalledTimes(1))
    // Nobody reads this response, so the buffers of the connection fill up first.
    await connect()
    for (let index = 0; index < 2000 && stop.mock.calls.length === 1; index++) {
      pushes[1]!.send(new Uint8Array(64 * 1024))
      if (index % 50 === 0) await sleep(1)
    }
    expect(stop).toHaveBeenCalledTimes(2)
  })
})
