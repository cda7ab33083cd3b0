/** The caching headers of every response of the API. */

/** Nuxt 5 adds names to `Vary` of an error, in lower case. */
const VARY = ['accept', 'authorization', 'cookie']

export const CACHING = { cacheControl: 'private, no-cache', vary: VARY }

/** @returns what {@link CACHING} has, for the headers of a response. */
export function cachingOf(headers: Headers) {
  const vary = headers.get('vary')?.toLowerCase().split(', ').filter(name => VARY.includes(name)).sort()
  return { cacheControl: headers.get('cache-control'), vary }
}
