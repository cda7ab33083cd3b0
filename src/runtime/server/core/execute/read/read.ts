/** Runs a scoped read: one statement for the rows, one for their total, one for each included relation that cannot be joined. */
import { sql } from 'drizzle-orm'
import type { Statement } from '../../../engines/engine'
import { shape } from '../../sql/shape'
import type { Field } from '../../../schema/field'
import type { Call } from '../../context'
import { createCursor, encryptCursor } from '../../sql/cursor'
import { notFound } from '../../error'
import { keepReadable, readableFields } from '../../access/fields'
import { findHooks, hookId, runHooks, type AnyHook } from '../../hooks'
import type { GetPlan, ListPlan } from '../../plan/read'
import type { ReadPlan } from '../../plan/read-plan'
import { shapeOf, statement, valuesOf, whereClause } from '../../sql/clause'
import type { Scoped } from '../../access/row-scope'
import { aggregateList } from '../aggregate/groups'
import { attachIncludes } from './include'
import { runStatements, searchInSlices } from '../rows/text-search'
import { conditions, decoder, readOne, readRows, scan, valuesAt, type ValueForm, type RecordValues, type Rows } from '../rows/rows'

export interface ReadResult<P extends ReadPlan = ReadPlan> {
  readonly plan: Scoped<P>
  readonly records: readonly RecordValues[]
  /** Whether the records are JSON already. */
  readonly form: ValueForm
}

export interface ListResult extends ReadResult<ListPlan> {
  readonly total?: number
  readonly hasMore?: boolean
  readonly nextCursor?: string | null
  readonly aggregates?: RecordValues
}

/** What is put into the records before any hook sees them. */
export interface Attachment {
  /** Columns that are read as well. */
  readonly extraColumns: readonly Field[]
  /** @param values what the driver gives for those columns, one tuple per record */
  readonly attach: (records: readonly RecordValues[], values: readonly (readonly unknown[])[]) => Promise<void>
}

export async function executeList(asked: Scoped<ListPlan>, call: Call, attachment?: Attachment): Promise<ListResult> {
  await runHooks(call, 'beforeList', undefined, run => (run as AnyHook)(call.ctx))
  const plan = await searchInSlices(asked, call)
  const byCursor = plan.position.mode === 'cursor'
  // One row more than the page tells whether another page follows.
  const window = {
    start: plan.start,
    offset: plan.offset,
    limit: plan.count ? plan.limit : plan.limit + 1,
    cursor: byCursor,
    extraColumns: attachment?.extraColumns ?? [],
    ...(plan.count && { maxScanned: call.api.config.objectLevelMaxRows }),
  }
  const [found, total, aggregates] = await runStatements(
    plan, call,
    () => readRows(plan, window, call),
    () => plan.count ? countRows(plan, call) : undefined,
    () => plan.aggregates && aggregateList(plan, plan.aggregates, call),
  )
  const page: Rows = { ...found, rows: found.rows.slice(0, plan.limit) }
  const hasMore = found.rows.length > plan.limit
  const form = formOf(plan, 'afterList')
  const records = await toRecords(plan, page, form, call)
  if (attachment) await attachment.attach(records, page.rows.map(valuesAt(page.columns, attachment.extraColumns)))
  return {
    plan,
    form,
    records: await throughHooks(plan, 'afterList', records, call),
    ...total === undefined ? { hasMore } : { total },
    ...byCursor && { nextCursor: hasMore ? await cursorAt(plan, page) : null },
    ...aggregates && { aggregates },
  }
}

/** The one record a plan names. @throws 404 */
export async function executeGet(plan: Scoped<GetPlan>, call: Call): Promise<ReadResult> {
  const found = await readOne(plan, plan.key, [], call)
  if (found.rows.length === 0) throw notFound()
  await runHooks(call, 'beforeGet', undefined, run => (run as AnyHook)(hookId(plan.resource, plan.key), call.ctx))
  const form = formOf(plan, 'afterGet')
  return { plan, form, records: await throughHooks(plan, 'afterGet', await toRecords(plan, found, form, call), call) }
}

/** Hooks are given what Drizzle gives; without any, a row becomes JSON at once. */
function formOf({ resource }: Scoped<ReadPlan>, hook: 'afterGet' | 'afterList'): ValueForm {
  return findHooks(resource, hook).length > 0 ? 'value' : 'wire'
}

/** What after-hooks make of the records, filtered again by what the caller may read. */
async function throughHooks(
  { resource }: Scoped<ReadPlan>,
  hook: 'afterGet' | 'afterList',
  records: readonly RecordValues[],
  call: Call,
): Promise<readonly RecordValues[]> {
  if (findHooks(resource, hook).length === 0) return records
  const shown
    = hook === 'afterList'
      ? await runHooks(call, hook, records, (run, records) => (run as AnyHook)(records, call.ctx))
      : [await runHooks(call, hook, records[0]!, (run, record) => (run as AnyHook)(record, call.ctx))]
  const readable = await readableFields(call, resource)
  return shown.map(record => keepReadable(resource, readable, record))
}

async function toRecords(plan: Scoped<ReadPlan>, found: Rows, form: ValueForm, call: Call): Promise<readonly RecordValues[]> {
  const records = found.rows.map(decoder(found.columns, plan.selection, form))
  await attachIncludes(plan, found, records, form, call)
  return records
}

function cursorAt({ resource, order, secret }: Scoped<ListPlan>, { columns, rows }: Rows): string | Promise<string> {
  const values = valuesAt(columns, order.map(({ field }) => field))(rows.at(-1)!)
  return secret === undefined ? createCursor(resource, order, values) : encryptCursor(secret, resource, order, values)
}

/** Only rows the caller can see are counted. */
async function countRows(plan: Scoped<ListPlan>, call: Call): Promise<number> {
  if (!plan.accepts) return Number((await call.engine.query(countStatement(plan, call)))[0]![0])
  let total = 0
  for await (const _ of scan(plan, { maxScanned: call.api.config.objectLevelMaxRows }, call)) total++
  return total
}

/** `select count(*) from t where …` */
function countStatement(plan: Scoped<ReadPlan>, { api, engine }: Call): Statement {
  const where = conditions(plan)
  return statement(api.statements, engine, shape`count ${plan.resource}${shapeOf(where)}`, valuesOf(where), () => ({
    sql: sql`select count(*) from ${plan.resource.table}${whereClause(where)}`,
    extra: undefined,
  }))
}
