/** Everybody reads, signed-in callers add. */
import { reviews } from '../database/schema'

export default defineResource(reviews, {
  permissions: { read: true, create: ctx => !!ctx.user },
})
