/** Makes, changes and revokes tokens: the hooks of the generated routes, and which tokens a caller sees. */
import { eq, type Column, type Table } from 'drizzle-orm'
import { type AutoApiContext, type ConditionalContext, limitsOf, isStep, type ResourceHooks } from '../../../server/kit/call'
import { conflict, invalidBody, invalidQuery } from '../../../server/kit/errors'
import { uuidv7 } from '../../../server/kit/process'
import type { UpdateRow } from '../../../server/kit/records'
import type { IssuedSecrets } from '../../../server/plugin/issued'
import { organizationOf, ownerId } from '../../../server/plugin/owned-rows'
import type { FindUser } from '../../../server/plugin/owner'
import { hasAllRights } from '../../../server/plugin/owner-rights'
import type { PluginTable } from '../../../server/plugin/table'
import { tokenOf } from './authenticate'
import { hashToken, START_LENGTH, type TokenFormat } from './format'
import type { TokenPolicy } from '../options'
import type { TokenRow } from './row'
import { assertNarrower, assertScopes, assertWithin, holds, readExpiry, readScopes, type Maker } from './rules'

export interface ManageOptions {
  readonly policy: TokenPolicy
  readonly format: TokenFormat
  readonly issued: IssuedSecrets<TokenRow>
  readonly access: () => PluginTable
  readonly update: () => UpdateRow
  readonly findUser: () => FindUser
  readonly table: () => Table
  /** Converts the `:id` of a path to the id of a row. Returns `undefined` if no row can have it. */
  readonly toTokenId: (id: string) => string | undefined
}

/**
 * Returns what the credential of the caller grants, or `undefined` if the caller has no limits. The credential is a token, or that of
 * another plugin: its scopes and its permissions also limit the tokens that its caller makes.
 */
export async function makerOf(ctx: AutoApiContext, findUser: FindUser): Promise<Maker | undefined> {
  const token = tokenOf(ctx.event)
  const limits = limitsOf(ctx)
  const scopes = token ? token.scopes : limits && (ctx.credential?.scopes ?? null)
  if (scopes !== undefined) return { grants: scope => scopes?.includes(scope) ?? false, expiresAt: token?.expiresAt ?? null }
  if (!ctx.credential || await hasAllRights(ctx, findUser, 'api-tokens')) return undefined
  return { grants: scope => holds(scope, ctx), expiresAt: null }
}

/** A new secret, and the columns that store it. */
export async function createSecret(format: TokenFormat) {
  const token = format.create()
  return { token, columns: { tokenHash: await hashToken(token), start: token.slice(0, START_LENGTH) } }
}

export function createHooks({ policy, format, issued, access, table, findUser }: ManageOptions): ResourceHooks {
  return {
    async beforeCreate(data, ctx) {
      // The response of an upsert does not say which of its records are new, so it could not contain their secrets.
      if (ctx.query.onConflict !== undefined) throw invalidQuery('A token is created without `onConflict`.', 'onConflict')
      if (isStep(ctx)) throw invalidBody('A token is created by a request of its own, because only that response contains the secret.')
      const userId = ownerId(ctx)
      const maker = await makerOf(ctx, findUser())
      const scopes = readScopes(data.scopes)
      await assertScopes(scopes, ctx, maker)
      const expiresAt = readExpiry(data.expiresAt, policy, maker)
      const { token, columns } = await createSecret(format)
      issued.prepare(ctx, token)
      return { ...data, id: uuidv7(), userId, organizationId: organizationOf(ctx), scopes, expiresAt, ...columns }
    },
    afterCreate: (_record, ctx) => issued.confirm(ctx),
    async beforeUpdate(id, data, ctx) {
      const rotated = issued.takeRotation(ctx)
      const row = rotated ?? await access().find(ctx.event, ['id'], id) as TokenRow | undefined
      // The row was deleted meanwhile. The update finds no row.
      if (!row) return data
      pinRow(ctx, row, table())
      // A time that is later than the last one, so that of two changes at the same time only one finds the row as it was.
      const updatedAt = new Date(Math.max(Date.now(), row.updatedAt.getTime() + 1))
      if (rotated) return { ...data, updatedAt }
      const maker = await makerOf(ctx, findUser())
      const changed: Record<string, unknown> = { ...data, updatedAt }
      if (data.scopes !== undefined) {
        const scopes = readScopes(data.scopes)
        assertNarrower(scopes, row)
        if (scopes !== null) await assertScopes(scopes.filter(scope => !row.scopes?.includes(scope)), ctx, maker)
        changed.scopes = scopes
      }
      if (data.expiresAt !== undefined) {
        assertNotExpired(row)
        await assertWithin(row, maker)
        changed.expiresAt = readExpiry(data.expiresAt, policy, maker)
      }
      return changed
    },
    beforeRestore() {
      throw conflict('A token that was revoked cannot be restored. Make a new one.')
    },
  }
}

/** The write fails if the row changes after it was read: otherwise, of two changes, the last one could restore scopes. */
function pinRow(ctx: ConditionalContext, { updatedAt }: TokenRow, table: Table): void {
  ctx.condition = eq((table as unknown as { readonly updatedAt: Column }).updatedAt, updatedAt)
}

/** @throws 409 for a token that has expired. It stays invalid. */
export function assertNotExpired({ expiresAt }: TokenRow): void {
  if (expiresAt && expiresAt.getTime() <= Date.now()) throw conflict('The token has expired. Make a new one.')
}
