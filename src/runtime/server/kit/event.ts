/** What plugins read from the event of a request. */
import { platformOf } from '../http/platform'

/** Returns the headers that are set for the response. */
export function responseHeadersOf(event: object): readonly (readonly [name: string, value: unknown])[] {
  return platformOf(event).headers(event)
}

/** Returns the bindings of an edge platform. Without an event, they are those that Nitro keeps for tasks. */
export function bindingsOf(event: object | undefined): Readonly<Record<string, unknown>> | undefined {
  const env = (event && platformOf(event).cloudflare(event)?.env) ?? (globalThis as { __env__?: object }).__env__
  return env as Readonly<Record<string, unknown>> | undefined
}
