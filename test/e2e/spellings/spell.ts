/** Other ways to write the target of a request: what a server, a router, a gate or a proxy could each read in its own way. */

/** A number of 0 or more, below the limit. */
export type Random = (limit: number) => number

export interface Place {
  /** A path in its plain spelling, without a query. It begins with `/`. */
  readonly path: string
  /** A path of another resource, which the app does not protect. */
  readonly open: string
  readonly host: string
}

export interface Spelling {
  readonly kind: string
  readonly target: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The same numbers for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return (limit) => {
    state = (state + 0x6D2B79F5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) % limit
  }
}

const hex = (text: string) => [...Buffer.from(text)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')

const pick = <T>(list: readonly T[], random: Random): T => list[random(list.length)]!

/** Replaces one match, chosen at random. Returns the text as it is if nothing matches. */
function replaceOne(text: string, pattern: RegExp, by: (match: string) => string, random: Random): string {
  const matches = [...text.matchAll(pattern)]
  if (matches.length === 0) return text
  const { index, 0: match } = pick(matches, random)
  return text.slice(0, index) + by(match) + text.slice(index + match.length)
}

type Rewrite = (place: Place, random: Random) => string

const LETTER = /(?<!%.?)[a-z]/g
const letter = (by: (match: string) => string): Rewrite => ({ path }, random) => replaceOne(path, LETTER, by, random)
const everyLetter = (by: (match: string) => string): Rewrite => ({ path }) => path.replace(LETTER, by)
const slash = (...by: readonly string[]): Rewrite => ({ path }, random) => replaceOne(path, /\//g, () => pick(by, random), random)
const everySlash = (by: string): Rewrite => ({ path }) => path.replaceAll('/', by)
const before = (...texts: readonly string[]): Rewrite => ({ path }, random) => pick(texts, random) + path
const after = (...texts: readonly string[]): Rewrite => ({ path }, random) => path + pick(texts, random)
/** At the end of a segment. */
const afterSegment = (...texts: readonly string[]): Rewrite => ({ path }, random) =>
  replaceOne(path, /(?<=[^/])(?=\/|$)/g, () => pick(texts, random), random)
/** One segment, which can be the id of a record. */
const segment = (by: (segment: string) => string): Rewrite => ({ path }, random) => replaceOne(path, /[^/]+/g, by, random)

/** Letters that other letters become in upper or lower case, or in a normal form of Unicode. */
const LOOKALIKES: Readonly<Record<string, string>> = { s: 'ſ', k: '\u212A', i: 'ı', a: 'ａ', e: 'é' }
const fullWidth = (text: string) => String.fromCodePoint(text.codePointAt(0)! + 0xFEE0)
/** Two bytes for a character of one, which is no valid UTF-8. */
const overlong = (text: string) => `%c${(text.charCodeAt(0) >> 6).toString(16)}%${(0x80 | (text.charCodeAt(0) & 0x3F)).toString(16)}`

const REWRITES: Readonly<Record<string, Rewrite>> = {
  'a letter encoded': letter(hex),
  'a letter encoded, in capital hex': letter(text => hex(text).toUpperCase()),
  'every letter encoded': everyLetter(hex),
  'a letter encoded twice': letter(text => hex(text).replace('%', '%25')),
  'a letter encoded three times': letter(text => hex(text).replace('%', '%2525')),
  'every letter encoded twice': everyLetter(text => hex(text).replace('%', '%25')),
  'a letter as of IIS': letter(text => `%u00${hex(text).slice(1)}`),
  'the dash or digit encoded': ({ path }, random) => replaceOne(path, /[-_.\d]/g, hex, random),
  'a slash encoded': slash('%2f', '%2F'),
  'every slash encoded': everySlash('%2f'),
  'a slash encoded twice': slash('%252f', '%25252F'),
  'a backslash': slash('\\', '/\\', '\\/', '\\\\'),
  'every slash a backslash': everySlash('\\'),
  'a backslash encoded': slash('%5c', '%5C', '%255c'),
  'a slash twice': slash('//', '///'),
  'every slash twice': everySlash('//'),
  'slashes at the start': before('/', '//', '/\\'),
  'slashes at the end': after('/', '//', '/%2f', '%2f', '\\', '/\\'),
  'a dot segment': slash('/./', '/%2e/', '/%2E/', '/.//', '\\.\\'),
  'a dot segment at the start': before('/.', '/..', '/%2e%2e', '/../..', '/..;'),
  'a dot segment at the end': after('/.', '/%2e', '/x/..', '/x/%2e%2e', '/x%2f..', '/x/..%2f'),
  'back from another segment': slash('/x/../', '/x/%2e%2e/', '/x/.%2e/', '/x/%2E./', '/x%2f../', '/x/..%2f', '/x/..\\', '/x\\../', '/x//../'),
  'back from another prefix': before('/other/..', '/_nuxt/..', '/__nuxt/%2e%2e', '/_nuxt/..%2f', '/assets\\..', '/other/..;'),
  'back from the open path': ({ path, open }, random) => {
    const up = '/..'.repeat(open.split('/').length - 1)
    return pick([`${open}${up}${path}`, `${open}${up.replaceAll('/', '\\')}${path}`, `${open}${up.replaceAll('..', '%2e%2e')}${path}`,
      `${open}${up.replaceAll('/', '%2f')}${path}`, `${open}${up.replaceAll('..', '..;')}${path}`], random)
  },
  // Resolved, this is the open path: its last segments alone are those of the path.
  'to the open path': ({ path, open }, random) => {
    const up = '\\..'.repeat(path.split('/').length - 1)
    return pick([`${path}${up}${open.replaceAll('/', '\\')}`, `${path}/${up}${open}`, `${path}${up.replaceAll('\\', '%5c')}${open}`,
      `${open}#${path}`, `${open}%23${path}`, `${open}%3f${path}`, `${open};${path}`, `${open}%00${path}`], random)
  },
  'the open end of the path': ({ path, open }, random) => {
    const [first, last] = [path.slice(0, path.lastIndexOf('/')), open.slice(open.lastIndexOf('/') + 1)]
    const up = '\\..'.repeat(path.split('/').length - 1)
    return pick([`${first}/x${up}${open.replaceAll('/', '\\')}`, `${path}\\..\\${last}`, `${path}/..\\${last}`], random)
  },
  'a parameter of a segment': afterSegment(';x', ';a=b', ';jsessionid=1', ';', '%3bx', ';/x/..'),
  'a parameter at the start': before('/;x', ';', '/;/'),
  'a letter in upper case': letter(text => text.toUpperCase()),
  'a segment in upper case': segment(text => text.toUpperCase()),
  'all in upper case': ({ path }) => path.toUpperCase(),
  'a letter in upper case, encoded': letter(text => hex(text.toUpperCase())),
  'a full-width letter': letter(text => encodeURIComponent(fullWidth(text))),
  'a full-width letter, not encoded': letter(fullWidth),
  'a full-width slash': slash('\uFF0F', '%EF%BC%8F', '\u2215', '%E2%81%84'),
  'a similar letter': ({ path }, random) =>
    replaceOne(path, /[skiae]/g, text => pick([LOOKALIKES[text]!, encodeURIComponent(LOOKALIKES[text]!)], random), random),
  'an overlong letter': letter(overlong),
  'an overlong slash': slash('%c0%af', '%e0%80%af', '%c1%9c'),
  'an overlong dot segment': slash('/x/%c0%ae%c0%ae/', '/%c0%ae/'),
  'a zero byte': afterSegment('%00', '%00.json', '%2500', '%u0000'),
  'a control character': afterSegment('%0a', '%0d%0a', '%09', '%7f', '%0b', '%1b'),
  'a control character, not encoded': afterSegment('\t', '\r', '\n', '\u000B', '\u007F'),
  'white space': afterSegment('%20', '+', ' ', '%c2%a0', '%e3%80%80'),
  'an invisible character': afterSegment('%c2%ad', '%e2%80%8b', '%ef%bb%bf', '%e2%80%ae', '%cc%81'),
  'an encoded question mark': afterSegment('%3f', '%3Fx=1', '%253f'),
  'an encoded hash': afterSegment('%23', '%23x', '#', '#x'),
  'a query': after('?', '??', '?/', '?/../x', '?x=/..', '?%2f..', '?_method=DELETE', '?x[]=1', '?;'),
  'an encoded query': after('%3Flimit=1', '%3F', '&x=1', '%26x=1', '%3F/..'),
  'an invalid escape': afterSegment('%', '%zz', '%f', '%c0', '%e9', '%%32%65'),
  'an invalid escape, and a letter encoded': (place, random) =>
    afterSegment('%', '%zz', '%c0', '%ff')({ ...place, path: letter(hex)(place, random) }, random),
  'an absolute target': ({ path, host }, random) =>
    pick(['http://', 'https://', 'HTTP://', 'http:', 'ws://', 'file://', '//'], random) + pick([host, 'localhost', 'a@b', 'x:80', ''], random) + path,
  'an absolute target with dot segments': ({ path, host }, random) => `http://${host}${pick(['/x/..', '//', '/.', '/%2e%2e', '\\'], random)}${path}`,
  'no slash at the start': ({ path }) => path.slice(1),
  'another end': after('.json', '.html', '/index', '/index.html', '.', '..', '~', '.php', '/_payload.json', '/_payload.js', '/__nuxt_island'),
  'another start': before('/__nuxt', '/_nuxt', '/__nuxt_error', '/__nuxt_island', '/_nitro', '/_ipx/_', '/public', '/index.html', '/api', '/~'),
  'the path as a value': ({ path, open }, random) =>
    pick([`/__nuxt_error?url=${path}&statusCode=200`, `/__nuxt_island/x?url=${path}`, `${open}?url=${path}`, `/?path=${path}`], random),
  'a range of the path': ({ path }, random) => {
    const at = 1 + random(path.length - 1)
    return `${path.slice(0, at)}${pick(['%2e', '.', '%', '*', '**', ':x', '{', '|', '^', '"', '`', '<', '[', '%5b'], random)}${path.slice(at)}`
  },
}

const OVERRIDE = { 'x-http-method-override': 'DELETE', 'x-http-method': 'DELETE', 'x-method-override': 'DELETE' }

/** What changes more than the target: the method, or headers that can name another path. */
const REQUESTS: Readonly<Record<string, (place: Place, random: Random) => Omit<Spelling, 'kind'>>> = {
  'HEAD': ({ path }) => ({ target: path, method: 'HEAD' }),
  'OPTIONS': ({ path }) => ({ target: path, method: 'OPTIONS' }),
  'another method': ({ path }, random) => ({ target: path, method: pick(['get', 'TRACE', 'PROPFIND', 'PURGE', 'QUERY', 'G', 'PUT', 'LINK'], random) }),
  'another method by header': ({ path }) => ({ target: path, headers: OVERRIDE }),
  'the path in a header': ({ path }, random) => ({
    target: pick(['/', '/index.html', '/_nuxt/'], random),
    headers: {
      'x-original-url': path, 'x-rewrite-url': path, 'x-forwarded-uri': path, 'x-forwarded-path': path, 'x-original-uri': path,
      'x-nitro-prerender': path, 'x-nuxt-error': 'true', 'x-invoke-path': path,
    },
  }),
  'a prefix in a header': ({ path }) => ({ target: path, headers: { 'x-forwarded-prefix': '/other', 'x-forwarded-host': 'evil.example' } }),
  'another path in a header': ({ path, open }) => ({ target: path, headers: { 'x-original-url': open, 'x-rewrite-url': open } }),
}

export const KINDS: readonly string[] = [...Object.keys(REWRITES), ...Object.keys(REQUESTS)]

/** One spelling of each kind, in the order of the kinds. */
export function spellEach(place: Place, random: Random): Spelling[] {
  return [
    ...Object.entries(REWRITES).map(([kind, rewrite]) => ({ kind, target: rewrite(place, random) })),
    ...Object.entries(REQUESTS).map(([kind, toRequest]) => ({ kind, ...toRequest(place, random) })),
  ]
}

/** A spelling of a spelling. */
export function spellTwice(place: Place, random: Random): Spelling {
  const [first, second] = [pick(Object.entries(REWRITES), random), pick(Object.entries(REWRITES), random)]
  const path = first[1](place, random)
  return { kind: `${first[0]}, ${second[0]}`, target: second[1]({ ...place, path }, random) }
}
