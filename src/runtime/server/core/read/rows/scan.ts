/** Reads the rows of a plan in keyset batches, so that memory contains one batch and other requests run between the batches. */
import { LIMITS } from '../../../../shared/limits'
import { bytesOf, type Row } from '../../../engines/engine'
import type { Call } from '../../request/session'
import { after } from '../../sql/keyset'
import { assertSteady } from '../../plan/order'
import type { ReadPlan } from '../../plan/read-plan'
import type { Scoped } from '../../access/row-scope'
import { columnsOf, type Rows } from './columns'
import { planJoins } from './join'
import { yieldToEventLoop } from '../../process/turns'
import { filterAccepted, maxScanRows, tooManyRowsToCheck } from './object-level'
import { rowsStatement, type ReadOptions } from './select'
import { decoder } from './decode'
import { orderValues } from './position'

/** The size of a batch of large rows. */
const BATCH_BYTES = 4 * 1024 * 1024

/** Yields the rows of {@link scanBatches} one by one. */
export async function* scan(plan: Scoped<ReadPlan>, options: ReadOptions, call: Call): AsyncGenerator<Row> {
  for await (const { rows } of scanBatches(plan, options, call)) yield* rows
}

/**
 * Yields every visible row in batches, in the plan's order or by primary key. Under an `objectLevel` rule, yields the accepted rows. Each
 * batch is one statement, which runs when the consumer asks for it.
 * @param options `limit` is the expected number of rows; the consumer stops there
 * @throws `LIMIT_EXCEEDED` if the consumer requests another row after `objectLevel` has checked `maxScanned` rows, and more rows exist.
 */
export async function* scanBatches(unordered: Scoped<ReadPlan>, options: ReadOptions, call: Call): AsyncGenerator<Rows> {
  const { start = [], offset, limit = Infinity, maxScanned = unordered.accepts ? maxScanRows(call) : Infinity } = options
  assertSteady(unordered.order)
  const plan = unordered.order.length > 0 ? unordered : { ...unordered, order: byPrimaryKey(unordered) }
  const columns = columnsOf(plan, { ...options, cursor: true })
  const joins = plan.accepts ? undefined : planJoins(plan, columns)
  const decode = decoder(columns)
  const valuesOf = orderValues(columns, plan.order)
  // Most rows of a page are accepted, so the first batch has the size of the page. Later batches are larger.
  const { maxBatch: largest = LIMITS.scanBatch, firstBatch = largest } = options
  let batch = limit === Infinity ? Math.min(firstBatch, largest) : Math.min((offset ?? 0) + limit, largest)
  let from = start
  for (let remaining = maxScanned; ;) {
    // One row beyond the limit shows whether more rows exist.
    const size = Math.min(batch, remaining + 1)
    const batchOptions = { start: from, limit: size, toLimit: options.toLimit, cursor: true }
    const rows = await call.engine.query(rowsStatement(plan, columns, batchOptions, call, joins))
    const checked = rows.length > remaining ? rows.slice(0, remaining) : rows
    const accepted = plan.accepts ? await filterAccepted(checked, decode, plan.accepts) : checked
    if (accepted.length > 0) yield { rows: accepted, columns, ...joins && { joins } }
    if (rows.length > remaining) throw tooManyRowsToCheck(maxScanned, ADVICE[options.maxScanned === undefined ? 'page' : 'total'])
    if (rows.length < size) return
    remaining -= rows.length
    from = [after(call.engine, plan.order, valuesOf(rows.at(-1)!))]
    batch = Math.max(1, Math.min(largest, Math.floor(BATCH_BYTES * rows.length / rows.reduce((bytes, row) => bytes + bytesOf(row), 0))))
    await yieldToEventLoop()
  }
}

const byPrimaryKey = ({ resource }: Scoped<ReadPlan>) => resource.primaryKey.map(field => ({ field, descending: false }))

/** The advice of the error, for a list with a total and for a single page. */
const ADVICE = { total: 'Narrow the filter, ask with count=none, or page by cursor.', page: 'Narrow the filter.' }
