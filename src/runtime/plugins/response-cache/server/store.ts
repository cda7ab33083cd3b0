/** The contract of a store of responses. Each name of a table has a generation, which every write to the table raises. */
import type { Awaitable } from '../../../server/kit/process'

/** A stored response. */
export interface Entry {
  readonly text: string
  readonly etag: string
  readonly revision?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The resources that the response was read from. */
  readonly reads: readonly string[]
  /** The time after which the response is not used, in milliseconds since 1970. */
  readonly expires: number
}

/** A stored response that is up to date. */
export interface Hit {
  readonly entry: Entry
}

/**
 * No response is up to date. The generations were read before the rows. So a response that is read before a write has generations from
 * before the write, even if it is saved later.
 */
export interface Miss {
  readonly entry?: undefined
  /** Two misses with the same moment have the same generations. */
  readonly moment: string
  /** Stores a response that every later write to one of the dependencies outdates. */
  readonly save: (entry: Entry, dependencies: readonly string[]) => Awaitable<void>
}

export interface Store {
  /** Returns `undefined` if the store does not respond. */
  readonly find: (key: string) => Awaitable<Hit | Miss | undefined>
  /** Outdates the responses that depend on one of the names. */
  readonly raise: (names: readonly string[]) => Awaitable<void>
  /** Outdates every response. */
  readonly raiseAll: () => Awaitable<void>
}
