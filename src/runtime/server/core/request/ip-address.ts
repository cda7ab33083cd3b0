/** The IP address of the client: from the connection, or from a header that a trusted proxy or platform wrote. */
import ipaddr from 'ipaddr.js'

export interface AddressSources {
  /** The address that opened the connection to the server: the client or the nearest proxy. */
  readonly connection?: string
  /** `X-Forwarded-For`: each proxy appends the address that connected to it. The client can send entries before those. */
  readonly forwardedFor?: string
  /** The address in the header of an edge platform. It is absent on other platforms, because a client could send the header there. */
  readonly edge?: string
}

/**
 * Returns the client's address in its canonical form, or `undefined` if the address is unknown.
 * `trustProxy` is the number of the app's own proxies. `true` means one proxy.
 */
export function resolveClientAddress({ connection, forwardedFor, edge }: AddressSources, trustProxy: boolean | number): string | undefined {
  const forwarded = forwardedFor === undefined ? undefined : forwardedValue(forwardedFor, Number(trustProxy))
  return [edge, forwarded, connection].map(text => text === undefined ? undefined : toAddress(text)).find(address => address !== undefined)
}

/** Returns the entry at position `hops` from the right. The nearest proxy wrote the last entry. The client can write the first ones. */
export function forwardedValue(header: string, hops: number): string | undefined {
  if (hops < 1) return undefined
  const entries = header.split(',')
  return entries[Math.max(0, entries.length - hops)]
}

/** The network of a client: the IPv4 address, or the first 64 bits of an IPv6 address. A client can change the other bits. */
export function toNetwork(address: string): string {
  return address.includes(':') ? `${firstGroups(address, 4)}::/64` : address
}

/** The network of an address: its first 24 bits of IPv4, or 48 bits of IPv6. Many clients share it, so it identifies nobody. */
export function toAddressPrefix(address: string): string {
  return address.includes(':') ? `${firstGroups(address, 3)}::/48` : `${address.split('.').slice(0, 3).join('.')}.0/24`
}

/** @param address in its canonical form, which has all eight groups */
const firstGroups = (address: string, count: number) => address.split(':').slice(0, count).join(':')

/**
 * The canonical form of an address, without the port, the brackets and the zone that some proxies add. An IPv4 client on a dual-stack
 * socket (`::ffff:1.2.3.4`) is an IPv4 address.
 */
export function toAddress(text: string): string | undefined {
  const bare = text.trim()
  const [, bracketed, plain] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(bare) ?? []
  const address = (bracketed ?? plain ?? bare).replace(/%.*$/, '')
  // The library also accepts forms of IPv4 that only C does, such as `0x7f.1`.
  const isAddress = ipaddr.IPv6.isValid(address) || ipaddr.IPv4.isValidFourPartDecimal(address)
  return isAddress ? ipaddr.process(address).toNormalizedString() : undefined
}
