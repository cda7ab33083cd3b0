/** At every start: migrates what is missing, fills an empty newsroom, hands the database to the API. */
import { migrations } from '#newsroom/migrations'
import { applyMigrations } from '../database/client'
import { seedNewsroom } from '../database/seed'
import { useNewsroom } from '../utils/newsroom'

export default defineNitroPlugin((nitro) => {
  const db = useNewsroom()
  applyMigrations(db, migrations)
  if (seedNewsroom(db))
    console.info('The newsroom was empty and has been filled with its demo data.')
  initializeDatabase(db, 'better-sqlite3')
  nitro.hooks.hook('close', () => {
    db.$client.close()
  })
})
