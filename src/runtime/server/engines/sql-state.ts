/** Reads the SQLSTATE of an error of Postgres. */

/** Finds the SQLSTATE of an error or of one of its causes. Codes of sockets, such as `EPIPE`, have no digit. */
export function findState(error: unknown): string | undefined {
  for (
    let current = error as { code?: unknown, cause?: unknown } | undefined, depth = 0;
    current && depth < 5;
    current = current.cause as typeof current, depth++
  ) {
    if (typeof current.code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(current.code)) return current.code
  }
  return undefined
}
