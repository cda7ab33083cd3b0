/** Sends a request on Node. It resolves the name itself, checks every address, and connects to one that was checked. */
import { lookup } from 'node:dns/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { addressOf, isPublicAddress } from './address'
import { MAX_READ, RefusedAddress, type SendRules, type Transport } from './transport'

/** Finds the address of a name. A test can replace it. */
export type Resolve = (hostname: string) => Promise<readonly { readonly address: string, readonly family: number }[]>

const resolveName: Resolve = hostname => lookup(hostname, { all: true })

/** @throws RefusedAddress if any address of the name is not public. A name with several answers must not reach a private one by chance. */
export async function findAddress(
  hostname: string, { allowPrivateNetworks }: Pick<SendRules, 'allowPrivateNetworks'>, resolve: Resolve = resolveName,
): Promise<string> {
  const literal = addressOf(hostname)
  const addresses = literal === undefined ? (await resolve(hostname)).map(({ address }) => address) : [literal]
  if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
  if (!allowPrivateNetworks && !addresses.every(isPublicAddress))
    throw new RefusedAddress('The name of the receiver resolves to an address that is not public.')
  // Version 4 first: many networks have no route for version 6.
  return addresses.find(address => !address.includes(':')) ?? addresses[0]!
}

export const createNodeTransport = (resolve?: Resolve): Transport => async ({ url, headers, body }, rules, signal) => {
  const target = new URL(url)
  const address = await abortable(findAddress(target.hostname, rules, resolve), signal)
  const isSecure = target.protocol === 'https:'
  const hostname = target.hostname.replace(/^\[|\]$/g, '')
  // Not every way in which a connection ends is an error of the request.
  return abortable(new Promise((succeed, fail) => {
    const request = (isSecure ? requestHttps : requestHttp)({
      host: address, port: target.port === '' ? undefined : Number(target.port), path: `${target.pathname}${target.search}`, method: 'POST',
      // Each request has a connection of its own, because one that is kept open could belong to another name.
      agent: false, signal,
      headers: { ...headers, 'host': target.host, 'content-length': String(Buffer.byteLength(body)), 'connection': 'close' },
      // The certificate must be that of the name, and an address has none.
      ...isSecure && { servername: addressOf(target.hostname) === undefined ? hostname : '' },
    }, (response) => {
      const chunks: Buffer[] = []
      let size = 0
      const end = () => {
        succeed({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() })
        response.destroy()
      }
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk.subarray(0, MAX_READ - size))
        size += chunk.length
        if (size >= MAX_READ) end()
      })
      response.on('end', end)
      response.on('error', fail)
    })
    request.on('error', fail)
    // An answer with the status 101 is none.
    request.on('upgrade', (_response, socket) => {
      socket.destroy()
      fail(new Error('The receiver changes the protocol.'))
    })
    request.end(body)
  }), signal)
}

export const sendNode = createNodeTransport()

/** Ends with the signal, whatever the promise waits for: names, too, can take longer to resolve than a request can last. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((succeed, fail) => {
    if (signal.aborted) fail(signal.reason as Error)
    signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true })
    promise.then(succeed, fail)
  })
}
