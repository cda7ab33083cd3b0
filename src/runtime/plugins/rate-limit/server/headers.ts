/** The response headers of a limit: the draft `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers), and `Retry-After`. */
import { toSeconds, type Count } from '../../../server/plugin/counter/memory'
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
