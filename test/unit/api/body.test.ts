/** A body that is never complete. */
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterEach, expect, it } from 'vitest'
import { readBody } from '../../../src/runtime/server/http/body'

const server = createServer()
afterEach(() => server.close())

it('of a client that left before it was read is refused without waiting for the rest', async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a"')
  const [request] = await once(server, 'request') as [IncomingMessage]
  client.destroy()
  await new Promise(resolve => request.once('close', resolve))
  const event = { method: 'POST', headers: new Headers({ 'content-length': '100' }), context: {}, node: { req: request } }
  await expect(readBody(event, 1000)).rejects.toMatchObject({ data: { code: 'INVALID_BODY' } })
})
