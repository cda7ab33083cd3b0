/** The options of `apiTokens`. */
import { isObject } from '../../shared/is-object'
import { assertOptions, type Importable } from '../../server/plugin/options'
import type { FindUser } from '../../server/plugin/owner'
import type { Store } from '../../server/plugin/counter/store'
import { flag, isCount, isName, positiveInteger, type OptionRules } from '../../shared/option-rule'

/** How many requests with invalid tokens a client address can send. */
export interface FailureLimit {
  /**
   * Invalid tokens in one window.
   * @default 100
   */
  readonly limit?: number
  /**
   * Length of one window in seconds.
   * @default 60
   */
  readonly window?: number
  /** Where they are counted, as the option `store` of `rateLimit`. Without a store, each server counts on its own. */
  readonly store?: string | Importable<Store>
}

export interface ApiTokensOptions {
  /**
   * The name of the resource whose table contains the tokens.
   * @default 'apiTokens'
   */
  readonly resource?: string
  /** In `nuxt.config`, name the function: `createModuleImport('~~/server/tokens', 'findUser')`. */
  readonly findUser: Importable<FindUser>
  /**
   * The start of each token: small letters and digits. Tokens with another prefix are invalid.
   * @default 'aat'
   */
  readonly prefix?: string
  /**
   * The longest time in days for which a token is valid.
   * @default 366
   */
  readonly maxDays?: number
  /**
   * Whether `expiresAt: null` makes a token that does not expire.
   * @default false
   */
  readonly allowNoExpiry?: boolean
  /**
   * Seconds for which the old secret stays valid after a rotation.
   * @default 60
   */
  readonly grace?: number
  /** A permission or role with which a user sees and deletes all tokens of the organization. Without it, everybody has only their own. */
  readonly manage?: string
  /** @default { limit: 100, window: 60 } */
  readonly failures?: FailureLimit
}

/** The longest validity that a date can express without a risk of overflow: a hundred years. */
const MAX_DAYS = 36_600
const DAY = 24 * 60 * 60

const RULES: OptionRules<ApiTokensOptions> = {
  resource: { fits: isName, use: 'the name of a resource' },
  findUser: { fits: value => typeof value === 'function', use: 'a function that finds a user by its id', code: true, required: true },
  prefix: { fits: value => typeof value === 'string' && /^[a-z][a-z\d]{1,19}$/.test(value), use: '2 to 20 small letters and digits' },
  maxDays: { fits: value => isCount(value) && Number(value) <= MAX_DAYS, use: `a number of days from 1 to ${MAX_DAYS}` },
  allowNoExpiry: flag,
  grace: {
    fits: value => value === 0 || (isCount(value) && Number(value) <= DAY),
    use: `a number of seconds from 0 to ${DAY}`,
  },
  manage: { fits: value => isName(value) && value !== '*', use: 'the name of a permission or a role' },
  failures: { fits: isObject, use: 'an object such as `{ limit: 100, window: 60 }`' },
}

const FAILURE_RULES: OptionRules<FailureLimit> = {
  limit: positiveInteger,
  window: { fits: value => isCount(value) && Number(value) <= DAY, use: `a number of seconds from 1 to ${DAY}` },
  store: {
    fits: value => isName(value) || isObject(value),
    use: 'the name of a storage of Nitro\'s or, in a server file, a storage',
    code: true,
  },
}

/** The prefix of tokens, unless the option is set. */
const DEFAULT_PREFIX = 'aat'

/** @throws TypeError for an unknown option or an invalid value. */
export function resolveOptions(options: ApiTokensOptions) {
  assertOptions(options, RULES, 'apiTokens')
  if (options.failures) assertOptions(options.failures, FAILURE_RULES, 'apiTokens.failures')
  const { resource = 'apiTokens', prefix = DEFAULT_PREFIX, maxDays = 366, allowNoExpiry = false, grace = 60, manage, findUser } = options
  const { limit = 100, window = 60, store } = options.failures ?? {}
  return { resource, findUser, prefix, maxDays, allowNoExpiry, grace, manage, failures: { limit, window, store } }
}

export type TokenPolicy = ReturnType<typeof resolveOptions>
