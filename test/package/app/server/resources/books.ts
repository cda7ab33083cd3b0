/** Everybody reads, signed-in callers add. */
import { books } from '../database/schema'

export default defineResource(books, {
  permissions: { read: true, create: ctx => !!ctx.user },
})
