/** Prepares the database at startup: applies migrations, inserts demo data, and passes the database to the API. */
import { migrations } from '#newsroom/migrations'
import { applyMigrations } from '../database/client'
import { seedNewsroom } from '../database/seed'
import { useNewsroom } from '../utils/newsroom'

export default defineNitroPlugin((nitro) => {
  const db = useNewsroom()
  applyMigrations(db, migrations)
  if (seedNewsroom(db))
    console.info('The database was empty. The demo data have been inserted.')
  initializeDatabase(db, 'better-sqlite3')
  nitro.hooks.hook('close', () => {
    db.$client.close()
  })
})
