import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import type { SQLiteTableWithColumns, TableConfig } from 'drizzle-orm/sqlite-core'
import { invalidateCache } from 'nuxt-auto-api/utils'

export async function resetViews(db: BetterSQLite3Database, posts: SQLiteTableWithColumns<TableConfig>): Promise<void> {
  await db.update(posts).set({ views: 0 })
  await invalidateCache('posts')
}
