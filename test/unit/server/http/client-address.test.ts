/** Finds the client of a request that a page sends while the server renders it, with h3 of both versions. */
import { describe, expect, it } from 'vitest'
import { clientAddressOf, edgeFieldsOf, rememberEvent, type ClientEvent } from '../../../../src/runtime/server/http/client-address'

const headers = new Headers()

/** An event of h3 2. A request that the server sends to itself has no address. */
const event = (ip?: string): ClientEvent => ({ context: {}, headers, req: { ip, headers } })

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

describe('the platform', () => {
  const cf = { country: 'PT', city: 'Lisboa', region: 'Lisbon', timezone: 'Europe/Lisbon', colo: 'LIS', asn: 1 }
  const sent = new Headers({ 'cf-connecting-ip': '3.3.3.3', 'cf-ipcountry': 'XX' })
  const node = { req: { socket: { remoteAddress: '192.0.2.1' } } }
  const on: Readonly<Record<string, ClientEvent>> = {
    'h3 1': { context: { cloudflare: { env: {} }, cf }, headers: sent, node },
    'h3 1, without cf in the context': { context: { cloudflare: { request: { cf } } }, headers: sent, node },
    'h3 2': { context: {}, headers: sent, req: { headers: sent, ip: '192.0.2.1', runtime: { cloudflare: {} }, cf } },
  }

  it.each(Object.entries(on))('gives the address and the place in a server that is built for it: %s', (_, event) => {
    expect(clientAddressOf(event, false, 'cloudflare-module')).toBe('3.3.3.3')
    expect(edgeFieldsOf(event, 'cloudflare_pages')).toEqual({ country: 'PT', city: 'Lisboa', region: 'Lisbon', timezone: 'Europe/Lisbon' })
  })

  it.each(
    Object.entries(on).flatMap(([version, event]) =>
      ['', 'node-server', 'vercel', 'netlify', 'nitro-dev'].map(preset => [version, preset, event] as const),
    ),
  )('gives nothing in a server for another platform: %s, %j', (_, preset, event) => {
    expect(clientAddressOf(event, false, preset)).toBe('192.0.2.1')
    expect(edgeFieldsOf(event, preset)).toEqual({})
  })

  it('gives nothing without its object, whatever headers the client sends', () => {
    const event: ClientEvent = { context: {}, headers: sent, node }
    expect(clientAddressOf(event, false, 'cloudflare-module')).toBe('192.0.2.1')
    expect(edgeFieldsOf(event, 'cloudflare-module')).toEqual({})
  })

  it('gives only text of a sensible length', () => {
    const event: ClientEvent = {
      context: { cloudflare: {}, cf: { country: 1, city: '', region: 'x'.repeat(101), timezone: 'UTC' } },
      headers: sent,
      node,
    }
    expect(edgeFieldsOf(event, 'cloudflare-module')).toEqual({ timezone: 'UTC' })
  })
})
