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
 * Yields every row that `objectLevel` accepts, in the plan's order or by primary key. Other requests run between the batches.
 * @throws `LIMIT_EXCEEDED` if the consumer requests another row after `maxScanned` checked rows, and more rows exist.
 */
export async function* scan(unordered: Scoped<ReadPlan>, options: ReadOptions, call: Call): AsyncGenerator<Row> {
  const { start = [], offset, limit = Infinity, maxScanned = maxScanRows(call) } = options
  const plan = unordered.order.length > 0 ? unordered : { ...unordered, order: byPrimaryKey(unordered) }
  const columns = allFields(plan.resource)
  const decode = decoder(columns)
  const orderValues = valuesAt(columns, plan.order.map(({ field }) => field))
  // Most rows of a page are accepted, so the first batch has the size of the page. Later batches are larger.
  let batch = limit === Infinity ? LIMITS.scanBatch : Math.min((offset ?? 0) + limit, LIMITS.scanBatch)
  let from = start
  for (let remaining = maxScanned; ;) {
    // One row beyond the limit shows whether more rows exist.
    const size = Math.min(batch, remaining + 1)
    const rows = await call.engine.query(rowsStatement(plan, columns, { start: from, limit: size }, call))
    yield* await filterAccepted(rows.length > remaining ? rows.slice(0, remaining) : rows, decode, plan.accepts!)
    if (rows.length > remaining) throw tooManyRowsToCheck(maxScanned, ADVICE[options.maxScanned === undefined ? 'page' : 'total'])
    if (rows.length < size) return
    remaining -= rows.length
    from = [after(call.engine, plan.order, orderValues(rows.at(-1)!))]
    batch = LIMITS.scanBatch
    await yieldToEventLoop()
  }
}

const byPrimaryKey = ({ resource }: Scoped<ReadPlan>) => resource.primaryKey.map(field => ({ field, descending: false }))

/** The advice of the error, for a list with a total and for a single page. */
const ADVICE = { total: 'Narrow the filter, ask with count=none, or page by cursor.', page: 'Narrow the filter.' }
