/** Begins the count of a request's statements. It runs after `demo-caller`, whose own look-up is not the API's. */
import { countStatements } from '../utils/statements'

export default defineEventHandler((event) => {
  if (event.path.startsWith('/api/'))
    countStatements(event)
})
