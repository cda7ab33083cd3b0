/** Checks the URL of a receiver: when a webhook is saved, and again before each request. */
import type { WebhooksPolicy } from '../options'
import { addressOf, isPublicAddress } from './address'

export type UrlRules = Pick<WebhooksPolicy, 'allowHttp' | 'allowPrivateNetworks'>

const MAX_LENGTH = 2048

/** Names that stand for the server itself or its network, whatever the resolver says. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa)\.?$/i

/** Returns what is wrong with the URL, or `undefined`. */
export function urlProblem(text: unknown, { allowHttp, allowPrivateNetworks }: UrlRules): string | undefined {
  if (typeof text !== 'string' || !URL.canParse(text)) return 'is not a URL.'
  if (text.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters.`
  const { protocol, username, password, hostname } = new URL(text)
  const protocols = allowHttp ? ['https:', 'http:'] : ['https:']
  if (!protocols.includes(protocol)) return `must begin with ${protocols.join(' or ')}.`
  if (username !== '' || password !== '') return 'contains a user name or a password.'
  if (allowPrivateNetworks) return undefined
  const address = addressOf(hostname)
  if (address === undefined ? LOCAL_NAME.test(hostname) : !isPublicAddress(address)) return 'is not a public address.'
  return undefined
}
