/** Everybody reads, signed-in callers add. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { books } from '../database/schema'

export const booksAuth = defineResourceAuth<typeof books>({
  permissions: { read: true, create: ctx => !!ctx.user },
})
