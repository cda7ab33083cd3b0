/** Text in log lines: what a client sent can neither begin a line of its own nor steer a terminal. */

/** Everything but printable ASCII is escaped, line breaks included. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7E]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** An error with its stack and its causes. The message may quote the client, so every line but the first is indented. */
export function describeError(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return printable(String(error))
  const { stack, message, cause, code } = error as Error & { readonly code?: unknown }
  const lines = (stack ?? message).split('\n').map(printable)
  if (typeof code === 'string' || typeof code === 'number') lines.push(`[code]: ${printable(String(code))}`)
  if (cause !== undefined && depth < 5) lines.push(`[cause]: ${describeError(cause, depth + 1)}`)
  return lines.join('\n    ')
}
