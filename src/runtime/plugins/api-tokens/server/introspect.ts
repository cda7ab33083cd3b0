/** Describes an API token to its owner, with the rights that it has now. */
import { OPERATIONS } from '../../../shared/operations'
import type { Introspection } from '../shared/types'
import { openSessionAs } from '../../../server/kit/api'
import { type AutoApiContext, isAuthorized, requireSession, type Session } from '../../../server/kit/call'
import { rateLimited, refused } from '../../../server/kit/errors'
import type { RouteRequest } from '../../../server/kit/request'
import type { PluginServer } from '../../../server/plugin/server'
import { findToken, type FoundToken } from './authenticate'
import { isManager, organizationOf } from '../../../server/plugin/owned-rows'
import { holds } from './rules'
import { requireTokens, type TokenService } from './service'
import { createMemoryCounter, toSeconds } from '../../../server/plugin/counter/memory'

const INACTIVE: Introspection = { active: false }
const MAX_KEYS = 100_000

export interface Introspector {
  readonly canUse: (ctx: AutoApiContext) => Promise<boolean>
  readonly introspect: (ctx: AutoApiContext, request: RouteRequest) => Promise<Introspection>
}

/** @throws Without the plugin `apiTokens`. */
export function createIntrospector(
  { limit, window }: { readonly limit: number, readonly window: number }, server: PluginServer,
): Introspector {
  const counter = createMemoryCounter(MAX_KEYS)
  const tokens = requireTokens(server, 'tokenIntrospection')
  return {
    canUse: ctx => canIntrospect(ctx, tokens),
    async introspect(ctx, request) {
      await assertCaller(ctx, tokens)
      const { count, left } = counter.hit(String(ctx.user!.id), window * 1000)
      if (count > limit) throw rateLimited(toSeconds(left))
      request.setHeader('cache-control', 'no-store')
      const { token } = ctx.body as { readonly token: string }
      const found = await findToken(token, ctx.event, tokens.authentication)
      return found && isVisible(found, ctx, tokens) ? describe(found, ctx, tokens) : INACTIVE
    },
  }
}

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
