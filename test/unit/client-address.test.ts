/** Finds the client of a request that a page sends while the server renders it, with h3 of both versions. */
import { describe, expect, it } from 'vitest'
import { clientAddressOf, rememberEvent, type ClientEvent } from '../../src/runtime/server/client-address'

const headers = new Headers()

/** An event of h3 2. A request that the server sends to itself has no address. */
const event = (ip?: string): ClientEvent => ({ context: {}, headers, req: { ip, headers } as ClientEvent['req'] })

/** As Nitro calls its hook, and the handler after it. */
async function receive<T>(received: ClientEvent, handle: () => Promise<T>): Promise<T> {
  rememberEvent(received)
  return handle()
}

describe('with h3 2', () => {
  const addressOf = async () => {
    await new Promise(resolve => setTimeout(resolve, 1))
    const inner = event()
    return receive(inner, async () => clientAddressOf(inner, false))
  }

  it('a request of a page has the address of the page\'s client, also while other pages render', async () => {
    const addresses = Array.from({ length: 20 }, (_, index) => `192.0.2.${index + 1}`)
    expect(await Promise.all(addresses.map(address => receive(event(address), addressOf)))).toEqual(addresses)
  })

  it('a request of a request of a page has it too', async () => {
    expect(await receive(event('192.0.2.1'), () => receive(event(), addressOf))).toBe('192.0.2.1')
  })

  it('a request with a connection has its own address', async () => {
    const other = event('192.0.2.2')
    expect(await receive(event('192.0.2.1'), () => receive(other, async () => clientAddressOf(other, false)))).toBe('192.0.2.2')
  })
})

it('with h3 1, a request of a page has the address of the page\'s client', () => {
  const page: ClientEvent = { context: {}, headers, node: { req: { socket: { remoteAddress: '192.0.2.1' } } } }
  const inner: ClientEvent = { context: {}, headers, node: { req: { __unenv__: page.context } } }
  for (const received of [page, inner]) rememberEvent(received)
  expect([page, inner].map(received => clientAddressOf(received, false))).toEqual(['192.0.2.1', '192.0.2.1'])
})
