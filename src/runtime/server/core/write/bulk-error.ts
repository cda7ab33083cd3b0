/** The error of a bulk write: one entry for each item that failed. */
import { LIMITS } from '../../../shared/limits'
import { ApiError, isHttpError, shorten } from '../error'
import type { AutoApiContext } from '../../registration'
import { logError } from '../process/log'

export interface ItemFailure {
  readonly index: number
  readonly id?: string | number
  readonly error?: unknown
  /** The context of the request, for the log. */
  readonly ctx?: AutoApiContext
}

/**
 * Creates the error of a batch that wrote nothing. It has the status of the first failed item and lists the failures of all items.
 * @param reason the error of the whole batch, for a batch without a failed item
 */
export function bulkFailed(
  outcome: 'nothing was written' | 'rolled back', failures: readonly ItemFailure[], reason?: unknown, ctx?: AutoApiContext,
): ApiError {
  const errors = describeFailures(failures)
  const first = failures.length > 0 ? failures[0]!.error : reason
  const status = errors[0]?.statusCode ?? describeFailure({ index: 0, error: reason, ctx }).statusCode
  const failed = new ApiError(
    'BULK_FAILED',
    `Bulk operation failed (${outcome})`,
    { errors },
    status,
    first instanceof ApiError ? first.headers : {},
  )
  // Development mode shows the cause. Only an unexpected failure needs one.
  return status === 500 ? Object.assign(failed, { cause: first }) : failed
}

export interface DescribedFailure {
  readonly index: number
  readonly id?: string | number
  readonly statusCode: number
  readonly message: string
  readonly code?: string
  /** The place of a child in the body of the record, such as `lines.create[2]`. */
  readonly path?: string
  readonly issues?: unknown
  /** The response leaves out some issues. */
  readonly truncated?: true
}

/** Describes the failures for the response. All failures share {@link LIMITS.issues} issues. Each failure keeps at least one issue. */
export function describeFailures(failures: readonly ItemFailure[]): readonly DescribedFailure[] {
  let left = LIMITS.issues - failures.length
  return failures.map((failure) => {
    const described = describeFailure(failure)
    if (!Array.isArray(described.issues)) return described
    const issues = described.issues.slice(0, 1 + Math.max(0, left)) as unknown[]
    left -= Math.max(0, issues.length - 1)
    return { ...described, issues, ...issues.length < described.issues.length && { truncated: true } }
  })
}

/** Describes one failure for the response. The response shows no details of an unexpected error. */
function describeFailure({ index, id, error, ctx }: ItemFailure): DescribedFailure {
  const { status, statusCode, message, data } = error as {
    status?: number
    statusCode?: number
    message?: string
    data?: { code?: string, path?: string, issues?: unknown, truncated?: boolean }
  }
  // An error of another library can also have a status, for example if a request that a hook sends fails. Its message is internal.
  const known = error instanceof ApiError || isHttpError(error) ? status ?? statusCode : undefined
  if (known === undefined) logError(ctx, 'An item of a bulk operation failed unexpectedly.', error)
  return {
    index,
    ...id !== undefined && { id: typeof id === 'string' ? shorten(id, LIMITS.errorText) : id },
    statusCode: known ?? 500,
    message: known === undefined ? 'Something went wrong.' : message ?? '',
    ...known !== undefined && data?.code !== undefined && { code: data.code },
    ...known !== undefined && data?.path !== undefined && { path: data.path },
    ...known !== undefined && data?.issues !== undefined && { issues: data.issues },
    ...known !== undefined && data?.truncated === true && { truncated: true },
  }
}
