/** What is said: readable fields in their wire form, in the envelope of the route. */
import type { ApiResponse } from './response'
import type { GroupResult } from './execute/aggregate/groups'
import type { ListResult } from './execute/read/list'
import type { ReadResult } from './execute/read/records'
import type { LinkResult } from './execute/relations/run'
import type { RecordValues } from './execute/rows/decode'
import type { WrittenItem } from './execute/write/items'
import type { WriteResult } from './execute/write/result'
import { keepReadable, type Selection } from './access/fields'

export function listEnvelope({ plan, records, form, total, hasMore, nextCursor, aggregates }: ListResult): ApiResponse {
  const { position, limit } = plan
  const meta = position.mode === 'offset'
    ? { page: position.page, limit, ...total === undefined ? { hasMore } : { total } }
    : { limit, hasMore, nextCursor }
  return {
    status: 200,
    body: { data: form === 'wire' ? records : toWire(plan, records), meta: aggregates ? { ...meta, aggregates } : meta },
  }
}

export function bareRecord({ plan, records, form }: ReadResult): ApiResponse {
  return { status: 200, body: (form === 'wire' ? records : toWire(plan, records))[0] }
}

export function groupEnvelope({ data, total }: GroupResult): ApiResponse {
  return { status: 200, body: { data, meta: { total } } }
}

interface Shown {
  readonly selection: Selection
  readonly include?: readonly object[]
}

interface ShownInclude {
  readonly relation: { readonly name: string }
  readonly plan: Shown
}

/** Values that JSON cannot say, down the include tree; nothing to do for most selections. */
function toWire({ selection, include }: Shown, records: readonly RecordValues[]): readonly RecordValues[] {
  for (const { name, toJson } of selection.fields) {
    if (toJson) for (const record of records) if (record[name] !== undefined) record[name] = toJson(record[name])
  }
  for (const { relation, plan } of (include ?? []) as readonly ShownInclude[])
    toWire(plan, records.flatMap(record => record[relation.name] ?? []) as RecordValues[])
  return records
}

export function linkCounts({ plan, results }: LinkResult): ApiResponse {
  const entries = results.map(({ relation, ...counts }): [string, object] => [relation, counts])
  return { status: 200, body: plan.several ? { relations: Object.fromEntries(entries) } : entries[0]![1] }
}

export function createdRecord(result: WriteResult): ApiResponse {
  return { status: 201, body: shownRecords(result)[0], created: result.written[0]!.id }
}

export function writtenRecord(result: WriteResult): ApiResponse {
  return { status: 200, body: shownRecords(result)[0] }
}

export function deletion({ plan, written: [gone] }: WriteResult): ApiResponse {
  return { status: 200, body: { success: true, ...trace(plan, gone!) } }
}

export interface BulkEnvelope {
  /** Records, or what became of them. */
  readonly data: readonly object[]
  readonly meta: { readonly total: number, readonly successful: number, readonly failed: number, readonly errors?: WriteResult['failures'] }
}

export function bulkEnvelope(result: WriteResult): ApiResponse & { readonly body: BulkEnvelope } {
  const { plan, written, failures, total } = result
  const gone = plan.kind === 'delete' || plan.kind === 'purge'
  const successful = total ?? written.length
  const meta = { total: successful + failures.length, successful, failed: failures.length }
  return {
    status: 200,
    body: {
      data: gone ? written.map(item => ({ id: addressOf(plan, item.id), deleted: true, ...trace(plan, item) })) : shownRecords(result),
      meta: failures.length > 0 ? { ...meta, errors: failures } : meta,
    },
  }
}

/** A single key as the column has it on the wire: a number stays a number. */
function addressOf({ resource: { primaryKey } }: WriteResult['plan'], id: string): string | number {
  const [field] = primaryKey
  return primaryKey.length === 1 && (field!.kind === 'integer' || field!.kind === 'number') ? Number(id) : id
}

function trace({ kind, resource }: WriteResult['plan'], { deletionId }: WrittenItem): object {
  return { softDeleted: kind === 'delete' && resource.roles.deletedAt !== undefined, ...deletionId !== undefined && { deletionId } }
}

function shownRecords({ plan, written }: WriteResult): readonly RecordValues[] {
  return toWire(plan, written.map(({ record }) => keepReadable(plan.resource, plan.selection, record!)))
}
