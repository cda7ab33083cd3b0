/** A body that is never complete, and the body that Nuxt 5 would read at once. */
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { readBody } from '../../../../src/runtime/server/http/body'
import { keepUnbuffered } from '../../../../src/runtime/server/http/unbuffered'

const server = createServer()
afterEach(() => server.close())

it('of a client that left before it was read is refused without waiting for the rest', async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a"')
  const [request] = await once(server, 'request') as [IncomingMessage]
  client.destroy()
  await new Promise(resolve => request.once('close', resolve))
  const event = { method: 'POST', path: '/', headers: new Headers({ 'content-length': '100' }), context: {}, node: { req: request } }
  await expect(readBody(event, 1000)).rejects.toMatchObject({ data: { code: 'INVALID_BODY' } })
})

describe('a body that Nuxt 5 must not read at once', () => {
  const isMarked = (path: string, method: string, headers: Record<string, string>) => {
    const req = new Request('http://localhost', { headers })
    keepUnbuffered({ method, path, headers: req.headers, context: {}, req }, '/api', 1000)
    return Symbol.for('nuxt.bufferedRequestBody') in req
  }
  const json = { 'content-type': 'application/json; charset=utf-8' }

  it.each([
    ['a file', '/api/posts/1/upload/cover', 'POST', { 'content-type': 'image/png', 'content-length': '9' }, true],
    ['a form', '/api/posts/1/upload/cover', 'POST', { 'content-type': 'multipart/form-data; boundary=a', 'content-length': '9' }, true],
    ['no type', '/api/posts/1', 'PATCH', { 'content-length': '9' }, true],
    ['JSON without a length', '/api/posts', 'POST', json, true],
    ['JSON above the limit', '/api/posts', 'POST', { ...json, 'content-length': '1001' }, true],
    ['JSON within the limit', '/api/posts', 'POST', { ...json, 'content-length': '1000' }, false],
    ['a request without a body', '/api/posts', 'GET', {}, false],
    ['a path of the app', '/apis/posts', 'POST', { 'content-type': 'image/png' }, false],
  ] as const)('%s', (_what, path, method, headers, marked) => {
    expect(isMarked(path, method, headers)).toBe(marked)
  })

  it('is no body of h3 1, whose requests are not replaced', () => {
    expect(() => keepUnbuffered({ method: 'POST', path: '/api/posts', headers: new Headers(), context: {} }, '/api', 1000)).not.toThrow()
  })
})
