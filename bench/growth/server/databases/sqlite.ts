/** Opens the file `BENCH_DATABASE`. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import * as schema from '../database/sqlite'

export default defineNitroPlugin((nitro) => {
  const client = new Database(process.env.BENCH_DATABASE, { fileMustExist: true })
  client.pragma('journal_mode = WAL')
  client.pragma('synchronous = NORMAL')
  client.pragma('foreign_keys = ON')
  initializeDatabase(drizzle({ client, schema }), 'better-sqlite3')
  nitro.hooks.hook('close', () => void client.close())
})
