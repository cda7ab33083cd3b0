/** The options of `live`. */
import { isObject } from '../../shared/is-object'
import type { openChannel } from '../../server/plugin/channel/open'
import { assertOptions } from '../../server/plugin/options'
import { isName, positiveInteger, type OptionRules } from '../../shared/option-rule'

/** Where the messages between servers go. */
export type ChannelPlace = Parameters<typeof openChannel>[1]['place']

export interface LiveOptions {
  /**
   * How several servers of the app tell each other about their commits. `memory`: one server, whose streams learn of its own commits.
   * `postgres`: LISTEN and NOTIFY of the app's database. `{ redis }`: the name of a storage in `nitro.storage` with the driver `redis` or,
   * in a server file, a client of ioredis. The default does not follow the storages of other plugins, because each names its own. With a
   * channel, all servers need the same secret.
   * @default 'memory'
   */
  readonly channel?: 'memory' | ChannelPlace
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

const isRedis = (value: unknown) => isObject(value) && Object.keys(value).join() === 'redis'
  && (isName((value as { redis: unknown }).redis) || typeof (value as { redis?: { duplicate?: unknown } }).redis?.duplicate === 'function')

const RULES: OptionRules<LiveOptions> = {
  channel: {
    fits: value => value === 'memory' || value === 'postgres' || isRedis(value),
    use: '`\'memory\'`, `\'postgres\'` or `{ redis }` with the name of a storage of Nitro\'s or, in a server file, a client of ioredis',
  },
  maxStreams: positiveInteger,
  maxStreamsPerCaller: positiveInteger,
  recheck: positiveInteger,
  pollInterval: positiveInteger,
}

/** @throws TypeError for an unknown option or an invalid value. */
export function resolveLiveOptions(options: LiveOptions): LivePolicy {
  assertOptions(options, RULES, 'live')
  const { channel = 'memory', maxStreams = 10_000, maxStreamsPerCaller = 10, recheck = 60, pollInterval = 15 } = options
  return { channel, maxStreams, maxStreamsPerCaller, recheck, pollInterval }
}
