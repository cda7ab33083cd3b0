/** Passes the database to the module, and defines the function that its published handlers use without an import. */
import { initializeDatabase } from '@websideproject/nuxt-auto-api/database'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import * as schema from '../schema'

export default defineNitroPlugin(() => {
  Object.assign(globalThis, { useRuntimeConfig })
  const connection = new Database(process.env.BENCH_DATABASE!, { fileMustExist: true })
  for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'foreign_keys = ON']) connection.pragma(pragma)
  initializeDatabase(drizzle({ client: connection, schema }), 'better-sqlite3')
})
