/** Converts the results of routes to responses. A response contains only readable fields, in their wire form. */
import type { Call } from '../request/session'
import { createTextResponse, type ApiResponse } from '../extensions/response'
import type { GroupResult } from '../read/aggregate/groups'
import type { ListResult } from '../read/list'
import type { ReadResult } from '../read/records'
import type { LinkResult } from '../write/link'
import type { RecordValues } from '../read/rows/decode'
import type { WrittenItem } from '../write/items'
import type { WriteResult } from '../write/result'
import { keepReadable, select, type Selection } from '../access/fields'
import { jsonSize } from '../process/size'

export function listEnvelope({ plan, records, form, total, hasMore, nextCursor, aggregates }: ListResult): ApiResponse {
  const { position, limit } = plan
  const meta = position.mode === 'offset'
    ? { page: position.page, limit, ...total, ...hasMore !== undefined && { hasMore } }
    : { limit, hasMore, nextCursor }
  return {
    status: 200,
    body: { data: wireRecords({ plan, records, form }), meta: aggregates ? { ...meta, aggregates } : meta },
  }
}

export function bareRecord(result: ReadResult): ApiResponse {
  const { text, revision } = result
  if (text !== undefined) return createTextResponse({ status: 200, revision }, { text, etag: `"${revision}"` })
  return { status: 200, body: wireRecords(result)[0], ...withRevision(result) }
}

/** Returns the records with JSON values. */
export function wireRecords({ plan, records, form }: ReadResult): readonly RecordValues[] {
  return form === 'wire' ? records : toWire(plan, records)
}

export function groupEnvelope({ data, total }: GroupResult): ApiResponse {
  return { status: 200, body: { data, meta: { total } } }
}

interface ResponsePlan {
  readonly selection: Selection
  readonly include?: readonly object[]
}

interface ResponseInclude {
  readonly relation: { readonly name: string }
  readonly plan: ResponsePlan
}

/** Converts values for which JSON has no type, in records and in included records. Most selections have no such values. */
function toWire({ selection, include }: ResponsePlan, records: readonly RecordValues[]): readonly RecordValues[] {
  for (const { name, toJson } of selection.fields) {
    if (toJson) for (const record of records) if (record[name] !== undefined) record[name] = toJson(record[name])
  }
  for (const { relation, plan } of (include ?? []) as readonly ResponseInclude[])
    toWire(plan, records.flatMap(record => record[relation.name] ?? []) as RecordValues[])
  return records
}

export function linkCounts({ plan, results }: LinkResult): ApiResponse {
  const entries = results.map(({ relation, ...counts }): [string, object] => [relation, counts])
  return { status: 200, body: plan.severalRelations ? { relations: Object.fromEntries(entries) } : entries[0]![1] }
}

/** A dry run has created no record, so it has no `Location`. */
export function createdRecord(result: WriteResult, call: Call): ApiResponse {
  const created = !call.ctx.dryRun && { created: result.written[0]!.id }
  return { status: 201, body: writtenRecords([result], call)[0], ...created, ...withRevision(result) }
}

export function writtenRecord(result: WriteResult, call: Call): ApiResponse {
  return { status: 200, body: result.affected ?? writtenRecords([result], call)[0], ...withRevision(result) }
}

const withRevision = ({ revision }: { readonly revision?: string }) => revision === undefined ? {} : { revision }

export function deletion({ plan, written: [item], affected }: WriteResult): ApiResponse {
  return { status: 200, body: affected ?? { success: true, ...deletionDetails(plan, item!) } }
}

export interface BulkEnvelope {
  /** The records. After a delete or a purge, each entry contains the id instead. */
  readonly data: readonly object[]
  /** In a dry run of a delete, a purge or a restore: the number of rows by resource that the caller can see. */
  readonly affected?: Readonly<Record<string, number>>
  readonly meta: { readonly total: number, readonly successful: number, readonly failed: number, readonly errors?: WriteResult['failures'] }
}

export function bulkEnvelope(result: WriteResult, call: Call): ApiResponse {
  const { plan, written, failures, total, affected } = result
  const isDeletion = plan.kind === 'delete' || plan.kind === 'purge'
  const successful = total ?? written.length
  const meta = { total: successful + failures.length, successful, failed: failures.length }
  const allMeta = failures.length > 0 ? { ...meta, errors: failures } : meta
  if (affected) return { status: 200, body: { ...affected, meta: allMeta } }
  const deletionOf = (item: WriteResult['written'][number]) =>
    ({ id: wireId(plan, item.id), deleted: true, ...deletionDetails(plan, item) })
  return {
    status: 200,
    body: {
      data: isDeletion ? written.map(deletionOf) : writtenRecords([result], call),
      meta: allMeta,
    },
  }
}

/** The created and the updated records of an upsert, in the order of the request. */
export function upsertEnvelope(results: readonly WriteResult[], call: Call): ApiResponse {
  const items = results.flatMap(({ written }) => written)
  const records = writtenRecords(results, call).map((record, at) => ({ record, index: items[at]!.index }))
  const data = records.sort((a, b) => a.index - b.index).map(({ record }) => record)
  return { status: 200, body: { data, meta: { total: data.length, successful: data.length, failed: 0, ...countWritten(results) } } }
}

/** The numbers of created and of updated records. */
export function countWritten(results: readonly WriteResult[]): { readonly created: number, readonly updated: number } {
  const count = (kind: WriteResult['plan']['kind']) => results.find(({ plan }) => plan.kind === kind)?.written.length ?? 0
  return { created: count('create'), updated: count('update') }
}

/** The id of a single numeric key is a number in JSON. Any other id is a string. */
function wireId({ resource: { primaryKey } }: WriteResult['plan'], id: string): string | number {
  const [field] = primaryKey
  return primaryKey.length === 1 && (field!.kind === 'integer' || field!.kind === 'number') ? Number(id) : id
}

function deletionDetails({ kind, resource }: WriteResult['plan'], { deletionId }: WrittenItem): object {
  const softDeleted = kind === 'delete' && resource.roles.deletedAt !== undefined
  return { softDeleted, ...deletionId !== undefined && { deletionId } }
}

/**
 * A write cannot be refused for the size of its result, because it is done. A response that is too large contains no included records, or
 * only the keys of its records.
 */
function writtenRecords(results: readonly WriteResult[], { api: { config } }: Call): readonly RecordValues[] {
  const recordsWith = (selectionOf: (plan: WriteResult['plan']) => Selection) => results.flatMap(({ plan, written }) => {
    const selection = selectionOf(plan)
    return toWire({ selection }, written.map(({ record }) => keepReadable(plan.resource, selection, record!)))
  })
  const max = config.http.maxResponseSize
  const isShort = (records: readonly RecordValues[]) => jsonSize(records, max) <= max
  const records = recordsWith(({ selection }) => selection)
  const included = results.flatMap(({ written }) => written.map(({ included }) => included))
  const whole = included.some(Boolean) ? records.map((record, index) => ({ ...record, ...included[index] })) : records
  if (isShort(whole)) return whole
  if (whole !== records && isShort(records)) return records
  return recordsWith(({ resource, selection: { byName } }) =>
    select(resource, field => resource.primaryKey.includes(field) && byName.has(field.name)))
}
