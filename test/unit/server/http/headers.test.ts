import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import fc from 'fast-check'
import { createApp, eventHandler, toNodeListener, toPlainHandler, type H3Event } from 'h3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { headerOf } from '../../../../src/runtime/server/http/headers'

/** What the handler does with the event of the next request. */
let look: (event: H3Event) => unknown = () => undefined
const app = createApp().use(eventHandler((event) => {
  const found = look(event)
  return { found }
}))
const server = createServer(toNodeListener(app))

beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise<void>(resolve => server.close(() => resolve())))

/** Sends header lines as they are, which a client library would join or refuse. */
function send(lines: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', reject).on('close', () => resolve()).resume()
    socket.write(['GET / HTTP/1.1', 'Host: app.test', 'Connection: close', ...lines, '', ''].join('\r\n'), 'latin1')
  })
}

const NAMES = [
  'accept',
  'X-Request-Id',
  'cookie',
  'set-cookie',
  'content-type',
  'authorization',
  'traceparent',
  '__proto__',
  'constructor',
  'toString',
]
const ASKED = [...NAMES, ...NAMES.map(name => name.toUpperCase()), 'host', 'missing']

describe('headerOf', () => {
  it('returns what the copy of all headers has, for any lines of a client', async () => {
    const value = fc.string({ unit: fc.constantFrom('a', 'Z', '"', ',', ';', '=', ' ', '\t', 'é', '\u00FF', '1'), maxLength: 8 })
    await fc.assert(fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...NAMES), value), { maxLength: 8 }), async (lines) => {
      let pairs: unknown[][] = []
      look = (event) => {
        const direct = ASKED.map(name => headerOf(event, name))
        expect((event as unknown as { _headers?: unknown })._headers).toBeUndefined()
        pairs = ASKED.map((name, index) => [name, direct[index], event.headers.get(name) ?? undefined])
      }
      await send(lines.map(([name, text]) => `${name}: ${text}`))
      expect(pairs).toHaveLength(ASKED.length)
      for (const [name, direct, copied] of pairs) expect([name, direct]).toEqual([name, copied])
    }), { numRuns: 150 })
  })

  it('returns a header that the app has changed', async () => {
    let found: unknown
    look = (event) => {
      event.headers.set('authorization', 'Bearer from-middleware')
      found = headerOf(event, 'Authorization')
    }
    await send(['Authorization: Bearer sent'])
    expect(found).toBe('Bearer from-middleware')
  })

  it('finds the headers of a request that the server sends to itself, however their names are written', async () => {
    const found: unknown[] = []
    look = event => found.push(headerOf(event, 'x-caller'), headerOf(event, 'X-Caller'), headerOf(event, 'missing'))
    await toPlainHandler(app)({ method: 'GET', path: '/', headers: { 'X-Caller': '1' }, context: {} })
    expect(found).toEqual(['1', '1', undefined])
  })
})
