/** The options of a limit, and the limit of each operation that they result in. */
import { isObject } from '../../shared/is-object'
import type { Awaitable } from '../../server/kit/process'
import { OPERATIONS, type Operation } from '../../shared/operations'
import { didYouMean } from '../../shared/suggest'
import { assertOptions, describeValue, type Importable } from '../../server/plugin/options'
import type { AutoApiContext } from '../../server/kit/call'
import type { Store } from '../../server/plugin/counter/store'
import { isCount, positiveInteger, type OptionRules } from '../../shared/option-rule'

/** The maximum number of requests in one window. The window begins with the first request. */
export interface Limit {
  readonly limit: number
  /** Seconds. */
  readonly window: number
}

/** Returns the key under which a request is counted. Without a key, the request is counted under the client address. */
export type KeyFunction = (ctx: AutoApiContext) => Awaitable<string | number | null | undefined>

export interface RateLimitOptions {
  /**
   * The name of the limit, also in the `RateLimit` headers. Use letters, digits, `-` and `_`.
   * If two limits have the same name, the last one applies.
   * @default 'rate-limit'
   */
  readonly name?: string
  /**
   * Maximum number of requests in one window.
   * @default 100
   */
  readonly limit?: number
  /**
   * Length of one window in seconds. A window begins with its first request.
   * @default 60
   */
  readonly window?: number
  /**
   * The key of the counter: the client's address, the signed-in user, the tenant, the API token, or the result of a function. In
   * `nuxt.config`, name the function: `createModuleImport('~~/server/limits', 'planOf')`. A request without a user, a tenant, a token or
   * a result is counted by address.
   * @default 'ip'
   */
  readonly by?: 'ip' | 'user' | 'tenant' | 'token' | Importable<KeyFunction>
  /**
   * Operations with their own limit, which are counted separately. `false` removes the limit. A request with several operations,
   * such as a list with `groupBy`, is counted for each of them.
   * @default {}
   * @example { create: { limit: 10 }, read: false }
   */
  readonly operations?: Readonly<Partial<Record<Operation, Partial<Limit> | false>>>
  /**
   * The store of the counter: the name of a storage in `nitro.storage` with the driver `redis`, which all servers share. A server
   * file can also pass an unstorage storage or any counter, and `nuxt.config` can name one with `createModuleImport(path, name)`.
   * Without a store, each server counts on its own.
   */
  readonly store?: string | Importable<Store>
  /**
   * Maximum number of keys that one server keeps when it counts on its own. Above this number, it removes the keys whose window
   * ends first.
   * @default 100000
   */
  readonly maxKeys?: number
}

export interface RateLimitPolicy {
  readonly name: string
  readonly by: 'ip' | 'user' | 'tenant' | 'token' | Importable<KeyFunction>
  readonly maxKeys: number
  /** Finds the limits of a request with these operations. The list has no duplicates. */
  readonly find: (operations: readonly Operation[]) => readonly GroupLimit[]
}

/** A limit, and the group that its requests are counted in. */
export interface GroupLimit {
  readonly limit: Limit
  readonly group: string
}

/** The group of operations without a limit of their own. */
export const EVERY = '*'

/** One day is long enough for a window. A window that is longer than a Redis key can last would never end. */
const MAX_WINDOW = 31 * 24 * 60 * 60

const LIMIT_RULES: OptionRules<Limit> = {
  limit: positiveInteger,
  window: {
    fits: value => isCount(value) && Number(value) <= MAX_WINDOW,
    use: `a number of seconds, a positive integer up to ${MAX_WINDOW}`,
  },
}

const RULES: OptionRules<RateLimitOptions> = {
  name: { fits: value => typeof value === 'string' && /^[a-z][\w-]*$/i.test(value), use: 'a name of letters, digits, `-` and `_`' },
  ...LIMIT_RULES,
  by: {
    fits: value => typeof value === 'function' || ['ip', 'user', 'tenant', 'token'].includes(value as string),
    use: '`\'ip\'`, `\'user\'`, `\'tenant\'`, `\'token\'` or, in a server file, a function',
    code: true,
  },
  operations: { fits: isObject, use: 'an object of limits by operation' },
  store: {
    fits: value => (typeof value === 'string' && value !== '') || isObject(value),
    use: 'the name of a storage of Nitro\'s or, in a server file, a storage',
    code: true,
  },
  maxKeys: positiveInteger,
}

/** @throws TypeError for an unknown option or an invalid value. */
export function resolvePolicy(options: RateLimitOptions): RateLimitPolicy {
  assertOptions(options, RULES, 'rateLimit')
  const { name = 'rate-limit', limit = 100, window = 60, by = 'ip', operations = {}, maxKeys = 100_000 } = options
  const own = new Map(
    Object.entries(operations)
      .filter(([, own]) => own !== undefined)
      .map(([operation, own]) => [operation, own && { limit, window, ...withoutUndefined(own) }] as const),
  )
  for (const [operation, limits] of Object.entries(operations)) assertOperation(operation, limits)
  const common: readonly GroupLimit[] = [{ limit: { limit, window }, group: EVERY }]
  const ofEach = Object.fromEntries(OPERATIONS.map((operation) => {
    const found = own.get(operation)
    return [operation, found === undefined ? common : found === false ? [] : [{ limit: found, group: operation }]]
  })) as Readonly<Record<Operation, readonly GroupLimit[]>>
  return {
    name, by, maxKeys,
    find(operations) {
      const [first] = operations
      if (operations.length === 1) return ofEach[first!]
      return [...new Set(operations.flatMap(operation => ofEach[operation]))]
    },
  }
}

function assertOperation(operation: string, limits: unknown): void {
  const where = `rateLimit.operations.${operation}`
  if (!(OPERATIONS as readonly string[]).includes(operation))
    throw new TypeError(
      `[auto-api] \`${where}\` is not an operation.${didYouMean(operation, OPERATIONS)} The operations are ${OPERATIONS.join(', ')}.`,
    )
  if (limits === false || limits === undefined) return
  if (!isObject(limits))
    throw new TypeError(`[auto-api] \`${where}\` is ${describeValue(limits)}. Use an object such as \`{ limit: 10 }\`, or \`false\`.`)
  assertOptions(limits, LIMIT_RULES, where)
}

const withoutUndefined = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Partial<T>
