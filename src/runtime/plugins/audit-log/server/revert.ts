/** Reverts a record to the state in which an entry left it, as an ordinary update of the record. */
import { authorize, type AutoApiContext, requireSession } from '../../../server/kit/call'
import { ApiError, limitExceeded, notFound } from '../../../server/kit/errors'
import { listRecords, scanList, updateRecord } from '../../../server/kit/records'
import { bodyWithRevision } from '../../../server/kit/respond'
import type { RouteRequest } from '../../../server/kit/request'
import { ofRecord } from './access'
import type { AuditLog } from './log'

interface Entry {
  readonly id: string
  readonly kind: string
  readonly resource: string
  readonly recordId: string | null
  readonly columns: readonly string[] | null
  readonly before: Readonly<Record<string, unknown>> | null
}

/** The kinds that leave a record which can be updated. */
const KEEPS_RECORD: ReadonlySet<string> = new Set(['create', 'update', 'restore'])
/** The kinds after which no earlier state of the record exists. */
const ENDS_HISTORY: ReadonlySet<string> = new Set(['create', 'purge'])

const MAX_ENTRIES = 10_000

/**
 * `POST /audit-log/:id/revert`: updates the columns that have changed since the entry to their values after it. Only the fields that the
 * caller can read are reverted.
 * @throws 404 for an entry that the caller cannot see, 409 for an entry whose record cannot be reverted, and the errors of the update.
 */
export async function revertEntry(log: AuditLog, ctx: AutoApiContext, request: RouteRequest): Promise<unknown> {
  const session = requireSession(ctx)
  await authorize(session, session.api.resources.get(log.resource)!, ['read'])
  const entry = await findEntry(log, ctx)
  const resource = session.api.resources.get(entry.resource)
  if (!resource || entry.recordId === null) throw notFound()
  await authorize(session, resource, ['update'])
  if (!KEEPS_RECORD.has(entry.kind)) throw conflict(`An entry of the kind \`${entry.kind}\` cannot be reverted to.`)
  const record = { resource: entry.resource, recordId: entry.recordId }
  const values = await ofRecord(session, log, record, () => valuesAfter(log, entry, ctx))
  return bodyWithRevision(await updateRecord(ctx, entry.resource, entry.recordId, values, request))
}

async function findEntry({ resource }: AuditLog, ctx: AutoApiContext): Promise<Entry> {
  const { id = '' } = ctx.params
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)) throw notFound()
  const { body } = await listRecords(ctx, resource, { 'filter[id]': id, 'count': 'none', 'page': '1', 'limit': '1' })
  const [entry] = (body as { readonly data: readonly Entry[] }).data
  if (!entry) throw notFound()
  return entry
}

/** Of each column that later entries of the record change, the first of them has the value that the entry left. */
async function valuesAfter({ resource: name }: AuditLog, entry: Entry, ctx: AutoApiContext): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = Object.create(null)
  let count = 0
  const filter = JSON.stringify({ id: { $gt: entry.id } })
  for await (const later of scanList(ctx, name, { filter, sort: 'id' }) as AsyncIterable<readonly Entry[]>) {
    count += later.length
    if (count > MAX_ENTRIES) throw limitExceeded(`The record has more than ${MAX_ENTRIES} later entries.`)
    for (const { kind, columns, before } of later) {
      if (ENDS_HISTORY.has(kind)) throw conflict('The record was removed and created again since.')
      for (const column of columns ?? [])
        if (before && Object.hasOwn(before, column) && !Object.hasOwn(values, column)) values[column] = before[column]
    }
  }
  return { ...values }
}

const conflict = (message: string) => new ApiError('CONFLICT', message)
