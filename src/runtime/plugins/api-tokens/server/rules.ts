/** What a token can be given: its scopes and its expiry. A token never grants more than its maker has. */
import type { Awaitable } from '../../../server/kit/process'
import { OPERATIONS, type Operation } from '../../../shared/operations'
import { type AutoApiContext, isAuthorized, requireSession, rolesOf, SUPER_ADMIN } from '../../../server/kit/call'
import { ApiError, validationFailed } from '../../../server/kit/errors'
import type { TokenPolicy } from '../options'
import type { TokenRow } from './row'

/** What the credential grants with which the caller makes or changes a token. */
export interface Maker {
  readonly grants: (scope: string) => Awaitable<boolean>
  readonly expiresAt: Date | null
}

const MAX_SCOPES = 100
/** A scope of OAuth (RFC 6749): printable ASCII without spaces, quotes and backslashes. */
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]{1,128}$/
const DAY = 24 * 60 * 60 * 1000
const DEFAULT_DAYS = 90

const invalid = (field: string, message: string) => validationFailed([{ path: [field], message, code: 'custom' }])

/** The caller cannot give these scopes. */
const refusedScopes = (scopes: readonly string[], message: string) =>
  new ApiError('FORBIDDEN', message, { scopes })

/** @throws `VALIDATION_FAILED` unless the value is null or a list of scopes. `'*'` is no scope: `null` stands for everything. */
export function readScopes(value: unknown): readonly string[] | null {
  if (value === null || value === undefined) return null
  const isScope = (scope: unknown) => typeof scope === 'string' && SCOPE.test(scope) && scope !== SUPER_ADMIN
  if (!Array.isArray(value) || value.length > MAX_SCOPES || !value.every(isScope))
    throw invalid('scopes', `Use a list of at most ${MAX_SCOPES} scopes such as "posts:read", or null for everything that you can do.`)
  return [...new Set(value as string[])]
}

/**
 * Checks the scopes of a new token, or of one whose scopes change.
 * @param maker the credential with which the caller came
 * @throws 403 for a scope that the caller lacks. A limited caller can give only scopes that the own credential grants.
 */
export async function assertScopes(scopes: readonly string[] | null, ctx: AutoApiContext, maker: Maker | undefined): Promise<void> {
  if (maker && scopes === null) throw refusedScopes([], 'This credential can only make tokens with scopes.')
  const lacking: string[] = []
  for (const scope of scopes ?? [])
    if ((maker && !await maker.grants(scope)) || !await holds(scope, ctx)) lacking.push(scope)
  if (lacking.length > 0) throw refusedScopes(lacking, 'You do not have all of these scopes yourself.')
}

/** Whether the caller has a scope now: as a permission, as a role, or as an operation of a resource. */
export async function holds(scope: string, ctx: AutoApiContext): Promise<boolean> {
  if (scope === SUPER_ADMIN) return false
  if (ctx.permissions.includes(scope) || ctx.permissions.includes(SUPER_ADMIN) || rolesOf(ctx.user).includes(scope)) return true
  const session = requireSession(ctx)
  const at = scope.lastIndexOf(':')
  const resource = session.api.resources.get(scope.slice(0, at))
  const operation = scope.slice(at + 1) as Operation
  return resource !== undefined && OPERATIONS.includes(operation) && await isAuthorized({ ...session, ctx }, resource, operation)
}

/** @throws 403 for a scope that the token does not have yet. Its owner may have lost permissions since, and scopes only narrow. */
export function assertNarrower(scopes: readonly string[] | null, { scopes: current }: TokenRow): void {
  if (current === null) return
  const added = scopes?.filter(scope => !current.includes(scope))
  if (!added || added.length > 0) throw refusedScopes(added ?? [], 'The scopes of a token can only become fewer. Make a new token.')
}

/**
 * Returns the expiry of a token.
 * @param value `undefined`: the default for a new token
 * @throws `VALIDATION_FAILED` for a time in the past, beyond `maxDays`, or none, unless `allowNoExpiry` is set. 403 for a time after the
 * expiry of the token with which the caller came.
 */
export function readExpiry(value: unknown, { maxDays, allowNoExpiry }: TokenPolicy, maker: Maker | undefined): Date | null {
  const now = Date.now()
  const limit = maker?.expiresAt?.getTime() ?? Infinity
  if (value === undefined) return new Date(Math.min(now + Math.min(DEFAULT_DAYS, maxDays) * DAY, limit))
  const outlives = () => new ApiError('FORBIDDEN', 'A token cannot make a token that is valid for longer.', { field: 'expiresAt' })
  if (value === null) {
    if (!allowNoExpiry) throw invalid('expiresAt', `A token must expire, after at most ${maxDays} days.`)
    if (limit !== Infinity) throw outlives()
    return null
  }
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) throw invalid('expiresAt', 'Use a time in ISO 8601.')
  const time = value.getTime()
  if (time <= now) throw invalid('expiresAt', 'Use a time in the future.')
  if (time > now + maxDays * DAY) throw invalid('expiresAt', `A token can be valid for at most ${maxDays} days.`)
  if (time > limit) throw outlives()
  return value
}

/** @throws 403 if the caller came with a credential that grants less than `row`: its scopes, or its expiry. */
export async function assertWithin({ scopes, expiresAt }: TokenRow, maker: Maker | undefined): Promise<void> {
  if (!maker) return
  const outlives = maker.expiresAt !== null && (expiresAt === null || expiresAt > maker.expiresAt)
  if (outlives || scopes === null || !await grantsAll(maker, scopes))
    throw new ApiError('FORBIDDEN', 'This token grants more than the token of the request.')
}

async function grantsAll({ grants }: Maker, scopes: readonly string[]): Promise<boolean> {
  for (const scope of scopes) if (!await grants(scope)) return false
  return true
}
