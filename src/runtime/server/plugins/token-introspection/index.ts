/** `POST /tokens/introspect` (RFC 7662): tells the owner of an API token whether it is valid, and what it can do now. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { OPERATIONS } from '../../../shared/operations'
import type { RouteDescription } from '../../../shared/types/openapi'
import type { Introspection } from '../../../shared/types/tokens'
import { isAuthorized } from '../../core/access/authorize'
import { requireSession, type Session } from '../../core/request/session'
import { rateLimited, refused } from '../../core/error'
import { openSessionAs } from '../../core/request/open-session'
import { defineAutoApiPlugin } from '../../plugin/contract'
import { objectOf, text, whole } from '../../plugin/description'
import { assertOptions } from '../../plugin/options'
import type { AutoApiContext } from '../../registration'
import { findToken, type FoundToken } from '../api-tokens/authenticate'
import { isManager, organizationOf } from '../api-tokens/manage'
import { holds } from '../api-tokens/rules'
import { requireTokens, type TokenService } from '../api-tokens/service'
import { createMemoryCounter } from '../rate-limit/counter'
import { toSeconds } from '../rate-limit/headers'
import { isCount, positiveInteger, type OptionRules } from '../../../shared/option-rule'

export interface TokenIntrospectionOptions {
  /**
   * Requests of one user in one window.
   * @default 60
   */
  readonly limit?: number
  /**
   * Length of one window in seconds.
   * @default 60
   */
  readonly window?: number
}

const MAX_WINDOW = 24 * 60 * 60

const RULES: OptionRules<TokenIntrospectionOptions> = {
  limit: positiveInteger,
  window: { fits: value => isCount(value) && Number(value) <= MAX_WINDOW, use: `a number of seconds from 1 to ${MAX_WINDOW}` },
}

/** The body, as JSON or as a form. Other keys, such as `token_type_hint`, have no effect. */
const BODY: StandardSchemaV1<unknown, { readonly token: string }> = {
  '~standard': {
    version: 1,
    vendor: 'nuxt-auto-api',
    validate(value) {
      const { token } = (typeof value === 'object' && value !== null ? value : {}) as { readonly token?: unknown }
      return typeof token === 'string' && token !== ''
        ? { value: { token } }
        : { issues: [{ message: 'Send one token as text.', path: ['token'] }] }
    },
  },
}

const DESCRIPTION: RouteDescription = {
  summary: 'Introspect an API token (RFC 7662)',
  body: objectOf({ token: text }),
  responses: {
    200: {
      schema: objectOf({
        active: { type: 'boolean' }, scope: text, token_type: text, sub: text, iat: whole, exp: whole, jti: text, tenant: text,
      }, ['active']),
    },
  },
  errors: { RATE_LIMITED: 429, UNSUPPORTED_MEDIA_TYPE: 415 },
}

const INACTIVE: Introspection = { active: false }
const MAX_KEYS = 100_000

/**
 * Adds `POST /tokens/introspect` for signed-in callers. Requires the plugin `apiTokens`.
 * @throws If an option is unknown or a value is invalid. On the server, also without the plugin `apiTokens`.
 * @example
 * autoApi: { plugins: [apiTokens({ findUser: … }), tokenIntrospection()] }
 */
export const tokenIntrospection = defineAutoApiPlugin(
  { from: 'nuxt-auto-api/plugins', name: 'tokenIntrospection' },
  (options: TokenIntrospectionOptions = {}) => {
    assertOptions(options, RULES, 'tokenIntrospection')
    const { limit = 60, window = 60 } = options
    const counter = createMemoryCounter(MAX_KEYS)
    let tokens: TokenService

    return {
      name: 'token-introspection',
      async setup(server) {
        // The plugin `apiTokens` can be listed after this one.
        await Promise.resolve()
        tokens = requireTokens(server, 'tokenIntrospection')
      },
      routes: [{
        name: 'token-introspect',
        method: 'POST',
        path: '/tokens/introspect',
        parameters: [],
        accepts: ['application/json', 'application/x-www-form-urlencoded'],
        body: BODY,
        describe: DESCRIPTION,
        documentedFor: ctx => canIntrospect(ctx, tokens),
        async handler(ctx, request) {
          await assertCaller(ctx, tokens)
          const { count, left } = counter.hit(String(ctx.user!.id), window * 1000)
          if (count > limit) throw rateLimited(toSeconds(left))
          request.setHeader('cache-control', 'no-store')
          const { token } = ctx.body as { readonly token: string }
          const found = await findToken(token, ctx.event, tokens.authentication)
          return found && isVisible(found, ctx, tokens) ? describe(found, ctx, tokens) : INACTIVE
        },
      }],
    }
  },
)

/** @throws 401 for an anonymous caller, 403 for a caller with a token that cannot read tokens. */
async function assertCaller(ctx: AutoApiContext, tokens: TokenService): Promise<void> {
  if (!await canIntrospect(ctx, tokens)) throw refused(ctx)
}

async function canIntrospect(ctx: AutoApiContext, { policy }: TokenService): Promise<boolean> {
  if (ctx.user === null) return false
  const session = requireSession(ctx)
  return !ctx.credential || isAuthorized(session, session.api.resources.get(policy.resource)!, 'read')
}

/** Whether the caller sees the token in the list: its own, or every token for a manager, in the active organization. */
function isVisible({ row }: FoundToken, ctx: AutoApiContext, { policy }: TokenService): boolean {
  if (row.organizationId !== organizationOf(ctx)) return false
  return row.userId === String(ctx.user!.id) || isManager(ctx, policy.manage)
}

async function describe({ row, caller }: FoundToken, ctx: AutoApiContext, { policy }: TokenService): Promise<Introspection> {
  const session = await openSessionAs(requireSession(ctx), caller)
  const scopes = row.scopes === null ? await operationsOf(session, policy.resource) : await heldScopes(row.scopes, session)
  const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
  return {
    active: true,
    scope: scopes.join(' '),
    token_type: 'Bearer',
    sub: row.userId,
    iat: seconds(row.createdAt),
    ...row.expiresAt && { exp: seconds(row.expiresAt) },
    jti: row.id,
    ...row.organizationId !== null && { tenant: row.organizationId },
  }
}

/** The scopes that the owner has now. */
async function heldScopes(scopes: readonly string[], { ctx }: Session): Promise<readonly string[]> {
  const held: string[] = []
  for (const scope of scopes) if (await holds(scope, ctx)) held.push(scope)
  return held
}

/** All operations of a token without scopes. It has none on tokens. */
async function operationsOf(session: Session, resource: string): Promise<readonly string[]> {
  const scopes: string[] = []
  for (const [name, found] of session.api.resources) {
    if (name === resource) continue
    for (const operation of OPERATIONS) if (await isAuthorized(session, found, operation)) scopes.push(`${name}:${operation}`)
  }
  return scopes
}
