/** `GET /stored/bare/posts/:id`: sends a stored text without authentication. */
import { storedText } from '../../../../hand/stored'

export default defineEventHandler((event) => {
  event.node.res.setHeader('content-type', 'application/json')
  return storedText(event)
})
