/**
 * Counts the SQL statements of a request. FOR THE DEMO ONLY: it discloses internals of the server.
 * The response has the count in the header `x-demo-statements`, without BEGIN and COMMIT.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from 'drizzle-orm'
import type { H3Event } from 'h3'

interface Count { statements: number, readonly event: H3Event }

const counts = new AsyncLocalStorage<Count>()

/** Starts counting for this request. Concurrent requests have their own counts. */
export function countStatements(event: H3Event): void {
  const count = { statements: 0, event }
  counts.enterWith(count)
  setHeader(count)
}

/** Drizzle calls `logQuery` once per statement. */
export const statementLogger: Logger = {
  logQuery() {
    const count = counts.getStore()
    if (!count)
      return
    count.statements++
    setHeader(count)
  },
}

/** Updates the header after each statement, so that error responses have it too. */
function setHeader({ event, statements }: Count): void {
  // Nuxt 5 has Node's response only for requests of clients, not for those of a page that renders.
  if (!event.node?.res?.headersSent)
    setResponseHeader(event, 'x-demo-statements', String(statements))
}
