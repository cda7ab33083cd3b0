/** Escapes text for log lines, so that text of a client can neither start a new line nor control a terminal. */

/** Escapes every character that is not printable ASCII, line breaks included. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7E]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Returns an error with its stack and causes. The message can contain text of the client, so all lines after the first are indented. */
export function describeError(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return printable(String(error))
  const { stack, message, cause, code } = error as Error & { readonly code?: unknown }
  const lines = (stack ?? message).split('\n').map(printable)
  if (typeof code === 'string' || typeof code === 'number') lines.push(`[code]: ${printable(String(code))}`)
  if (cause !== undefined && depth < 5) lines.push(`[cause]: ${describeError(cause, depth + 1)}`)
  return lines.join('\n    ')
}
