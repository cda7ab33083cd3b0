/** Finds the caller of a token. Whatever is wrong with a token, the response is the same, and no other caller takes its place. */
import { createAttached } from '../../../server/kit/process'
import { ApiError, invalidQuery } from '../../../server/kit/errors'
import type { CredentialCaller, IncomingRequest } from '../../../server/kit/listen'
import type { AutoApiConfig } from '../../../shared/config'
import { findOwner, type FindUser } from '../../../server/plugin/owner'
import type { PluginTable } from '../../../server/plugin/table'
import type { FailureCounter } from './failures'
import { hashToken, type TokenFormat } from './format'
import { secretOf, type TokenRow } from './row'

export interface AuthenticateOptions {
  readonly format: TokenFormat
  readonly access: PluginTable
  readonly failures: FailureCounter
  readonly findUser: FindUser
  readonly config: AutoApiConfig
  /** The name of the resource of tokens. */
  readonly resource: string
  readonly markUsed: (row: TokenRow, event: IncomingRequest['event']) => void
}

/** A token of a request, and its caller. */
export interface FoundToken {
  readonly row: TokenRow
  readonly caller: CredentialCaller
}

/** The tokens of requests that were recognized, by event. */
const recognized = createAttached<TokenRow>('token')

/** Returns the token with which the caller of a request came. */
export function tokenOf(event: unknown): TokenRow | undefined {
  return recognized.get(event as object)
}

/** @throws `INVALID_QUERY` for a token in the URL, where logs and the browser's history would store it. */
export function assertNoTokenInUrl({ query, event }: IncomingRequest, { isIn }: TokenFormat): void {
  const { path } = event as { readonly path?: string }
  const texts = Object.entries(query).flatMap(([name, value]) => [name, ...typeof value === 'string' ? [value] : value])
  if (isIn(path ?? '') || texts.some(isIn))
    throw invalidQuery('The URL contains an API token. Send it in the header `Authorization: Bearer …`, and revoke it if it is yours.')
}

/**
 * Returns the caller of the token in the header `Authorization`, or `undefined` if the header contains no token.
 * @throws `INVALID_TOKEN` (401), and `RATE_LIMITED` for an address with too many invalid tokens.
 */
export async function authenticate(request: IncomingRequest, options: AuthenticateOptions): Promise<CredentialCaller | undefined> {
  const { format, failures, markUsed } = options
  const token = sentToken(request.header('authorization'), format)
  if (token === undefined) return undefined
  failures.assertOpen(request)
  const found = await findToken(token, request.event, options)
  if (!found) {
    await failures.add(request)
    throw invalidToken()
  }
  recognized.set(request.event as object, found.row)
  request.addLogFields({ tokenId: found.row.id })
  markUsed(found.row, request.event)
  return found.caller
}

/** Returns the credential of the scheme `Bearer` if it begins like a token. A token in any other form of the header is not valid: `''`. */
function sentToken(header: string | undefined, { isOwn, isIn }: TokenFormat): string | undefined {
  if (header === undefined) return undefined
  const bearer = /^bearer[ \t](.*)$/is.exec(header)?.[1]?.trim()
  if (bearer !== undefined && isOwn(bearer)) return bearer
  return isIn(header) ? '' : undefined
}

/** Reads the row of a token and its owner. One statement finds the row, whether it is valid or not. A wrong checksum needs none. */
export async function findToken(
  token: string, event: IncomingRequest['event'], { format, access, findUser, config, resource }: AuthenticateOptions,
): Promise<FoundToken | undefined> {
  if (!format.isValid(token)) return undefined
  const hash = await hashToken(token)
  const row = await access.find(event, ['tokenHash', 'previousHash'], hash) as TokenRow | undefined
  const secret = row && secretOf(row, hash, Date.now())
  if (!secret) return undefined
  const owner = await findOwner(row, { findUser, config, event, plugin: 'apiTokens' })
  if (!owner) return undefined
  const { id, scopes } = row
  // The old secret of a rotated token must not make or rotate tokens: a rotation would give its thief a secret without an end.
  const excludedResources = scopes === null || secret === 'previous' ? [resource] : []
  return { row, caller: { ...owner, id, scopes, excludedResources } }
}

/** The response to every token that is not valid. */
function invalidToken(): ApiError {
  return new ApiError('INVALID_TOKEN', 'The token is not valid.', {}, undefined, { 'WWW-Authenticate': 'Bearer error="invalid_token"' })
}
