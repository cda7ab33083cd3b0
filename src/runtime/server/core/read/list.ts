/** Runs a scoped list: one statement for the page, one for the total, and one for each include that cannot be joined. */
import type { Awaitable } from '../awaitable'
import { LIMITS } from '../../../shared/limits'
import type { Field } from '../../schema/field'
import type { Call } from '../request/session'
import { limitExceeded } from '../error'
import { createCursor, encryptCursor } from '../sql/cursor'
import { runHooks, type AnyHook } from '../request/hooks'
import { after } from '../sql/keyset'
import type { ListPlan } from '../plan/read'
import type { Scoped } from '../access/row-scope'
import { aggregateList } from './aggregate/groups'
import { runStatements, searchInSlices } from './rows/text-search'
import { valuesAt, type RecordValues } from './rows/decode'
import { orderValues } from './rows/position'
import { readRows, type Rows } from './rows/rows'
import type { ReadOptions } from './rows/select'
import { findTotal, type Total } from './total'
import { formOf, runReadHooks, toRecords, type ReadResult } from './records'

export interface ListResult extends ReadResult<ListPlan> {
  readonly total?: Total
  readonly hasMore?: boolean
  readonly nextCursor?: string | null
  readonly aggregates?: RecordValues
}

/** Adds values to the records before the after-hooks run. */
export interface Attachment {
  /** Columns that the query reads but the response does not contain. */
  readonly extraColumns: readonly Field[]
  /** @param values the driver values of `extraColumns`, one tuple per record */
  readonly attach: (records: readonly RecordValues[], values: readonly (readonly unknown[])[]) => Promise<void>
}

export async function executeList(requested: Scoped<ListPlan>, call: Call, attachment?: Attachment): Promise<ListResult> {
  await runHooks(call, 'beforeList', undefined, run => (run as AnyHook)(call.ctx))
  const plan = requested.search ? await searchInSlices(requested, call) : requested
  const byCursor = plan.position.mode === 'cursor'
  const isExact = plan.count && plan.countLimit === undefined
  // Without an exact count, the query reads one row beyond the page, to find out whether another page exists. With one, `objectLevel`
  // checks every row of the list, up to `objectLevelMaxRows`.
  const options = {
    start: plan.reached && [after(call.engine, plan.order, plan.reached)],
    offset: plan.offset,
    limit: isExact ? plan.limit : plan.limit + 1,
    cursor: byCursor,
    extraColumns: attachment?.extraColumns ?? [],
    ...(isExact && { maxScanned: call.api.config.objectLevelMaxRows }),
  }
  const { found, total, aggregates } = plan.count || plan.aggregates
    ? await readAll(plan, options, call)
    : { found: await readRows(plan, options, call) }
  const page: Rows = { ...found, rows: found.rows.slice(0, plan.limit) }
  const hasMore = found.rows.length > plan.limit
  const form = formOf(plan, 'afterList', call)
  const including = toRecords(plan, page, form, call)
  const records = await including
  if (attachment) await attachment.attach(records, page.rows.map(valuesAt(page.columns, attachment.extraColumns)))
  const shown = runReadHooks(plan, 'afterList', records, call)
  return {
    plan,
    form,
    records: await shown,
    ...total && { total },
    ...!isExact && { hasMore },
    ...byCursor && { nextCursor: hasMore ? await cursorAt(plan, page) : null },
    ...aggregates && { aggregates },
  }
}

interface Read {
  readonly found: Rows
  readonly total?: Total
  readonly aggregates?: RecordValues
}

async function readAll(plan: Scoped<ListPlan>, options: ReadOptions, call: Call): Promise<Read> {
  const [found, total, aggregates] = await runStatements(
    plan, call,
    () => readRows(plan, options, call),
    () => plan.count ? findTotal(plan, call) : undefined,
    () => plan.aggregates && aggregateList(plan, plan.aggregates, call),
  )
  return { found, ...total && { total }, ...aggregates && { aggregates } }
}

function cursorAt({ resource, order, secrets }: Scoped<ListPlan>, { columns, rows }: Rows): Awaitable<string> {
  const values = orderValues(columns, order)(rows.at(-1)!)
  return secrets
    ? encryptCursor(secrets, resource, order, values).then(requireShort)
    : requireShort(createCursor(resource, order, values))
}

/**
 * A cursor with only the start of a long text would repeat or skip the rows whose texts begin with it.
 * @throws `LIMIT_EXCEEDED` for a cursor that servers and proxies would not accept in a URL.
 */
function requireShort(cursor: string): string {
  if (cursor.length <= LIMITS.cursor) return cursor
  const message = '`sort`: the last row of this page has values that are too long for a cursor. Sort by shorter values, or use `page`.'
  throw limitExceeded(message, 'sort')
}
