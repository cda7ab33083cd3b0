/** Callers that plugins recognize by a credential of the request, such as a token in a header. */
import { isObject } from '../../../shared/is-object'
import type { Awaitable } from '../awaitable'
import { didYouMean } from '../../../shared/suggest'
import { BusyError } from '../../engines/engine'
import type { AutoApiUser, Tenant } from '../../registration'
import { ApiError, isHttpError, unauthenticated } from '../error'
import type { IncomingRequest } from './listeners'
import { isQueryError, logError } from '../process/log'

/** The caller that a credential stands for. */
export interface CredentialCaller {
  readonly user: AutoApiUser
  /** @default `user.permissions` */
  readonly permissions?: readonly string[]
  /** @default the tenant of the user */
  readonly tenant?: Tenant
  /** Identifies the credential, such as the id of its row. It is `ctx.credential.id`. */
  readonly id?: string
  /**
   * The scopes of the credential: `<resource>:<operation>`, or a permission or role that a rule requires. The caller can do what both its
   * user and a scope allow. Rules get the user without roles, and only the permissions that a scope names. `null` is no limit.
   * @default null
   */
  readonly scopes?: readonly string[] | null
  /**
   * The resources that this caller cannot use.
   * @default []
   */
  readonly excludedResources?: readonly string[]
}

/**
 * Finds the caller of a request by its credential. Returns `undefined` if it does not recognize the credential. If it throws, the response
 * is a 401, or a 500 if a statement of Drizzle has failed.
 */
export type FindCredentialCaller = (request: IncomingRequest) => Awaitable<CredentialCaller | undefined>

/** The `credentials` of one plugin. */
export interface CredentialSource {
  readonly plugin: string
  readonly find: FindCredentialCaller
}

/**
 * Asks each source in order. The first one that recognizes the credential decides.
 * @throws The API's and HTTP errors of a source, and those of statements. 401 for its other errors, because its credential could not be
 * checked.
 */
export async function findCredentialCaller(
  sources: readonly CredentialSource[], request: IncomingRequest,
): Promise<CredentialCaller | undefined> {
  for (const { plugin, find } of sources) {
    let found: unknown
    try {
      found = await find(request)
    }
    catch (error) {
      if (error instanceof ApiError || error instanceof BusyError || isHttpError(error)) throw error
      // The credential can be right. After a 401, its client would drop it.
      if (isQueryError(error)) throw error
      logError(request, `\`credentials\` of the plugin \`${plugin}\` threw; the request is refused.`, error)
      throw unauthenticated()
    }
    if (found === undefined) continue
    assertCaller(found, plugin)
    return found
  }
  return undefined
}

const isId = (value: unknown) => value === null || (typeof value === 'string' && value !== '') || Number.isFinite(value)

const isStrings = (value: unknown) => Array.isArray(value) && value.every(entry => typeof entry === 'string')

type Rule = readonly [part: keyof CredentialCaller, fits: (value: unknown) => boolean, what: string]

const RULES: readonly Rule[] = [
  ['user', isObject, 'an object'],
  ['permissions', value => isStrings(value), 'a list of strings'],
  [
    'tenant',
    value => isObject(value) && isId(value.id) && ['boolean', 'undefined'].includes(typeof value.canAccessAllTenants),
    'an object with `id`',
  ],
  ['id', value => typeof value === 'string' && value !== '', 'a string'],
  ['scopes', value => value === null || isStrings(value), 'a list of strings or null'],
  ['excludedResources', value => isStrings(value), 'a list of strings'],
]

/** A wrong value is a bug of the plugin. It becomes a 500, because another source or an anonymous caller must not replace it. */
function assertCaller(found: unknown, plugin: string): asserts found is CredentialCaller {
  const where = `[auto-api] \`credentials\` of the plugin \`${plugin}\` returned`
  if (!isObject(found))
    throw new TypeError(`${where} ${found === null ? 'null' : `a value of type ${typeof found}`}. `
      + 'Return `{ user, permissions?, tenant? }`, or `undefined` for a credential that it does not recognize.')
  for (const [part, fits, what] of RULES) {
    const value = found[part]
    if ((value !== undefined || part === 'user') && !fits(value)) throw new TypeError(`${where} a \`${part}\` that is not ${what}.`)
  }
  // The default of a misspelled `permissions` would be all permissions of the user.
  const parts: readonly string[] = RULES.map(([part]) => part)
  const unknown = Object.keys(found).find(key => !parts.includes(key))
  if (unknown !== undefined)
    throw new TypeError(`${where} \`${unknown}\`, which is no part of a caller.${didYouMean(unknown, parts)}`)
}
