/** The options of `responseCache`. */
import { isObject } from '../../shared/is-object'
import { assertOptions, type Importable } from '../../server/plugin/options'
import type { StorageMounts } from '../../server/plugin/storage'
import { isCount, isNames, type OptionRules } from '../../shared/option-rule'

export interface ResponseCacheOptions {
  /**
   * Seconds after which a stored response is not used any more.
   * @default 60
   */
  readonly ttl?: number
  /**
   * Where several servers store responses: the name of a storage in `nitro.storage`, such as one with the driver `redis`. A server file can
   * pass an unstorage storage, and `nuxt.config` can name one with `createModuleImport(path, name)`. Without a storage, each server stores
   * responses in its memory, and does not learn of the writes of other servers.
   */
  readonly storage?: string | Importable<StorageMounts>
  /**
   * The resources whose responses are stored.
   * @default every registered one
   */
  readonly resources?: readonly string[]
  /**
   * What the functions of a resource read besides its rows: its rules, and the hooks of its reads. An empty list promises that they depend
   * only on their arguments, without the event. Without an entry, every write outdates the responses of a resource with such rules, and
   * responses of a resource with such hooks are not stored.
   * @default {}
   * @example { posts: ['memberships'], comments: [] }
   */
  readonly reads?: Readonly<Record<string, readonly string[]>>
  /**
   * Keys that the app adds to the context and on which responses depend, or paths in them. Requests with other values get other responses.
   * Requests whose context has a key that is not listed are not stored.
   * @default []
   * @example ['plan', 'metadata.country']
   */
  readonly vary?: readonly string[]
  /**
   * The memory that the stored responses of one server use at most, in bytes. A storage has limits of its own.
   * @default 67108864
   */
  readonly maxBytes?: number
}

export interface CachePolicy extends Required<Omit<ResponseCacheOptions, 'storage' | 'resources'>> {
  readonly storage?: ResponseCacheOptions['storage']
  readonly resources?: ReadonlySet<string>
}

/** A longer time would only hide that an invalidation is missing. */
const MAX_TTL = 24 * 60 * 60

const RULES: OptionRules<ResponseCacheOptions> = {
  ttl: { fits: value => isCount(value) && Number(value) <= MAX_TTL, use: `a number of seconds, a positive integer up to ${MAX_TTL}` },
  storage: {
    fits: value => (typeof value === 'string' && value !== '') || isObject(value),
    use: 'the name of a storage in `nitro.storage` or, in a server file, a storage',
    code: true,
  },
  resources: { fits: isNames, use: 'a list of resources' },
  reads: { fits: value => isObject(value) && Object.values(value).every(isNames), use: 'an object of lists of resources by resource' },
  vary: { fits: isNames, use: 'a list of keys of the context' },
  maxBytes: { fits: isCount, use: 'a positive integer' },
}

/** @throws TypeError for an unknown option or an invalid value. */
export function resolveCachePolicy(options: ResponseCacheOptions): CachePolicy {
  assertOptions(options, RULES, 'responseCache')
  const { ttl = 60, storage, resources, reads = {}, vary = [], maxBytes = 64 * 1024 * 1024 } = options
  return { ttl, storage, resources: resources && new Set(resources), reads, vary, maxBytes }
}
