/** The options of `webhooks`. */
import { assertOptions, type Importable } from '../../server/plugin/options'
import type { FindUser } from '../../server/plugin/owner'
import { flag, isCount, isName, positiveInteger, type OptionRules } from '../../shared/option-rule'

export interface WebhooksOptions {
  /**
   * The name of the resource whose table contains the webhooks.
   * @default 'webhooks'
   */
  readonly resource?: string
  /**
   * The name of the resource whose table contains the deliveries.
   * @default 'webhookDeliveries'
   */
  readonly deliveries?: string
  /**
   * Finds the owner of a webhook, with the rights that the owner has now. In `nuxt.config`, name the function:
   * `createModuleImport('~~/server/users', 'findUser')`. It can be the function of `apiTokens`. It runs outside of requests: `event` has
   * only the bindings of the platform.
   */
  readonly findUser: Importable<FindUser>
  /** A permission or role with which a user sees and deletes all webhooks of the organization. Without it, everybody has only their own. */
  readonly manage?: string
  /**
   * Seconds after which a receiver that has not answered counts as failed.
   * @default 10
   */
  readonly timeout?: number
  /**
   * Seconds between the attempts of a delivery. Each of them varies by a fifth. After the last one, the delivery is dead.
   * @default [5, 30, 120, 600, 3600, 10800, 21600, 36000]
   */
  readonly retries?: readonly number[]
  /**
   * Whether receivers can have URLs with `http:`.
   * @default true in development, false in production
   */
  readonly allowHttp?: boolean
  /**
   * Whether receivers can have addresses that are not public, such as `127.0.0.1`.
   * @default true in development, false in production
   */
  readonly allowPrivateNetworks?: boolean
  /**
   * What happens if the owner is gone, or can no longer read the resource. `pause`: the webhook is switched off. `omit`: its events are
   * sent without the record.
   * @default 'pause'
   */
  readonly onRevoked?: 'pause' | 'omit'
  /**
   * The webhooks that one user can have in one organization.
   * @default 20
   */
  readonly maxWebhooks?: number
  /**
   * Days after which a delivery is removed from the table.
   * @default 30
   */
  readonly retentionDays?: number
  /**
   * Hours for which deliveries have the signatures of both secrets after a rotation.
   * @default 24
   */
  readonly grace?: number
}

export const RETRIES: readonly number[] = Object.freeze([5, 30, 120, 600, 3600, 10_800, 21_600, 36_000])

const MAX_TIMEOUT = 60
/** The days of 10 years. Also the hours of more than a year. */
const MANY = 3660

const MAX_RETRIES = 20
const WEEK = 7 * 24 * 60 * 60

const isRetries = (value: unknown) =>
  Array.isArray(value) && value.length <= MAX_RETRIES && value.every(seconds => isCount(seconds) && seconds <= WEEK)

const RULES: OptionRules<WebhooksOptions> = {
  resource: { fits: isName, use: 'the name of a resource' },
  deliveries: { fits: isName, use: 'the name of a resource' },
  findUser: { fits: value => typeof value === 'function', use: 'a function that finds a user by its id', code: true, required: true },
  manage: { fits: value => isName(value) && value !== '*', use: 'the name of a permission or a role' },
  timeout: { fits: value => isCount(value) && Number(value) <= MAX_TIMEOUT, use: `a number of seconds from 1 to ${MAX_TIMEOUT}` },
  retries: { fits: isRetries, use: 'a list of at most 20 numbers of seconds, each at most a week' },
  allowHttp: flag,
  allowPrivateNetworks: flag,
  onRevoked: { fits: value => value === 'pause' || value === 'omit', use: '`\'pause\'` or `\'omit\'`' },
  maxWebhooks: positiveInteger,
  retentionDays: { fits: value => isCount(value) && Number(value) <= MANY, use: `a number of days from 1 to ${MANY}` },
  grace: { fits: value => value === 0 || (isCount(value) && Number(value) <= MANY), use: `a number of hours from 0 to ${MANY}` },
}

export type WebhooksPolicy = ReturnType<typeof resolveOptions>

/** @throws TypeError for an unknown option or an invalid value. */
export function resolveOptions(options: WebhooksOptions) {
  assertOptions(options, RULES, 'webhooks')
  const isDevelopment = import.meta.dev === true
  const {
    resource = 'webhooks', deliveries = 'webhookDeliveries', findUser, manage, timeout = 10, retries = RETRIES, allowHttp = isDevelopment,
    allowPrivateNetworks = isDevelopment, onRevoked = 'pause', maxWebhooks = 20, retentionDays = 30, grace = 24,
  } = options
  return {
    resource, deliveries, findUser, manage, timeout, retries, allowHttp, allowPrivateNetworks, onRevoked, maxWebhooks, retentionDays, grace,
  }
}
