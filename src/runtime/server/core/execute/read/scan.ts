/** Runs a scoped list without pages: yields all records in batches. */
import { LIMITS } from '../../../../shared/limits'
import type { Call } from '../../context'
import { runHooks, type AnyHook } from '../../hooks'
import type { ListPlan } from '../../plan/read'
import type { Scoped } from '../../access/row-scope'
import { searchInSlices } from '../rows/text-search'
import { scanBatches } from '../rows/scan'
import { formOf, runReadHooks, toRecords, type ReadResult } from './records'

/** Few rows, because they can be large: a client that stalls keeps the first batch in memory. */
const FIRST_BATCH = 25

/** Runs `beforeList`, which can refuse the list, and the text search that finds its rows. */
export async function prepareScan(requested: Scoped<ListPlan>, call: Call): Promise<Scoped<ListPlan>> {
  await runHooks(call, 'beforeList', undefined, run => (run as AnyHook)(call.ctx))
  return searchInSlices(requested, call)
}

/**
 * Runs `afterList` for each batch, because this hook can remove values from the records.
 * @param plan the result of {@link prepareScan}
 */
export async function* executeScan(plan: Scoped<ListPlan>, call: Call): AsyncGenerator<ReadResult<ListPlan>> {
  const form = formOf(plan, 'afterList', call)
  // Each batch has the whole budget for included records. So it has no more parents than a page of the list.
  const maxBatch = plan.include.length === 0 ? LIMITS.scanBatch : Math.min(LIMITS.scanBatch, call.api.config.pagination.maxLimit)
  for await (const batch of scanBatches(plan, { firstBatch: FIRST_BATCH, maxBatch }, call)) {
    yield { plan, form, records: await runReadHooks(plan, 'afterList', await toRecords(plan, batch, form, call), call) }
  }
}
