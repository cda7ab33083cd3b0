/** Starts the trace of the SQL statements. It runs after `demo-caller`, so that the query of `demo-caller` is not part of it. */
import { traceStatements } from '../utils/statements'

export default defineEventHandler((event) => {
  if (event.path.startsWith('/api/'))
    traceStatements(getHeader(event, 'x-demo-trace'))
})
