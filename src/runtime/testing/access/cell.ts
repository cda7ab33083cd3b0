/** The words of a cell: what happens to a request. */
import type { TestResponse } from '../api/client'

/** The words for results that are no refusal. */
export const YES = 'yes'
export const NO = 'no'
/** Nothing to observe. */
export const NONE = '–'

/** The codes that their status says already. */
const PLAIN_CODES: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'METHOD_NOT_ALLOWED', 'BULK_FAILED'])

/** `yes` for a request that works; otherwise the status, with the code if several causes have this status. */
export function toCell({ status, code }: TestResponse): string {
  if (status < 400) return YES
  return code === undefined || PLAIN_CODES.has(code) ? String(status) : `${status} ${code}`
}

/** The cell of two requests that should have the same result. */
export const both = (first: string, name: string, second: string) => first === second ? first : `${first}, ${name} ${second}`
