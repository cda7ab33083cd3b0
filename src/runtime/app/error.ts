/** What went wrong with a request, as one object; and the part of it that a form shows beside its fields. */

export interface ApiIssue {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly code: string
}

/** One item of a batch that failed. */
export interface ApiItemError {
  readonly index: number
  readonly id?: string | number
  readonly statusCode: number
  readonly message: string
  readonly code?: string
  readonly issues?: readonly ApiIssue[]
}

/** An error as data: what the server renders is handed to the browser in this form. */
export interface ApiProblem {
  /** The HTTP status; 0 where no answer came. */
  readonly status: number
  /** The API's stable code; `NO_ANSWER` without an answer, `UNEXPECTED` for an answer without a code. */
  readonly code: string
  readonly message: string
  /** What is wrong with the body, part by part. */
  readonly issues: readonly ApiIssue[]
  /** The fields it is about: refused, conflicting, pointing at nothing. */
  readonly fields: readonly string[]
  /** The items of a batch that failed. */
  readonly errors: readonly ApiItemError[]
}

/** Every composable's `error`. */
export class AutoApiError extends Error implements ApiProblem {
  readonly status: number
  readonly code: string
  readonly issues: readonly ApiIssue[]
  readonly fields: readonly string[]
  readonly errors: readonly ApiItemError[]
  constructor({ status, code, message, issues, fields, errors }: ApiProblem, options?: ErrorOptions) {
    super(message, options)
    this.name = 'AutoApiError'
    this.status = status
    this.code = code
    this.issues = issues
    this.fields = fields
    this.errors = errors
  }
}

/** The body of Nuxt's error answers. */
interface ErrorBody {
  readonly message?: string
  readonly data?: {
    readonly code?: string
    readonly issues?: readonly ApiIssue[]
    readonly field?: string
    readonly fields?: readonly string[]
    readonly errors?: readonly ApiItemError[]
  }
}

/** What a failed request threw, with what the API said in its answer. */
export function toAutoApiError(thrown: unknown): AutoApiError {
  if (thrown instanceof AutoApiError) return thrown
  const {
    statusCode,
    status = statusCode ?? 0,
    data: body,
    message,
  } = thrown as { statusCode?: number, status?: number, data?: ErrorBody, message?: string }
  const { code, issues = [], field, fields = field === undefined ? [] : [field], errors = [] } = body?.data ?? {}
  return new AutoApiError({
    status, issues, fields, errors,
    code: code ?? (status === 0 ? 'NO_ANSWER' : 'UNEXPECTED'),
    message: body?.message ?? message ?? String(thrown),
  }, { cause: thrown })
}

/** An error without its cause, which may hold the whole request. */
export function toProblem({ status, code, message, issues, fields, errors }: ApiProblem): ApiProblem {
  return { status, code, message, issues, fields, errors }
}

/** A message and the form field it belongs to, as Nuxt UI's `UForm` and others take it. */
export interface FormError {
  name: string
  message: string
}

/**
 * The messages of a refused body, by field; empty where an error is about no field.
 * @example
 * const { mutate } = useAutoApiCreate('posts', { onError: error => form.value?.setErrors(autoApiFormErrors(error)) })
 */
export function autoApiFormErrors(error: unknown): FormError[] {
  if (!(error instanceof AutoApiError)) return []
  const { issues, fields, errors, message } = error
  return [
    ...issues.map(issue => ({ name: issue.path.join('.'), message: issue.message })),
    ...fields.map(name => ({ name, message })),
    ...errors.flatMap(({ index, issues = [] }) =>
      issues.map(issue => ({ name: [index, ...issue.path].join('.'), message: issue.message })),
    ),
  ]
}
