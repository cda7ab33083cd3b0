/** Compares upserts and creates of several records that have the unique values of a hidden row with single creates. */
import type { TestResponse } from '../api/client'
import type { FoundResource } from '../access/discover'
import { toParts, write, type RowId } from '../access/probes'
import { sampleOf, type Values } from '../access/values'
import { bodyOf, createsOf } from './several'
import { describeRequest, type Sent, type VisibleRows, type Walk } from './walk'

interface HiddenKey {
  /** The fields of a unique constraint. */
  readonly key: readonly string[]
  /** The hidden row, as those see it who can. */
  readonly record: Values
}

/**
 * An upsert with the key of a hidden row must answer what a create with these values answers, or what an upsert with a new key answers. It
 * finds the row otherwise. A create in the body of a parent or in a batch must have the outcome of a single create.
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
  const reportRow = (request: string, difference: string) =>
    inspector.report(request, `discloses that the row ${toParts(id).join(', ')} of ${name} exists: ${difference}`)
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
    reportRow(request, difference)
  }

  const sendOne = async ({ method, path, body }: Sent) => await write(client, method, path, { body })
  const single = failureOf(await send(`/${name}`, given))
  const others = createsOf(context, visible, resource, other)
  for (const [index, sent] of createsOf(context, visible, resource, given).entries()) {
    const response = await sendOne(sent)
    const request = describeRequest(caller, sent.method, sent.path)
    inspector.readText(request, response)
    const failure = failureOf(response)
    if (failure === single || failure === failureOf(await sendOne(others[index]!))) continue
    reportRow(request, `${failure}, but a create is ${single}`)
  }
}

/** The error of the first record, without its place. */
function failureOf({ status, body }: TestResponse): string {
  if (status < 400) return 'written'
  const { message, data } = body as { readonly message?: string, readonly data?: Failure & { readonly errors?: readonly Failure[] } }
  const { code, message: own = message } = data?.errors?.[0] ?? data ?? {}
  return `${status}${code === undefined ? '' : ` ${code}`}: ${own}`
}

interface Failure {
  readonly code?: string
  readonly message?: string
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
