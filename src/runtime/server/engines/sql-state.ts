/** Reads the codes of errors of Postgres and MySQL. */

interface Coded {
  readonly code?: unknown
  readonly sqlState?: unknown
  readonly errno?: unknown
  readonly cause?: unknown
}

/** Finds the SQLSTATE of an error or of one of its causes. Codes of sockets, such as `EPIPE`, have no digit. */
export const findState = (error: unknown): string | undefined =>
  findCode(error, ({ code, sqlState }) => [code, sqlState].find(isState))

const isState = (value: unknown): value is string => typeof value === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(value)

/** Finds the number of an error of MySQL. */
export const findErrno = (error: unknown): number | undefined =>
  findCode(error, ({ errno }) => typeof errno === 'number' && errno > 0 ? errno : undefined)

/** Searches the error and its causes. A driver wraps the database's error, and Drizzle wraps the driver's error. */
function findCode<T>(error: unknown, read: (error: Coded) => T | undefined): T | undefined {
  for (let current = error as Coded | undefined, depth = 0; current && depth < 5; current = current.cause as typeof current, depth++) {
    const found = read(current)
    if (found !== undefined) return found
  }
  return undefined
}
