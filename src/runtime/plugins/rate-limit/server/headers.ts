/** The response headers of a limit: the draft `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers), and `Retry-After`. */
import type { Count } from './counter'
import type { Limit } from '../options'

/** The headers are lists: each limit that applied to a request adds its own member. */
export function limitHeaders(
  name: string,
  { limit, window }: Limit,
  { count, left }: Count,
): Readonly<Record<'RateLimit-Policy' | 'RateLimit', string>> {
  return {
    'RateLimit-Policy': `"${name}";q=${limit};w=${window}`,
    'RateLimit': `"${name}";r=${Math.max(0, limit - count)};t=${toSeconds(left)}`,
  }
}

/** Converts to whole seconds, rounded up and at least 1, so that the window has ended after them. */
export function toSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}
