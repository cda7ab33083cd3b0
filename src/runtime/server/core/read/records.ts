/** Creates the records of a response: decodes rows, attaches includes and runs after-hooks. */
import type { Call } from '../request/session'
import type { Resource } from '../../schema/model'
import { keepReadable, readableFields } from '../access/fields'
import { findHooks, runHooks, type AnyHook } from '../request/hooks'
import type { ReadPlan } from '../plan/read-plan'
import type { Scoped } from '../access/row-scope'
import { responseTooLarge } from '../process/size'
import { andThen, type Awaitable } from '../awaitable'
import { createTurns } from '../process/turns'
import { countsSize } from './include/counts'
import { attachIncludes } from './include/attach'
import { decoder, sizer, type ValueForm, type RecordValues } from './rows/decode'
import type { Rows } from './rows/rows'

export interface ReadResult<P extends ReadPlan = ReadPlan> {
  readonly plan: Scoped<P>
  readonly records: readonly RecordValues[]
  /** If it is `wire`, the records already contain JSON values. */
  readonly form: ValueForm
  /** The revision of the record that a get reads, if entity tags are on. */
  readonly revision?: string
  /** The JSON text of the record, if the revision is the hash of this text. */
  readonly text?: string
}

/** After-hooks receive values as Drizzle returns them. Without after-hooks, rows are decoded directly to JSON. */
export function formOf({ resource }: Scoped<ReadPlan>, hook: 'afterGet' | 'afterList', call: Call): ValueForm {
  return findHooks(call, resource, hook).length > 0 ? 'value' : 'wire'
}

/** Runs the after-hooks. Removes the fields that the caller cannot read from their result. A promise only if there are hooks. */
export function runReadHooks(
  { resource }: Scoped<ReadPlan>,
  hook: 'afterGet' | 'afterList',
  records: readonly RecordValues[],
  call: Call,
): Awaitable<readonly RecordValues[]> {
  return findHooks(call, resource, hook).length === 0 ? records : runHooksOf(resource, hook, records, call)
}

async function runHooksOf(
  resource: Resource, hook: 'afterGet' | 'afterList', records: readonly RecordValues[], call: Call,
): Promise<readonly RecordValues[]> {
  const shown
    = hook === 'afterList'
      ? await runHooks(call, hook, records, (run, records) => (run as AnyHook)(records, call.ctx))
      : [await runHooks(call, hook, records[0]!, (run, record) => (run as AnyHook)(record, call.ctx))]
  const readable = await readableFields(call, resource)
  return shown.map(record => keepReadable(resource, readable, record))
}

/** Other requests can run while larger rows than these are decoded. */
const LARGE = 256 * 1024

/**
 * A promise only if records are included or counted, or if the rows are large.
 * @param maxSize of the records without those that they include
 * @throws `LIMIT_EXCEEDED` before anything is decoded
 */
export function toRecords(
  plan: Scoped<ReadPlan>, found: Rows, form: ValueForm, call: Call, maxSize = call.api.config.http.maxResponseSize,
): Awaitable<readonly RecordValues[]> {
  const sizeOf = sizer(found.columns, plan.selection)
  let size = found.rows.length * countsSize(plan)
  for (const row of found.rows) size += sizeOf(row)
  if (size > maxSize) throw responseTooLarge(maxSize)
  const decode = decoder(found.columns, plan.selection, form)
  return andThen(size > LARGE ? decodeInTurns(found.rows, decode) : found.rows.map(decode), records =>
    plan.include.length === 0 && !plan.counts ? records : attachIncludes(plan, found, records, form, call).then(() => records))
}

async function decodeInTurns(rows: Rows['rows'], decode: ReturnType<typeof decoder>): Promise<readonly RecordValues[]> {
  const nextTurn = createTurns()
  const records: RecordValues[] = []
  for (const row of rows) {
    const waiting = nextTurn()
    if (waiting) await waiting
    records.push(decode(row))
  }
  return records
}
