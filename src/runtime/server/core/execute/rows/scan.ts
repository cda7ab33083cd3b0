/** Reads the rows that `objectLevel` accepts, in keyset batches. */
import { LIMITS } from '../../../../shared/limits'
import type { Row } from '../../../engines/engine'
import type { Call } from '../../context'
import { allFields } from '../../access/fields'
import { after } from '../../sql/keyset'
import type { ReadPlan } from '../../plan/read-plan'
import type { Scoped } from '../../access/row-scope'
import { filterAccepted, yieldToEventLoop, maxScanRows, tooManyRowsToCheck } from './object-level'
import { rowsStatement, type ReadOptions } from './select'
import { decoder, valuesAt } from './decode'

/**
 * Every row that `objectLevel` accepts, in the plan's order or by primary key, read in keyset batches. Other requests get their turn
 * between them.
 * @throws `LIMIT_EXCEEDED` when `most` rows are judged, there are more, and the reader wants another one.
 */
export async function* scan(unordered: Scoped<ReadPlan>, window: ReadOptions, call: Call): AsyncGenerator<Row> {
  const { start = [], offset, limit = Infinity, maxScanned = maxScanRows(call) } = window
  const plan = unordered.order.length > 0 ? unordered : { ...unordered, order: byPrimaryKey(unordered) }
  const columns = allFields(plan.resource)
  const decode = decoder(columns)
  const place = valuesAt(columns, plan.order.map(({ field }) => field))
  // A page mostly needs as many rows as it has: the first batch is small, the following ones are not.
  let batch = limit === Infinity ? LIMITS.scanBatch : Math.min((offset ?? 0) + limit, LIMITS.scanBatch)
  let from = start
  for (let left = maxScanned; ;) {
    // One row beyond the bound tells whether there are more.
    const asked = Math.min(batch, left + 1)
    const rows = await call.engine.query(rowsStatement(plan, columns, { start: from, limit: asked }, call))
    yield* await filterAccepted(rows.length > left ? rows.slice(0, left) : rows, decode, plan.accepts!)
    if (rows.length > left) throw tooManyRowsToCheck(maxScanned, ADVICE[window.maxScanned === undefined ? 'page' : 'total'])
    if (rows.length < asked) return
    left -= rows.length
    from = [after(call.engine, plan.order, place(rows.at(-1)!))]
    batch = LIMITS.scanBatch
    await yieldToEventLoop()
  }
}

const byPrimaryKey = ({ resource }: Scoped<ReadPlan>) => resource.primaryKey.map(field => ({ field, descending: false }))

/** What to do instead of counting, or of paging on. */
const ADVICE = { total: 'Narrow the filter, ask with count=none, or page by cursor.', page: 'Narrow the filter.' }
