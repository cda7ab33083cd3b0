/** Whose page: a write that a foreign site sends in the caller's name is refused, unless the app trusts that site. */
import type { AutoApiConfig } from '../../shared/config'
import type { ApiRequest } from './context'
import { crossSite } from './error'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Browsers tell where a request comes from. A bearer token is no cookie: no browser sends it along by itself.
 * @throws `CROSS_SITE` (403)
 */
export function assertSameSite({ method, header }: ApiRequest, { csrf }: AutoApiConfig): void {
  if (!csrf || SAFE.has(method) || header('sec-fetch-site') !== 'cross-site') return
  const origin = header('origin')
  if (origin !== undefined && csrf.origins.includes(origin)) return
  if (/^bearer /i.test(header('authorization') ?? '')) return
  throw crossSite()
}
