/** Runs a scoped list without pages: yields all records in batches. */
import { LIMITS } from '../../../shared/limits'
import type { Call } from '../request/session'
import { runHooks, type AnyHook } from '../request/hooks'
import type { ListPlan } from '../plan/read'
import type { Scoped } from '../access/row-scope'
import { searchInSlices } from './rows/text-search'
import { isLimitExceeded } from '../error'
import type { RecordValues, ValueForm } from './rows/decode'
import type { Rows } from './rows/rows'
import { scanBatches } from './rows/scan'
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
    yield { plan, form, records: await runReadHooks(plan, 'afterList', await toBatch(plan, batch, form, call), call) }
  }
}

/** A scan has no limit of size. If the included records of a batch exceed their limits, it reads them for half of the records at a time. */
async function toBatch(plan: Scoped<ListPlan>, found: Rows, form: ValueForm, call: Call): Promise<readonly RecordValues[]> {
  const { rows } = found
  try {
    return await toRecords(plan, found, form, call, Infinity)
  }
  catch (error) {
    if (!isLimitExceeded(error) || rows.length < 2) throw error
    const half = Math.ceil(rows.length / 2)
    const first = await toBatch(plan, { ...found, rows: rows.slice(0, half) }, form, call)
    return [...first, ...await toBatch(plan, { ...found, rows: rows.slice(half) }, form, call)]
  }
}
