/** Where a request comes from: what the connection says; what headers say only where somebody trustworthy wrote them. */

export interface AddressSources {
  /** The other end of the connection. */
  readonly connection?: string
  /** `X-Forwarded-For`: each proxy appends whom it was called by; whatever stands before that, the client wrote. */
  readonly forwardedFor?: string
  /** What the edge platform says of the client; absent on every other platform, where the client would have written it. */
  readonly edge?: string
}

/** The client's address in one spelling, `undefined` where none is known. `trustProxy`: how many proxies of the app's own stand before it; `true` is one. */
export function resolveClientAddress({ connection, forwardedFor, edge }: AddressSources, trustProxy: boolean | number): string | undefined {
  const forwarded = forwardedFor === undefined ? undefined : forwardedValue(forwardedFor, Number(trustProxy))
  return [edge, forwarded, connection].map(text => text === undefined ? undefined : toAddress(text)).find(address => address !== undefined)
}

/** Counted from the right: the last entry is our nearest proxy's, and the first one anybody's. */
export function forwardedValue(header: string, hops: number): string | undefined {
  if (hops < 1) return undefined
  const entries = header.split(',')
  return entries[Math.max(0, entries.length - hops)]
}

/**
 * What one client can be counted by: an IPv4 address as it is, an IPv6 address by its first 64 bits. The other 64 are the
 * client's own to choose, anew for each request.
 */
export function toNetwork(address: string): string {
  return address.includes(':') ? `${toGroups(address).slice(0, 4).join(':')}::/64` : address
}

/** One spelling for each address; without the port, the brackets and the zone that some proxies add. */
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
  // Only then is it the URL parser's to say whether it is an address, and which one.
  if (!/^[\da-f:.]+$/i.test(text)) return undefined
  const groups = URL.canParse(`http://[${text}]`) ? toGroups(new URL(`http://[${text}]`).hostname.slice(1, -1)) : undefined
  if (!groups) return undefined
  // `::ffff:1.2.3.4`: an IPv4 client on a socket that speaks both is the same client.
  const isMapped = groups.slice(0, 5).every(group => group === '0') && groups[5] === 'ffff'
  return isMapped ? toBytes(groups.slice(6)).join('.') : groups.join(':')
}

/** The eight groups of an IPv6 address, `::` written out. */
function toGroups(address: string): string[] {
  const [head, tail] = address.split('::').map(part => part === '' ? [] : part.split(':')) as [string[], string[] | undefined]
  return tail === undefined ? head : [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail]
}

const toBytes = (groups: readonly string[]) => groups.map(group => Number.parseInt(group, 16)).flatMap(group => [group >> 8, group & 255])
