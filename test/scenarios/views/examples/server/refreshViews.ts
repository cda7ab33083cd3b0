/** Refreshes a materialized view every ten minutes. */
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { defineAutoApiPlugin } from 'nuxt-auto-api/define'
import { getDatabase, invalidateCache } from 'nuxt-auto-api/utils'
import { writingDays } from './database/writingDays'

export default defineAutoApiPlugin({
  name: 'refreshViews',
  tasks: {
    writingDays: {
      every: 10,
      async run({ event }) {
        const db = getDatabase(event) as NodePgDatabase
        await db.refreshMaterializedView(writingDays).concurrently()
        await invalidateCache('writingDays')
      },
    },
  },
})
