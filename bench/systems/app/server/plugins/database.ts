/** Passes the database to the API, and closes it when the server stops. */
import { useDatabase } from '../utils/database'

export default defineNitroPlugin((nitro) => {
  const db = useDatabase()
  initializeDatabase(db, 'better-sqlite3')
  nitro.hooks.hook('close', () => void db.$client.close())
})
