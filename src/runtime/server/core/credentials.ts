/** Callers that plugins recognize by a credential of the request, such as a token in a header. */
import { didYouMean } from '../../shared/suggest'
import { BusyError } from '../engines/engine'
import type { AutoApiContext, AutoApiUser, Tenant } from '../registration'
import { ApiError, isHttpError, unauthenticated } from './error'
import type { IncomingRequest } from './listeners'
import { describeError, logError } from './log'

/** The caller that a credential stands for. */
export interface CredentialCaller {
  readonly user: AutoApiUser
  /** @default `user.permissions` */
  readonly permissions?: readonly string[]
  /** @default the tenant of the user */
  readonly tenant?: Tenant
}

/**
 * Finds the caller of a request by its credential. Returns `undefined` if it does not recognize the credential. If it throws, the response
 * is a 401.
 */
export type FindCredentialCaller = (request: IncomingRequest) => CredentialCaller | undefined | Promise<CredentialCaller | undefined>

/** The `credentials` of one plugin. */
export interface CredentialSource {
  readonly plugin: string
  readonly find: FindCredentialCaller
}

/**
 * Asks each source in order. The first one that recognizes the credential decides.
 * @throws The API's and HTTP errors of a source. 401 for its other errors, because its credential could not be checked.
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
      logError(request, `\`credentials\` of the plugin \`${plugin}\` threw; the request is refused.`, describeError(error))
      throw unauthenticated()
    }
    if (found === undefined) continue
    assertCaller(found, plugin)
    return found
  }
  return undefined
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const isId = (value: unknown) => value === null || (typeof value === 'string' && value !== '') || Number.isFinite(value)

type Rule = readonly [part: keyof CredentialCaller, fits: (value: unknown) => boolean, what: string]

const RULES: readonly Rule[] = [
  ['user', isObject, 'an object'],
  ['permissions', value => Array.isArray(value) && value.every(entry => typeof entry === 'string'), 'a list of strings'],
  [
    'tenant',
    value => isObject(value) && isId(value.id) && ['boolean', 'undefined'].includes(typeof value.canAccessAllTenants),
    'an object with `id`',
  ],
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

/** The contexts whose caller came by a credential. */
const locked = new WeakSet<object>()

/** Whether a credential decided the caller. If so, a context extender cannot set it. */
export function isCredentialCaller(ctx: object): boolean {
  return locked.has(ctx)
}

/**
 * Gives the context its caller, which nothing can change afterwards: an assignment has no effect. Extenders get a copy of the user until
 * `finish` is called, so that a change of the user itself has no effect either.
 */
export function lockCaller(
  ctx: AutoApiContext, { user, permissions, tenant }: Required<Pick<CredentialCaller, 'user' | 'permissions'>> & { tenant?: Tenant },
): { readonly finish: () => void } {
  let visible = copyData(user) as AutoApiUser
  const values = {
    user: () => visible,
    permissions: constant(Object.freeze([...permissions])),
    tenant: constant(tenant && Object.freeze({ id: tenant.id, canAccessAllTenants: tenant.canAccessAllTenants === true })),
  }
  for (const [key, get] of Object.entries(values))
    Object.defineProperty(ctx, key, { get, set: () => {}, enumerable: true, configurable: false })
  locked.add(ctx)
  return { finish: () => void (visible = user) }
}

const constant = <T>(value: T) => () => value

/** Copies plain objects and lists. Instances of classes stay the same. */
function copyData(value: unknown, copies = new Map<unknown, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value
  const known = copies.get(value)
  if (known !== undefined) return known
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    copies.set(value, copy)
    for (const entry of value) copy.push(copyData(entry, copies))
    return copy
  }
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy = Object.create(prototype) as Record<string, unknown>
  copies.set(value, copy)
  for (const [key, entry] of Object.entries(value)) copy[key] = copyData(entry, copies)
  return copy
}
