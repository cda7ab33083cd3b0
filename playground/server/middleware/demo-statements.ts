/** Starts counting the SQL statements of a request. It runs after `demo-caller`, so that the query of `demo-caller` does not count. */
import { countStatements } from '../utils/statements'

export default defineEventHandler((event) => {
  if (event.path.startsWith('/api/'))
    countStatements(event)
})
