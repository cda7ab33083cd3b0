/** Requests of pages on this and on other sites, and which of them can write. */

/** The origins that the app trusts. */
export const ORIGINS = ['https://admin.example']

export const foreign = { 'sec-fetch-site': 'cross-site', 'origin': 'https://evil.example' }

/** Cases by hand: further headers of a request, and whether it can write. */
export const FROM: [title: string, headers: Record<string, string>, passes: boolean][] = [
  ['another site', foreign, false],
  ['another site that tells no origin', { 'sec-fetch-site': 'cross-site' }, false],
  ['a listed origin', { ...foreign, origin: 'https://admin.example' }, true],
  ['a listed origin, spelled with a slash', { ...foreign, origin: 'https://admin.example/' }, false],
  ['an origin that begins like a listed one', { ...foreign, origin: 'https://admin.example.evil.example' }, false],
  ['another site with a bearer token', { ...foreign, authorization: 'Bearer abc' }, true],
  ['another site with a bearer token in small letters', { ...foreign, authorization: 'bearer abc' }, true],
  ['another site with a password', { ...foreign, authorization: 'Basic abc' }, false],
  ['another site that says bearer elsewhere', { ...foreign, authorization: 'Basic bearer abc' }, false],
  ['a page of a sibling host', { 'sec-fetch-site': 'same-site' }, true],
  ['a page of its own', { 'sec-fetch-site': 'same-origin' }, true],
  [
    'a page of its own, behind a proxy that changes the host',
    { 'sec-fetch-site': 'same-origin', 'host': '10.0.0.7:3000', 'origin': 'https://app.example' },
    true,
  ],
  [
    'a page of a sibling host, behind a proxy',
    { 'sec-fetch-site': 'same-site', 'host': '10.0.0.7:3000', 'origin': 'https://blog.app.example' },
    true,
  ],
  ['no page at all', { 'sec-fetch-site': 'none' }, true],
  ['a client that is no browser', {}, true],
  ['an older browser on a page of its own', { host: 'app.example', origin: 'https://app.example' }, true],
  ['an older browser on another site', { host: 'app.example', origin: 'https://evil.example' }, false],
  ['an older browser on a listed origin', { host: 'app.example', origin: 'https://admin.example' }, true],
  [
    'an older browser on another site with a bearer token',
    { host: 'app.example', origin: 'https://evil.example', authorization: 'Bearer abc' },
    true,
  ],
  ['an older browser in a sandboxed frame', { host: 'app.example', origin: 'null' }, false],
  ['an older browser on a sibling host', { host: 'app.example', origin: 'https://blog.app.example' }, false],
]

/** By hand: the host that a request without `Sec-Fetch-Site` was sent to, and whether a page of this origin is its own. */
export const HOSTS: [host: string | undefined, origin: string, passes: boolean][] = [
  ['app.example', 'http://app.example', true],
  ['APP.example', 'https://app.example', true],
  ['app.example:443', 'https://app.example', true],
  ['app.example:80', 'http://app.example', true],
  ['app.example', 'https://app.example:8443', false],
  ['app.example:8443', 'https://app.example', false],
  ['localhost:3000', 'http://localhost:3000', true],
  ['localhost:3000', 'http://localhost:3001', false],
  ['127.0.0.1:3000', 'http://localhost:3000', false],
  ['[::1]:3000', 'http://[::1]:3000', true],
  ['app.example', 'https://app.example.evil.example', false],
  ['app.example', 'https://evil.example/app.example', false],
  ['app.example', 'https://app.example@evil.example', false],
  ['app.example@evil.example', 'https://evil.example', false],
  ['app.example', 'https://app.example, https://evil.example', false],
  ['app.example', 'app.example', false],
  ['app.example', '', false],
  ['app.example', 'file://', false],
  ['app.example', 'capacitor://app.example', false],
  [undefined, 'https://app.example', false],
  [undefined, 'https://undefined', false],
  ['app.example', 'xhttps://app.example', false],
]

/** By hand: the proxies of the app, the `X-Forwarded-Host` of a request, and whether a page of `https://shop.example` is its own. */
export const PROXIES: [trustProxy: boolean | number, forwarded: string, passes: boolean][] = [
  [true, 'shop.example', true],
  [1, 'evil.example, shop.example', true],
  [1, 'shop.example, inner.example', false],
  [2, 'shop.example, inner.example', true],
  [true, 'inner.example', false],
  [false, 'shop.example', false],
]
