/** Server utils for custom code: the caller, the rows the caller can access, and permission checks. */
import type { SQL } from 'drizzle-orm'
import type { Operation } from '../../shared/operations'
import { useApi } from '../runtime'
import { createAttached } from '../core/process/request-scoped'
import { callOn, type CallerContext } from '../core/entries/call'
import { loadVisibleRows } from '../core/entries/visible-rows'
import { openSession } from '../core/request/open-session'
import { authorize } from '../core/access/authorize'
import { scopeSql } from '../core/access/row-scope'
import { requestOf, withHttpErrors } from '../http/handle'
import type { AutoApiContext, AutoApiPlatform, ResourceSource, RowOf } from '../registration'
import { toTable } from '../schema/drizzle/view'

type Event = AutoApiPlatform extends { event: infer E } ? E : never

const contexts = createAttached<Promise<AutoApiContext>>('context')

/**
 * Resolves the caller of a request, as the generated routes do. It authorizes nothing: the handler must do that.
 * @throws The error of a plugin that refuses the request. `CROSS_SITE` (403) for a write that a page of another site sends.
 * @example
 * export default defineEventHandler(async (event) => {
 *   const ctx = await getAutoApiContext(event)
 *   await assertPermission(ctx, 'posts', 'update')
 * })
 */
export function getAutoApiContext(event: Event): Promise<AutoApiContext> {
  let context = contexts.get(event)
  if (!context) contexts.set(event, context = openFor(event))
  return context
}

function openFor(event: Event): Promise<AutoApiContext> {
  return withHttpErrors(event, async () => {
    const api = useApi(event)
    await api.whenReady()
    const { ctx } = await openSession(api, requestOf(event), '', ['read'])
    return ctx
  })
}

/**
 * Reads one row and applies the rules for `ctx.operation`. Returns the whole row with its hidden columns.
 * @throws 404 if the caller cannot see the row, 403 if the caller can only read it.
 * @example
 * const post = await findAuthorizedRow<typeof posts>(ctx, 'posts', ctx.params.id)
 */
export async function findAuthorizedRow<T extends ResourceSource>(
  ctx: CallerContext,
  resource: string,
  id: string | number,
): Promise<RowOf<T>> {
  const [row] = await withHttpErrors(ctx.event, () => loadVisibleRows(ctx, resource, [id]))
  return row as RowOf<T>
}

/**
 * Reads several rows like {@link findAuthorizedRow}, in two statements. Returns them in the order of the ids.
 * @throws 404 or 403 for the first refused row.
 */
export async function findAuthorizedRows<T extends ResourceSource>(
  ctx: CallerContext,
  resource: string,
  ids: readonly (string | number)[],
): Promise<RowOf<T>[]> {
  return (await withHttpErrors(ctx.event, () => loadVisibleRows(ctx, resource, ids))) as RowOf<T>[]
}

/**
 * Returns one SQL condition for custom queries: the tenant, `listFilter` and the trash. It does not include `objectLevel`, which is code.
 * @param table the resource's table or view, or an alias of it.
 * @example
 * const mine = await db.select().from(posts).where(and(await rowScope(ctx, 'posts', posts), eq(posts.status, 'draft')))
 */
export function rowScope(ctx: CallerContext, resource: string, table: ResourceSource): Promise<SQL> {
  const call = callOn(ctx, resource)
  return scopeSql(call, call.resource, toTable(table))
}

/**
 * Checks a permission of the caller.
 * @throws 401 for an anonymous caller, 403 for a signed-in one. Also throws if the resource requires a tenant and the request has none.
 * @example
 * await assertPermission(ctx, 'posts', 'update')
 */
export async function assertPermission(ctx: CallerContext, resource: string, operation: Operation): Promise<void> {
  await withHttpErrors(ctx.event, async () => {
    const call = callOn(ctx, resource)
    await authorize(call, call.resource, [operation])
  })
}
