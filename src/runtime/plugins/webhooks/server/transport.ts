/** What a platform does to send a request, with the limits that hold on every platform. */
import type { WebhooksPolicy } from '../options'

export interface Message {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type SendRules = Pick<WebhooksPolicy, 'allowHttp' | 'allowPrivateNetworks' | 'timeout'>

/** What a platform does: sends the request to an address that was checked, and reads the beginning of the answer. */
export type Transport = (message: Message, rules: SendRules, signal: AbortSignal) => Promise<Answer>

export interface Answer {
  readonly status: number
  /** Its beginning. */
  readonly body: string
}

/** The bytes of an answer that are read. */
export const MAX_READ = 64 * 1024
/** The receiver cannot be reached, whatever its server does. */
export class RefusedAddress extends Error {}
