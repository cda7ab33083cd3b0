/** The IP address of the client: from the connection, or from a header that a trusted proxy or platform wrote. */

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
  return address.includes(':') ? `${toGroups(address).slice(0, 4).join(':')}::/64` : address
}

/** The network of an address: its first 24 bits of IPv4, or 48 bits of IPv6. Many clients share it, so it identifies nobody. */
export function toAddressPrefix(address: string): string {
  return address.includes(':')
    ? `${toGroups(address).slice(0, 3).join(':')}::/48`
    : `${address.split('.').slice(0, 3).join('.')}.0/24`
}

/** The canonical form of an address, without the port, the brackets and the zone that some proxies add. */
export function toAddress(text: string): string | undefined {
  const bare = text.trim()
  const [, bracketed, plain] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(bare) ?? []
  const address = (bracketed ?? plain ?? bare).replace(/%.*$/, '')
  return address.includes(':') ? toIpv6(address) : isIpv4(address) ? address : undefined
}

function isIpv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every(part => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
}

function toIpv6(text: string): string | undefined {
  // The URL parser also accepts other hosts, so this function checks the characters first.
  if (!/^[\da-f:.]+$/i.test(text)) return undefined
  const groups = URL.canParse(`http://[${text}]`) ? toGroups(new URL(`http://[${text}]`).hostname.slice(1, -1)) : undefined
  if (!groups) return undefined
  // `::ffff:1.2.3.4` is an IPv4 client on a dual-stack socket.
  const isMapped = groups.slice(0, 5).every(group => group === '0') && groups[5] === 'ffff'
  return isMapped ? toBytes(groups.slice(6)).join('.') : groups.join(':')
}

/** The eight groups of an IPv6 address, with `::` expanded. */
function toGroups(address: string): string[] {
  const [head, tail] = address.split('::').map(part => part === '' ? [] : part.split(':')) as [string[], string[] | undefined]
  return tail === undefined ? head : [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail]
}

const toBytes = (groups: readonly string[]) => groups.map(group => Number.parseInt(group, 16)).flatMap(group => [group >> 8, group & 255])
