/** Rows that belong to a user, such as tokens: the caller sees its own in the active organization, and a manager sees all of them. */
import { and, sql, type SQL, type Table } from 'drizzle-orm'
import { refused } from '../core/error'
import { rolesOf, SUPER_ADMIN } from '../core/request/limits'
import type { AutoApiContext } from '../registration'
import type { OwnedRow } from './owner'
import type { PluginTable } from './table'

/** The organization of the caller, as rows store it. */
export const organizationOf = ({ tenant }: AutoApiContext) => tenant?.id === undefined || tenant.id === null ? null : String(tenant.id)

/** The id of the caller, as rows store it. @throws 401, or 403 for a user without an id. */
export function ownerId(ctx: AutoApiContext): string {
  const id: unknown = ctx.user?.id
  if ((typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') || id === '') throw refused(ctx)
  return String(id)
}

/** Whether the caller sees and deletes all rows of the organization. */
export function isManager({ user, permissions }: AutoApiContext, manage: string | undefined): boolean {
  return manage !== undefined && (permissions.includes(SUPER_ADMIN) || permissions.includes(manage) || rolesOf(user).includes(manage))
}

/** Whether a row belongs to the caller, in the active organization. */
export function isOwn({ userId, organizationId }: OwnedRow, ctx: AutoApiContext): boolean {
  return userId === ownerId(ctx) && organizationId === organizationOf(ctx)
}

/** Operations with which a manager can use the rows of others. */
const MANAGED = new Set(['read', 'aggregate', 'delete', 'purge', 'viewDeleted'])

export interface OwnedRowsOptions {
  readonly access: () => PluginTable
  /** A permission or a role of managers. */
  readonly manage: string | undefined
  /**
   * The name of the column with the id of the owner.
   * @default 'userId'
   */
  readonly owner?: string
}

/** Limits every route to the caller's own rows in the active organization. */
export function createOwnedRows({ access, manage, owner = 'userId' }: OwnedRowsOptions) {
  return (table: Table, ctx: AutoApiContext): SQL => {
    if (ctx.user === null) return sql`1 = 0`
    const { matches } = access()
    const inOrganization = matches(table, 'organizationId', organizationOf(ctx))
    if (MANAGED.has(ctx.operation) && isManager(ctx, manage)) return inOrganization
    return and(matches(table, owner, ownerId(ctx)), inOrganization)!
  }
}
