/** Deletes a record in two calls: the first one is a dry run, and the second one confirms what it returned. */
import { digest } from 'ohash'
import { ApiError } from '../../core/error'
import { methods as record } from '../../routes/record'
import { send } from './send'
import { requireToolResource, type ToolCall } from './tool'

export interface DeleteArguments {
  readonly resource: string
  readonly id: string | number
  readonly confirm?: string
  readonly reason?: string
  readonly ifMatch?: string
  readonly idempotencyKey?: string
}

/** @throws `CONFLICT` when `confirm` is not that of the current preview. */
export async function deleteRecord(args: DeleteArguments, call: ToolCall): Promise<string> {
  const { confirm, idempotencyKey } = args
  const preview = await previewDeletion(args, call)
  if (preview && confirm === undefined)
    return JSON.stringify({ ...preview, message: 'Nothing was deleted. To delete these records, call `delete` again with `confirm`.' })
  if (preview && confirm !== preview.confirm)
    throw new ApiError('CONFLICT', 'These are not the records that `confirm` belongs to. Nothing was deleted.', preview)
  const { body } = await send(toRequest(args, { reason: args.reason }, { 'idempotency-key': idempotencyKey }), record, call)
  return JSON.stringify(body)
}

type Texts = Readonly<Record<string, string | undefined>>

const toRequest = ({ resource, id, ifMatch }: DeleteArguments, query: Texts, headers: Texts = {}) =>
  ({ resource, id, method: 'DELETE' as const, query, headers: { 'if-match': ifMatch, ...headers } })

interface Preview {
  readonly dryRun: true
  /** Whether the trash does not get the records. */
  readonly permanent: boolean
  /** The number of records by resource, as far as the caller can see them. */
  readonly affected: unknown
  readonly confirm: string
}

/**
 * Returns what the delete would do. A retry of a delete that was confirmed finds no record any more. It returns `undefined` then, and the
 * idempotency key decides.
 */
async function previewDeletion(args: DeleteArguments, call: ToolCall): Promise<Preview | undefined> {
  const { resource, id, confirm, reason, idempotencyKey } = args
  try {
    const { body } = await send(toRequest(args, { dryRun: 'true', reason }), record, call)
    const { roles } = requireToolResource(call, resource)
    const permanent = roles.deletedAt === undefined
    const confirm = digest(JSON.stringify([resource, String(id), permanent, body])).slice(0, 16)
    return { dryRun: true, permanent, ...body as { affected: unknown }, confirm }
  }
  catch (error) {
    const isGone = error instanceof ApiError && error.data.code === 'NOT_FOUND'
    if (isGone && confirm !== undefined && idempotencyKey !== undefined) return undefined
    throw error
  }
}
