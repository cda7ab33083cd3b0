/** Which addresses the server sends requests to: public ones only, because a webhook must not reach the network of the server. */
import ipaddr from 'ipaddr.js'

/** Public addresses at which platforms answer their own virtual machines: Azure. */
const METADATA: ReadonlySet<string> = new Set(['168.63.129.16'])

/** The addresses of version 6 that are routed. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3')

/** Whether the text is a public address of version 4 or 6. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  // An address of version 4 that version 6 carries is that of version 4.
  const address = ipaddr.process(text)
  if (address.range() !== 'unicast' || METADATA.has(address.toString())) return false
  return address instanceof ipaddr.IPv4 || (address as ipaddr.IPv6).match(GLOBAL)
}

/** Returns the address that the host of a URL is, or `undefined` for a name. */
export function addressOf(hostname: string): string | undefined {
  const text = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return ipaddr.isValid(text) ? text : undefined
}
