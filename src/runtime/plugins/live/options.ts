/** The options of `live`. */
import { assertOptions } from '../../server/plugin/options'
import { positiveInteger, type OptionRules } from '../../shared/option-rule'

export interface LiveOptions {
  /**
   * The streams that one server process keeps open. A further one is refused with 503 `BUSY` and `Retry-After`.
   * @default 10_000
   */
  readonly maxStreams?: number
  /**
   * The streams that one caller keeps open: a user, a credential or, for anonymous callers, a network. A further one is refused with 429
   * `RATE_LIMITED` and `Retry-After`.
   * @default 10
   */
  readonly maxStreamsPerCaller?: number
  /**
   * Seconds after which the caller of an open stream is resolved again. A stream whose caller has lost a permission ends then.
   * @default 60
   */
  readonly recheck?: number
  /**
   * Seconds between the requests of a browser, where streams cannot stay open: on workers, and with D1.
   * @default 15
   */
  readonly pollInterval?: number
}

export type LivePolicy = Required<LiveOptions>

const RULES: OptionRules<LiveOptions> = {
  maxStreams: positiveInteger,
  maxStreamsPerCaller: positiveInteger,
  recheck: positiveInteger,
  pollInterval: positiveInteger,
}

/** @throws TypeError for an unknown option or an invalid value. */
export function resolveLiveOptions(options: LiveOptions): LivePolicy {
  assertOptions(options, RULES, 'live')
  const { maxStreams = 10_000, maxStreamsPerCaller = 10, recheck = 60, pollInterval = 15 } = options
  return { maxStreams, maxStreamsPerCaller, recheck, pollInterval }
}
