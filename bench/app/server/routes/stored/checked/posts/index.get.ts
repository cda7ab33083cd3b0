/** `GET /stored/checked/posts`: sends a stored text to callers with the permission. */
import { requireReader } from '../../../../hand/posts'
import { storedText } from '../../../../hand/stored'

export default defineEventHandler((event) => {
  requireReader(event)
  event.node.res.setHeader('content-type', 'application/json')
  return storedText(event)
})
