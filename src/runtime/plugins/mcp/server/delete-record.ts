/** Deletes a record in two calls: the first one is a dry run, and the second one confirms what it returned. */
import { requireToolResource, sendAs, type ToolCall } from './tool'

export interface DeleteArguments {
  readonly resource: string
  readonly id: string | number
  readonly confirm?: string
  readonly reason?: string
  readonly ifMatch?: string
  readonly idempotencyKey?: string
}

/** @throws `CONFLICT` with the current preview, when `confirm` belongs to other records. */
export async function deleteRecord(args: DeleteArguments, call: ToolCall): Promise<string> {
  const { resource, confirm, reason, idempotencyKey } = args
  if (confirm !== undefined) {
    const { body } = await sendAs(toRequest(args, { reason, confirm }, { 'idempotency-key': idempotencyKey }), call)
    return JSON.stringify(body)
  }
  const { body } = await sendAs(toRequest(args, { dryRun: 'true', reason }), call)
  // Whether the trash does not get the records.
  const permanent = requireToolResource(call, resource).roles.deletedAt === undefined
  const message = 'Nothing was deleted. To delete these records, call `delete` again with `confirm`.'
  return JSON.stringify({ dryRun: true, permanent, ...body as object, message })
}

type Texts = Readonly<Record<string, string | undefined>>

const toRequest = ({ resource, id, ifMatch }: DeleteArguments, query: Texts, headers: Texts = {}) =>
  ({ resource, id, method: 'DELETE' as const, query, headers: { 'if-match': ifMatch, ...headers } })
