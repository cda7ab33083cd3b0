/** Counts invalid tokens by client address, and refuses an address with too many of them before its next token is looked up. */
import { toNetwork } from '../../../server/kit/request'
import { rateLimited } from '../../../server/kit/errors'
import type { IncomingRequest } from '../../../server/kit/listen'
import { type Counter, toSeconds } from '../../../server/plugin/counter/memory'

/** Addresses that one server remembers as blocked. Above this number, it forgets the address that it blocked first. */
const MAX_BLOCKED = 100_000

export interface FailureCounter {
  /** @throws `RATE_LIMITED` for an address with too many invalid tokens. */
  readonly assertOpen: (request: IncomingRequest) => void
  readonly add: (request: IncomingRequest) => Promise<void>
}

/** @param window in seconds */
export function createFailureCounter(counter: Counter, limit: number, window: number, now = () => performance.now()): FailureCounter {
  /** The end of the block by address. */
  const blocked = new Map<string, number>()
  return {
    assertOpen(request) {
      if (blocked.size === 0) return
      const key = keyOf(request)
      const end = blocked.get(key)
      if (end === undefined) return
      const left = end - now()
      if (left > 0) throw rateLimited(toSeconds(left))
      blocked.delete(key)
    },
    async add(request) {
      const key = keyOf(request)
      const { count, left } = await counter.hit(`api-tokens:${key}`, window * 1000)
      if (count < limit) return
      if (blocked.size >= MAX_BLOCKED) blocked.delete(blocked.keys().next().value!)
      blocked.set(key, now() + left)
    },
  }
}

function keyOf(request: IncomingRequest): string {
  const address = request.address()
  return address === undefined ? 'unknown' : toNetwork(address)
}
