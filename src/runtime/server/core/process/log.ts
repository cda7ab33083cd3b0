/** Escapes text for log lines, so that text of a client can neither start a new line nor control a terminal. */
import { isObject } from '../../../shared/is-object'
import { createAttached } from './request-scoped'

/** Escapes every character that is not printable ASCII, line breaks included. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7E]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Whether a statement of Drizzle has failed. The message of the error and its `params` contain the values of the statement, such as hashes
 * of tokens.
 */
export function isQueryError(error: unknown): error is Error & { readonly query: string } {
  return error instanceof Error && typeof (error as { readonly query?: unknown }).query === 'string' && 'params' in error
}

/** The stack of an error, without the values of a statement. */
function stackOf(error: Error): string {
  const { stack, message } = error
  if (!isQueryError(error)) return stack ?? message
  const [, frames = ''] = stack?.split(message) ?? []
  return `Failed query: ${error.query}${frames}`
}

/**
 * Returns an error with its stack and causes, without the values of statements. The message can contain text of the client, so all lines
 * after the first are indented.
 */
export function describeError(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return printable(String(error))
  const { cause, code } = error as Error & { readonly code?: unknown }
  const lines = stackOf(error).split('\n').map(printable)
  if (typeof code === 'string' || typeof code === 'number') lines.push(`[code]: ${printable(String(code))}`)
  if (cause !== undefined && depth < 5) lines.push(`[cause]: ${describeError(cause, depth + 1)}`)
  return lines.join('\n    ')
}

/** The fields that log lines of a request begin with, by event. */
const fieldsOf = createAttached<Readonly<Record<string, string>>>('log fields')

/** Adds fields, such as `requestId`, to the log lines of a request. @throws TypeError for a name or a value that is not a string. */
export function addLogFields(event: unknown, fields: Readonly<Record<string, string>>): void {
  const wrong = Object.entries(fields).find(([name, value]) => !/^\w+$/.test(name) || typeof value !== 'string')
  if (wrong) throw new TypeError(`[auto-api] request.addLogFields(): ${JSON.stringify(wrong[0])} is not a name with a string.`)
  if (isObject(event)) fieldsOf.set(event, { ...fieldsOf.get(event), ...fields })
}

/** The start of each log line about a request: `[auto-api] requestId=… tokenId=…`. */
export function logPrefix(event: unknown): string {
  const fields = isObject(event) ? fieldsOf.get(event) : undefined
  return ['[auto-api]', ...Object.entries(fields ?? {}).map(([name, value]) => `${name}=${printable(value)}`)].join(' ')
}

/**
 * Logs an error, as {@link describeError} writes it: the console would write line breaks of its message as they are.
 * @param ctx the context of the request, if there is one
 */
export function logError(ctx: { readonly event: unknown } | undefined, message: string, error: unknown): void {
  console.error(`${logPrefix(ctx?.event)} ${message}`, describeError(error))
}
