/**
 * The rule about writes from other sites, by itself: from which page a request comes. `cross-site.test.ts` sends such requests to every
 * route.
 */
import { describe, expect, it } from 'vitest'
import { assertSameSite } from '../../../../../src/runtime/server/core/request/csrf'
import { DEFAULT_CONFIG } from '../../../../../src/runtime/shared/defaults'
import { foreign, FROM, HOSTS, ORIGINS, PROXIES } from '../../../../support/sites'

/** Whether the request passes. A refused one has to be a 403. */
function passes(
  headers: Record<string, string>,
  { method = 'POST', csrf = { origins: ORIGINS } as typeof DEFAULT_CONFIG.csrf, trustProxy = false as boolean | number } = {},
): boolean {
  try {
    assertSameSite({ method, header: name => headers[name] }, { ...DEFAULT_CONFIG, csrf, trustProxy })
    return true
  }
  catch (error) {
    expect(error).toMatchObject({ status: 403, data: { code: 'CROSS_SITE' } })
    return false
  }
}

describe('a write', () => {
  it.each(FROM)('from %s', (_title, headers, expected) => {
    expect(passes(headers)).toBe(expected)
  })

  it.each(HOSTS)('without `Sec-Fetch-Site`, to the host %s from a page of %s: %s', (host, origin, expected) => {
    for (const site of [{}, { 'sec-fetch-site': 'nonsense' }, { 'sec-fetch-site': '' }] as Record<string, string>[])
      expect(passes({ ...(host !== undefined && { host }), origin, ...site })).toBe(expected)
  })

  it.each(['app.example/', 'app.example?a', 'app.example#a', 'user@app.example', 'app.example\\a', '', ' ', '::'])(
    'to %j, which is no host, comes from another site',
    (host) => {
      expect(passes({ host, origin: 'https://app.example' })).toBe(false)
    },
  )

  it.each(PROXIES)('through proxies: trustProxy %s, %s → %s', (trustProxy, forwarded, expected) => {
    expect(passes({ 'host': '10.0.0.7:3000', 'x-forwarded-host': forwarded, 'origin': 'https://shop.example' }, { trustProxy })).toBe(
      expected,
    )
  })

  it('through a proxy that sends no `X-Forwarded-Host`, or an empty one, goes to `Host`', () => {
    for (const forwarded of [undefined, '', ' ', 'shop.example, '])
      expect(
        passes(
          { host: 'shop.example', ...(forwarded !== undefined && { 'x-forwarded-host': forwarded }), origin: 'https://shop.example' },
          { trustProxy: true },
        ),
      ).toBe(true)
  })

  it('with any method passes without the rule', () => {
    expect(passes(foreign, { csrf: false })).toBe(true)
  })

  it('of another origin does not pass because the list of origins is empty', () => {
    expect(passes(foreign, { csrf: { origins: [] } })).toBe(false)
    expect(passes({ 'sec-fetch-site': 'cross-site' }, { csrf: { origins: [] } })).toBe(false)
  })

  it.each([
    ['Bearer', false],
    ['Bearerx abc', false],
    ['x Bearer abc', false],
    ['BEARER abc', true],
    ['Bearer ', true],
  ])('from another site with the header `Authorization: %s`', (authorization, expected) => {
    expect(passes({ ...foreign, authorization })).toBe(expected)
  })
})

it.each([
  ['GET', true],
  ['HEAD', true],
  ['OPTIONS', true],
  ['POST', false],
  ['PUT', false],
  ['PATCH', false],
  ['DELETE', false],
  ['get', false],
])('a request with %s from another site passes: %s', (method, expected) => {
  expect(passes(foreign, { method })).toBe(expected)
})
