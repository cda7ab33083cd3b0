/** Example of docs/plugins.md: a task that deletes expired sessions. */
import { lt } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { defineAutoApiPlugin } from 'nuxt-auto-api/define'
import { getDatabase } from 'nuxt-auto-api/utils'
import { sessions } from './schema'

export default defineAutoApiPlugin({
  name: 'cleanup',
  tasks: {
    sessions: {
      every: 60,
      run: async ({ due, event }) => {
        const db = getDatabase(event) as BetterSQLite3Database
        await db.delete(sessions).where(lt(sessions.expiresAt, due))
      },
    },
  },
})
