/** CSRF protection: refuses a write from a page of another site, unless the app trusts that site. */
import type { AutoApiConfig } from '../../../shared/config'
import { forwardedValue } from './ip-address'
import { crossSite } from '../error'
import type { IncomingRequest } from '../extensions/listeners'

type SentRequest = Pick<IncomingRequest, 'method' | 'header'>

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether the request comes from another site, by the value of `Sec-Fetch-Site`. */
const SITES: ReadonlyMap<string, boolean> = new Map([['same-origin', false], ['same-site', false], ['none', false], ['cross-site', true]])

/**
 * Refuses a write from another site, unless the app trusts that site or the request has a bearer token. Newer browsers send
 * `Sec-Fetch-Site`, and all browsers send `Origin` with a write. A request with neither header does not come from a browser.
 * A browser adds cookies automatically, but never a bearer token.
 * @throws `CROSS_SITE` (403)
 */
export function assertSameSite(request: SentRequest, { csrf, trustProxy }: AutoApiConfig): void {
  const { method, header } = request
  if (!csrf || SAFE.has(method)) return
  const origin = header('origin')
  const isForeign = SITES.get(header('sec-fetch-site') ?? '')
    ?? (origin !== undefined && !isOwnOrigin(origin, findHost(request, trustProxy)))
  if (!isForeign) return
  if (origin !== undefined && csrf.origins.includes(origin)) return
  if (/^bearer /i.test(header('authorization') ?? '')) return
  throw crossSite()
}

/** The host that the client requested. `X-Forwarded-Host` counts only behind a trusted proxy. */
function findHost({ header }: SentRequest, trustProxy: boolean | number): string | undefined {
  const forwarded = header('x-forwarded-host')
  return (forwarded === undefined ? undefined : forwardedValue(forwarded, Number(trustProxy))?.trim()) || header('host')
}

/**
 * Compares the hosts, but not the schemes: behind a proxy that terminates TLS, the server does not know the scheme of the request.
 * Both hosts are parsed with the scheme of the origin, so the parser removes the same default port from both.
 */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const page = toUrl(origin)
  if (host === undefined || !page || !/^https?:$/.test(page.protocol) || /[/?#@\\]/.test(host)) return false
  return toUrl(`${page.protocol}//${host}`)?.host === page.host
}

const toUrl = (text: string) => URL.canParse(text) ? new URL(text) : undefined
