/** The error of a failed request, and its messages for a form. */

export interface ApiIssue {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly code: string
}

/** The error of one failed item of a bulk write, or of one failed step of a batch. */
export interface ApiItemError {
  /** The position of the item or of the step in the request. */
  readonly index: number
  /** The position of the step, if the request was a batch. */
  readonly step?: number
  readonly id?: string | number
  readonly statusCode: number
  readonly message: string
  readonly code?: string
  readonly issues?: readonly ApiIssue[]
}

/** An error as plain data. The server sends errors in this form to the browser with the rendered page. */
export interface ApiProblem {
  /** The HTTP status. It is 0 if there was no response. */
  readonly status: number
  /** The API's stable error code. It is `NO_ANSWER` without a response and `UNEXPECTED` for a response without a code. */
  readonly code: string
  readonly message: string
  /** Validation errors of the body, by path. */
  readonly issues: readonly ApiIssue[]
  /** The fields that caused the error: forbidden, in conflict, or with an unknown reference. */
  readonly fields: readonly string[]
  /** The errors of the failed items of a batch. */
  readonly errors: readonly ApiItemError[]
  /** The place of the child that caused the error in the body, such as `lines.create[2]`. */
  readonly path?: string
}

/**
 * The type of `error` in every composable. `mutateAsync` rejects with this error too.
 * @example
 * const { error } = useAutoApiGet('posts', id)
 * // <p v-if="error?.status === 404">This post does not exist.</p>
 */
export class AutoApiError<Current = unknown> extends Error implements ApiProblem {
  declare readonly status: number
  declare readonly code: string
  declare readonly issues: readonly ApiIssue[]
  declare readonly fields: readonly string[]
  declare readonly errors: readonly ApiItemError[]
  declare readonly path?: string
  /** The current record, after a write with `ifMatch` failed with 412 because somebody else changed the record. */
  declare readonly current?: Current
  constructor(problem: ApiProblem & { current?: Current }, options?: ErrorOptions) {
    super(problem.message, options)
    this.name = 'AutoApiError'
    Object.assign(this, toProblem(problem), problem.current !== undefined && { current: problem.current })
  }
}

/** The body of Nuxt's error responses. */
interface ErrorBody {
  readonly message?: string
  readonly data?: {
    readonly code?: string
    readonly issues?: readonly ApiIssue[]
    readonly field?: string
    readonly fields?: readonly string[]
    readonly path?: string
    readonly errors?: readonly (Partial<Pick<ApiItemError, 'index'>> & Omit<ApiItemError, 'index'>)[]
  }
}

/** Converts the error of a failed request. The result contains the details of the API's response. */
export function toAutoApiError(thrown: unknown): AutoApiError {
  if (thrown instanceof AutoApiError) return thrown
  const {
    statusCode,
    status = statusCode ?? 0,
    data: body,
    message,
  } = thrown as { statusCode?: number, status?: number, data?: ErrorBody, message?: string }
  const { code, issues = [], field, fields = field === undefined ? [] : [field], errors = [], path } = body?.data ?? {}
  return new AutoApiError({
    status, issues, fields, path,
    // The errors of a batch have `step`.
    errors: errors.map(({ index, ...error }) => ({ index: index ?? error.step ?? 0, ...error })),
    code: code ?? (status === 0 ? 'NO_ANSWER' : 'UNEXPECTED'),
    message: body?.message ?? message ?? String(thrown),
  }, { cause: thrown })
}

/** Returns an error without its cause, because the cause can contain the whole request. */
export function toProblem({ status, code, message, issues, fields, errors, path }: ApiProblem): ApiProblem {
  return { status, code, message, issues, fields, errors, path }
}

/** A message and the name of its form field, in the format of Nuxt UI's `UForm` and other form libraries. */
export interface FormError {
  name: string
  message: string
}

/**
 * Returns the messages of a refused body, by field: `[{ name: 'author.email', message: 'Invalid email' }]`. The list is empty for errors
 * without fields, and for values that are not an `AutoApiError`. For a bulk write, `name` starts with the index of the item: `2.title`. For
 * a child, it starts with the place of the child: `lines.create.2.text`.
 * @example
 * const { mutate } = useAutoApiCreate('posts', { onError: error => form.value?.setErrors(autoApiFormErrors(error)) })
 */
export function autoApiFormErrors(error: unknown): FormError[] {
  if (!(error instanceof AutoApiError)) return []
  const { issues, fields, errors, message, path } = error
  const place = path?.replace(/\[(\d+)\]/g, '.$1')
  return [
    ...issues.map(issue => ({ name: issue.path.join('.'), message: issue.message })),
    ...(place && fields.length === 0 ? [''] : fields).map(name => ({ name: [place, name].filter(Boolean).join('.'), message })),
    ...errors.flatMap(({ index, issues = [] }) =>
      issues.map(issue => ({ name: [index, ...issue.path].join('.'), message: issue.message })),
    ),
  ]
}
