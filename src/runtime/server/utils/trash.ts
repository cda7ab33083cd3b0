/** Server utils for the trash: restore and purge batches with the caller's permissions, and purge expired rows. */
import { useApi } from '../runtime'
import { callOn, type CallerContext } from '../core/entries/call'
import { createSystemCall } from '../core/request/call'
import { executeWrite } from '../core/write/run'
import { purgeExpired } from '../core/write/retention'
import { authorize } from '../core/access/authorize'
import { toGroupRequest } from '../core/parse/write'
import { authorizeAndRun } from '../core/pipeline'
import { planPurge, planRestore } from '../core/plan/write'
import { bulkEnvelope, type BulkEnvelope } from '../core/entries/respond'
import { applyScope } from '../core/access/row-scope'
import { withHttpErrors } from '../http/handle'

/** Selects rows by their ids, or all rows of one deletion with its cascaded rows. */
export type TrashBatch = { readonly ids: readonly (string | number)[] } | { readonly deletionId: string }

/**
 * Restores rows from the trash, as `POST /:resource/bulk/restore` does: all of them or none.
 * @throws 401, 403, 404 and `BULK_FAILED` as the route throws them.
 * @example
 * await restoreSoftDeletedBatch(ctx, 'posts', { deletionId })
 */
export function restoreSoftDeletedBatch(ctx: CallerContext, resource: string, batch: TrashBatch): Promise<BulkEnvelope> {
  return withHttpErrors(ctx.event, () => runBatch(ctx, resource, 'restore', batch))
}

/**
 * Deletes rows permanently, as `DELETE /:resource/bulk?force=true` does: all of them or none.
 * @throws 401, 403, 404 and `BULK_FAILED` as the route throws them.
 * @example
 * await purgeSoftDeletedBatch(ctx, 'posts', { ids: [1, 2] })
 */
export function purgeSoftDeletedBatch(ctx: CallerContext, resource: string, batch: TrashBatch): Promise<BulkEnvelope> {
  return withHttpErrors(ctx.event, () => runBatch(ctx, resource, 'purge', batch))
}

async function runBatch(ctx: CallerContext, name: string, operation: 'restore' | 'purge', batch: TrashBatch): Promise<BulkEnvelope> {
  return authorizeAndRun(callOn(ctx, name, operation), {
    authorize: call => authorize(call, call.resource, [operation]),
    async run(call) {
      const plan = await (operation === 'restore' ? planRestore : planPurge)(toGroupRequest(batch, call), call)
      const { body } = bulkEnvelope(await executeWrite(await applyScope(call, plan, operation), call), call)
      // A dry run returns the numbers of rows instead of records.
      return { data: [], ...body as Omit<BulkEnvelope, 'data'> }
    },
  })
}

/**
 * Purges rows that have been in the trash for longer than the `softDelete.retentionDays` of their resource.
 * @param now the time from which `retentionDays` is subtracted.
 * @param event the event of the request or the task. It is required if the database comes with the event.
 * @returns the number of purged rows by resource; cascaded rows are not counted.
 */
export async function purgeExpiredTrash(now = new Date(), event?: object): Promise<Record<string, number>> {
  const api = useApi(event)
  const purged: Record<string, number> = {}
  for (const resource of api.resources.values()) {
    const days = resource.auth?.softDelete?.retentionDays
    if (days === undefined || !resource.roles.deletedAt) continue
    const call = createSystemCall(api, resource, 'purge', api.database.engine(event), api.database.get(event))
    purged[resource.name] = await purgeExpired(call, new Date(now.getTime() - days * 86_400_000))
  }
  return purged
}
