/** Decides which requests may ask for explanations: those of this machine, and of pages that this server serves. */
import { headerOf } from '../http/headers'
import type { HttpEvent } from '../http/platform'

/** The header that the development server adds to requests from this machine. It removes it from others. */
export const LOCAL_HEADER = 'x-auto-api-local'

const LOOPBACK = /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/**
 * Whether a request comes from this machine. A page of another site can send requests to this machine too: its name for the server, or the
 * headers of the browser, give it away.
 * @param secret the value of {@link LOCAL_HEADER}; without it, there is no such header
 */
export function isLocal(event: HttpEvent, secret: string): boolean {
  const host = headerOf(event, 'host') ?? ''
  if (!LOOPBACK.test(host)) return false
  if (secret !== '' && headerOf(event, LOCAL_HEADER) !== secret) return false
  const site = headerOf(event, 'sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  const origin = headerOf(event, 'origin')
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
}
