/** Permissions, rows and records by the context of a handler or a hook, and by the name of a resource. */
import type { Operation } from '../../shared/operations'
import type { TrashMode } from '../../shared/query'
import { decide, isAuthorized } from '../core/access/authorize'
import { replicaCallOn, type CallerContext } from '../core/entries/call'
import { findRecords as recordsById, findRows as rowsById } from '../core/entries/records-by-id'
import type { RecordValues } from '../core/read/rows/decode'
import { requireSession } from '../core/request/session'
import type { AutoApiContext, Permission } from '../registration'

/**
 * Whether the caller can use an operation of a resource: its permission and its tenant. For a route that shows what the caller could do.
 * To refuse a request, use `assertPermission`.
 * @throws When there is no such resource.
 * @example
 * const canLike = await can(ctx, 'likes', 'create')
 */
export async function can(ctx: CallerContext, resource: string, operation: Operation): Promise<boolean> {
  const call = replicaCallOn(ctx, resource, operation)
  return isAuthorized(call, call.resource, operation)
}

/**
 * Evaluates a permission as the API does: a string is a permission or a role of the caller, a list is met by one of its entries, and a
 * function that throws refuses.
 * @example
 * const isEditor = await holds(ctx, ['editor', 'admin'])
 */
export function holds(ctx: AutoApiContext, permission: Permission): Promise<boolean> {
  return decide(requireSession(ctx), permission, ctx)
}

/**
 * Reads active records in one statement, each as the get route returns it: within the row scope of the caller, with the fields that the
 * caller can read, after `afterGet`. It checks no permission of the resource: use {@link can} first.
 * @returns the records by id, as JSON. Those that the caller cannot see are absent.
 * @throws When there is no such resource.
 */
export async function findRecords(
  ctx: CallerContext, resource: string, ids: readonly string[],
): Promise<ReadonlyMap<string, RecordValues>> {
  return recordsById(replicaCallOn(ctx, resource, 'read'), ids)
}

/**
 * Reads whole rows in one statement within the row scope of the caller, with hidden columns and with values as Drizzle returns them. It
 * checks no permission of the resource, and the values must not reach a caller unchecked.
 * @param trash the rows to look for @default 'active'
 * @returns the rows by id. Those that the caller cannot see are absent.
 * @throws When there is no such resource.
 */
export async function findRows(
  ctx: CallerContext, resource: string, ids: readonly string[], trash: TrashMode = 'active',
): Promise<ReadonlyMap<string, RecordValues>> {
  return rowsById(replicaCallOn(ctx, resource, 'read'), ids, trash)
}
