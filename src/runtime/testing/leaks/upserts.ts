/** Compares upserts with the unique values of a hidden row with creates, which must answer the same. */
import type { TestResponse } from '../api/client'
import type { FoundResource } from '../access/discover'
import { toParts, type RowId } from '../access/probes'
import { sampleOf, type Values } from '../access/values'
import { describeRequest, type VisibleRows, type Walk } from './walk'
import { bodyOf } from './writes'

interface HiddenKey {
  /** The fields of a unique constraint. */
  readonly key: readonly string[]
  /** The hidden row, as those see it who can. */
  readonly record: Values
}

/**
 * An upsert with the key of a hidden row must answer what a create with these values answers, or what an upsert with a new key answers. It
 * finds the row otherwise.
 */
export async function compareUpserts(
  context: Walk, visible: VisibleRows, resource: FoundResource, id: RowId, { key, record }: HiddenKey,
): Promise<void> {
  const { client, caller, found, inspector } = context
  const { name, fields, create } = resource
  // The server sets the tenant column.
  const names = key.filter(field => fields.get(field)?.writable.create)
  if (names.length === 0 || names.some(field => record[field] === undefined || record[field] === null)) return
  const row = visible.get(name)
  const given = bodyOf(resource, row, Object.fromEntries(names.map(field => [field, record[field]])))
  const other = bodyOf(resource, row, Object.fromEntries(names.map(field => [field, sampleOf(create?.properties?.[field] ?? {})])))
  const onConflict = names.join(',')
  const send = async (path: string, record: Values, query: Values = {}) =>
    await client.request('POST', path, { query: { ...query, dryRun: true }, body: path.endsWith('/bulk') ? { items: [record] } : record })
  for (const path of [`/${name}`, ...found.hasBulk ? [`/${name}/bulk`] : []]) {
    const upserted = await send(path, given, { onConflict })
    const request = describeRequest(caller, 'POST', path, { onConflict })
    inspector.readText(request, upserted)
    if (upserted.status < 400) inspector.readRecords(request, name, recordsOf(upserted))
    const created = await send(path, given)
    if (answerOf(upserted) === answerOf(created) || answerOf(upserted) === answerOf(await send(path, other, { onConflict }))) continue
    const [was, is] = [outcomeOf(upserted), outcomeOf(created)]
    const difference = was === is ? 'the response differs from that of a create' : `${was}, but a create is ${is}`
    inspector.report(request, `discloses that the row ${toParts(id).join(', ')} of ${name} exists: ${difference}`)
  }
}

const recordsOf = ({ body }: TestResponse) => {
  const { data } = body as { readonly data?: unknown }
  return Array.isArray(data) ? data : body
}

/** What a response says beside the values that differ in each new record, and beside the URL of the request. */
const answerOf = ({ status, body }: TestResponse) => status < 400
  ? `${status} ${JSON.stringify((body as { readonly meta?: { readonly updated?: number } }).meta?.updated ?? 0)}`
  : `${status} ${JSON.stringify({ ...body as object, url: undefined })}`

const outcomeOf = ({ status, code }: TestResponse) => code === undefined ? String(status) : `${status} ${code}`
