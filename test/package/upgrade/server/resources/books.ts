/** Everybody reads, signed-in callers write. */
import { books } from '../database/schema'

const isKnown = (ctx: { user: unknown }) => !!ctx.user

export default defineResource(books, {
  permissions: { read: true, create: isKnown, update: isKnown, delete: isKnown },
})
