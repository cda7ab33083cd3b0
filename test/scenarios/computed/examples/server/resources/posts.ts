import { sql } from 'drizzle-orm'
import { computed, defineResource } from 'nuxt-auto-api/define'
import { posts } from '../database/schema'

export default defineResource(posts, {
  permissions: { read: true, create: true, update: true },
  computed: {
    wordCount: computed.integer(t => sql`length(${t.body}) - length(replace(${t.body}, ' ', '')) + 1`),
  },
})
