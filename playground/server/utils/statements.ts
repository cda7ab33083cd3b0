/**
 * Records the SQL statements of a request that has an id in the header `x-demo-trace`, without BEGIN and COMMIT.
 * FOR THE DEMO ONLY: it discloses internals of the server. `GET /api/demo/statements/<id>` returns them without their values.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from 'drizzle-orm'

const MAX_TRACES = 200

const current = new AsyncLocalStorage<string[] | undefined>()
const traces = new Map<string, string[]>()

/** Starts the trace of this request. Without an id it has none, also if the page that sends it has one. */
export function traceStatements(id: string | undefined): void {
  if (!id || !/^[\da-f-]{36}$/.test(id)) return current.enterWith(undefined)
  const statements: string[] = []
  current.enterWith(statements)
  traces.set(id, statements)
  if (traces.size > MAX_TRACES) traces.delete(traces.keys().next().value!)
}

export const findStatements = (id: string): readonly string[] | undefined => traces.get(id)

/** Drizzle calls `logQuery` once per statement. */
export const statementLogger: Logger = {
  logQuery(statement) {
    current.getStore()?.push(statement)
  },
}
