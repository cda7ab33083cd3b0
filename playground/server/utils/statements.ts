/**
 * How many SQL statements a request takes. FOR THE DEMO ONLY: it tells anybody how the server works inside.
 * The count travels in the answer's header `x-demo-statements`; a transaction's BEGIN and COMMIT are not in it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from 'drizzle-orm'
import type { H3Event } from 'h3'

interface Count { statements: number, readonly event: H3Event }

const counts = new AsyncLocalStorage<Count>()

/** Counts from here on, for this request only: others run at the same time. */
export function countStatements(event: H3Event): void {
  const count = { statements: 0, event }
  counts.enterWith(count)
  tell(count)
}

/** Drizzle calls it once per statement. */
export const statementLogger: Logger = {
  logQuery() {
    const count = counts.getStore()
    if (!count)
      return
    count.statements++
    tell(count)
  },
}

/** With each statement anew, so that the answer has the number whichever way it ends. */
function tell({ event, statements }: Count): void {
  if (!event.node.res.headersSent)
    setResponseHeader(event, 'x-demo-statements', String(statements))
}
