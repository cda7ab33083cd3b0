/** What both platforms do with an event of their version, and which of them an event has. */
import { EventEmitter } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp, defineEventHandler, toNodeListener, type H3Event } from 'h3'
import { describe, expect, it } from 'vitest'
import { platformOf, platformOfNitro, type Platform } from '../../../../src/runtime/server/http/platform'
import { h3v1 } from '../../../../src/runtime/server/http/platform/h3-1'
import { h3v2 } from '../../../../src/runtime/server/http/platform/h3-2'

/** The parts of an event of h3 2 that the platform uses. */
function createEvent(context: object = {}) {
  const req = new Request('http://app.test:3000/shop/api/posts?a=%2C', { headers: { 'X-Caller': '1' } })
  return { context, method: 'GET', path: '/api/posts?a=,', headers: req.headers, req, res: { headers: new Headers(), status: 200, statusText: '' } }
}

/** Runs a handler of h3 1 on a real connection. */
async function withEvent<T>(use: (event: H3Event) => T): Promise<T> {
  let result: T
  const server = createServer(toNodeListener(createApp().use(defineEventHandler((event) => {
    result = use(event)
    return null
  }))))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await fetch(`http://127.0.0.1:${port}/shop/api/posts?a=%2C`, { headers: { 'X-Caller': '1', 'get': 'x' } })
  await new Promise(resolve => server.close(resolve))
  return result!
}

/** The same assertions for each version. */
const onEach = describe.each<[string, <T>(use: (event: object, platform: Platform) => T) => Promise<T>]>([
  ['h3 1', use => withEvent(event => use(event, platformOf(event)))],
  ['h3 2', async (use) => {
    const event = createEvent()
    return use(event, platformOf(event))
  }],
])

it('is chosen by the request of an event, whatever headers it has', async () => {
  expect(await withEvent(platformOf)).toBe(h3v1)
  expect(platformOf(createEvent())).toBe(h3v2)
  expect(platformOf({ req: { headers: { get: 'x' } } })).toBe(h3v1)
})

it('is chosen by the app of a Nitro plugin', () => {
  expect([platformOfNitro({ h3App: {} }), platformOfNitro({ h3: {} })]).toEqual([h3v1, h3v2])
})

onEach('a platform: %s', (_, run) => {
  it('reads the request as the client sent it', async () => {
    const read = await run((event, platform) => [
      platform.url(event),
      platform.header(event, 'x-caller'),
      platform.header(event, 'X-CALLER'),
      platform.header(event, 'missing'),
    ])
    expect(read).toEqual(['/shop/api/posts?a=%2C', '1', '1', undefined])
  })

  it('sets headers, and keeps the cookies that are set', async () => {
    const set = await run((event, platform) => {
      platform.setHeader(event, 'x-own', '1')
      platform.setHeader(event, 'x-own', '2')
      for (const cookie of ['a=1', 'b=2']) platform.addCookie(event, cookie)
      return [platform.getHeader(event, 'X-Own'), platform.getHeader(event, 'missing'), platform.headers(event)]
    })
    expect(set.slice(0, 2)).toEqual(['2', undefined])
    expect((set[2] as [string, string | string[]][]).flatMap(([name, value]) => [value].flat().map(text => `${name}: ${text}`)))
      .toEqual(expect.arrayContaining(['x-own: 2', 'set-cookie: a=1', 'set-cookie: b=2']))
  })

  it.each([[404, 404], [0, 200], [99, 200], [1000, 200], [Number.NaN, 200]])('sets the status, and ignores a number that is none: %d → %d', async (status, expected) => {
    const found = await run((event, platform) => {
      platform.setStatus(event, status)
      const { node, res } = event as { node?: { res: ServerResponse }, res: { status: number } }
      return node?.res.statusCode ?? res.status
    })
    expect(found).toBe(expected)
  })
})

describe('the platform of h3 2', () => {
  const event = createEvent({ matchedRoute: { route: '/api/posts' } })
  const platform = platformOf(event)

  it('returns the signal of the request, the matched route, and no response of Node', () => {
    expect([platform.signal(event), platform.matchedRoute(event), platform.nodeResponse(event)])
      .toEqual([event.req.signal, { pattern: '/api/posts' }, undefined])
  })

  it('keeps the request until work has ended, by the context or by the request', () => {
    const kept: string[] = []
    const ofRequest = { waitUntil: () => kept.push('request') }
    platform.waitUntil(Object.assign(createEvent(), { req: Object.assign(createEvent().req, ofRequest) }), Promise.resolve())
    platform.waitUntil(createEvent({ waitUntil: () => kept.push('context') }), Promise.resolve())
    expect(kept).toEqual(['request', 'context'])
  })
})

it('notifies a response that waits for its turn on the connection when the client leaves, also if Node does not', () => {
  const socket = Object.assign(new EventEmitter(), { destroyed: false })
  const open = () => {
    const res = Object.assign(new EventEmitter(), { socket: null, destroyed: false, writableFinished: false })
    return { context: {}, method: 'GET', path: '/', headers: new Headers(), node: { req: { headers: {}, socket }, res } }
  }
  const [sent, waiting] = [open(), open()]
  const signals = [sent, waiting].map(event => platformOf(event).signal(event))
  expect(platformOf(waiting).nodeResponse(waiting)).toBe(waiting.node.res)
  expect(socket.listenerCount('close')).toBe(1)
  sent.node.res.writableFinished = true
  sent.node.res.emit('close')
  socket.emit('close')
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true])
})

it('sends the request of an event of h3 2 again, with further headers and the address of its client', async () => {
  const event = createEvent()
  const received: Request[] = []
  const fetch = async (request: Request) => {
    received.push(request)
    return new Response('again')
  }
  const req = Object.defineProperty(event.req, 'ip', { value: '192.0.2.1' })
  const response = await h3v2.sendAgain!({ ...event, req, app: { fetch } } as never, { 'x-token': 't' })
  expect(await response!.text()).toBe('again')
  const [{ url, headers, ip }] = received as [Request & { readonly ip: string }]
  expect([url, headers.get('x-caller'), headers.get('x-token'), ip]).toEqual(['http://app.test:3000/shop/api/posts?a=%2C', '1', 't', '192.0.2.1'])
  expect(h3v2.sendAgain!(event as never, {})).toBeUndefined()
})
