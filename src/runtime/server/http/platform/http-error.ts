/** Reads HTTP errors of h3, and the JSON that Nitro renders them as. h3 1 and h3 2 name the status differently. */

export interface HttpError {
  readonly status?: number
  readonly statusText?: string
  readonly message: string
  readonly data?: unknown
}

/** @param error an HTTP error. Of any other value, only its message is known. */
export function readHttpError(error: unknown): HttpError {
  const { status, statusCode, statusText, statusMessage, message = '', data } = (error ?? {}) as Partial<HttpError> & {
    readonly statusCode?: number
    readonly statusMessage?: string
  }
  return { status: status ?? statusCode, statusText: statusText ?? statusMessage, message, data }
}
