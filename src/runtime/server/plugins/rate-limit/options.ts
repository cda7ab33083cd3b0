/** What an app writes about a limit, and what it comes to for each operation. */
import { OPERATIONS, type Operation } from '../../../shared/operations'
import type { AutoApiContext } from '../../registration'
import type { Store } from './store'

/** So many requests in so many seconds, counted from the first one. */
export interface Limit {
  readonly limit: number
  /** Seconds. */
  readonly window: number
}

/** Tells whom a request is counted for. Without an answer it is counted for its address. */
export type KeyFunction = (ctx: AutoApiContext) => string | number | null | undefined | Promise<string | number | null | undefined>

export interface RateLimitOptions {
  /**
   * Tells limits apart, in the `RateLimit` headers too: letters, digits, `-` and `_`. Of two with one name the last is used.
   * @default 'rate-limit'
   */
  readonly name?: string
  /**
   * Requests of one window.
   * @default 100
   */
  readonly limit?: number
  /**
   * Seconds of one window. It begins with the first request.
   * @default 60
   */
  readonly window?: number
  /**
   * Whom requests are counted for: the client's address, the signed-in user, the tenant, or what a function answers (only
   * from a server file). Whoever has no user, no tenant or no answer is counted by address.
   * @default 'ip'
   */
  readonly by?: 'ip' | 'user' | 'tenant' | KeyFunction
  /**
   * Operations with a limit of their own, counted apart from the others; `false` lifts the limit. A request that does several,
   * such as a list with `groupBy`, is counted for each of them.
   * @default {}
   * @example { create: { limit: 10 }, read: false }
   */
  readonly operations?: Readonly<Partial<Record<Operation, Partial<Limit> | false>>>
  /**
   * Where requests are counted: the name of a storage of Nitro's (`nitro.storage`) with the driver `redis`, which every server
   * then shares; from a server file also an unstorage storage, or any counter. Left out, each server counts by itself.
   */
  readonly store?: string | Store
  /**
   * Keys that one server remembers when it counts by itself; beyond, those whose window ends first are forgotten.
   * @default 100000
   */
  readonly maxKeys?: number
}

export interface RateLimitPolicy {
  readonly name: string
  readonly by: 'ip' | 'user' | 'tenant' | KeyFunction
  readonly maxKeys: number
  /** The limits of a request that does all of these, each once. */
  readonly find: (operations: readonly Operation[]) => readonly GroupLimit[]
}

/** A limit, and what its requests are counted with. */
export interface GroupLimit {
  readonly limit: Limit
  readonly group: string
}

/** What operations without a limit of their own are counted with. */
export const EVERY = '*'

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0

/** A day is long for a window; a second more than a Redis key can last would never end. */
const MAX_WINDOW = 31 * 24 * 60 * 60

const RULES: Readonly<Record<keyof RateLimitOptions, readonly [fits: (value: unknown) => boolean, use: string]>> = {
  name: [value => typeof value === 'string' && /^[a-z][\w-]*$/i.test(value), 'a name of letters, digits, `-` and `_`'],
  limit: [isCount, 'a positive integer'],
  window: [value => isCount(value) && Number(value) <= MAX_WINDOW, `a number of seconds, a positive integer up to ${MAX_WINDOW}`],
  by: [
    value => typeof value === 'function' || ['ip', 'user', 'tenant'].includes(value as string),
    '`\'ip\'`, `\'user\'`, `\'tenant\'` or, in a server file, a function',
  ],
  operations: [isObject, 'an object of limits by operation'],
  store: [
    value => (typeof value === 'string' && value !== '') || isObject(value),
    'the name of a storage of Nitro\'s or, in a server file, a storage',
  ],
  maxKeys: [isCount, 'a positive integer'],
}

/** @throws TypeError for an option that does not exist or cannot have its value. */
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
    throw new TypeError(`[auto-api] \`${where}\` is not an operation. The operations are ${OPERATIONS.join(', ')}.`)
  if (limits === false || limits === undefined) return
  if (!isObject(limits))
    throw new TypeError(`[auto-api] \`${where}\` is ${show(limits)}. Use an object such as \`{ limit: 10 }\`, or \`false\`.`)
  assertOptions(limits, { limit: RULES.limit, window: RULES.window }, where)
}

function assertOptions(
  options: object,
  rules: Readonly<Record<string, readonly [fits: (value: unknown) => boolean, use: string]>>,
  where: string,
): void {
  if (!isObject(options))
    throw new TypeError(`[auto-api] \`${where}\` is given ${show(options)}. Use an object; without one it takes every default.`)
  for (const [option, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, option) ? rules[option] : undefined
    if (!rule) throw new TypeError(`[auto-api] \`${where}.${option}\` is not an option. The options are ${Object.keys(rules).join(', ')}.`)
    const [fits, use] = rule
    if (value !== undefined && !fits(value)) throw new TypeError(`[auto-api] \`${where}.${option}\` is ${show(value)}. Use ${use}.`)
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const withoutUndefined = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Partial<T>

const show = (value: unknown) => typeof value === 'function' ? 'a function' : JSON.stringify(value) ?? String(value)
