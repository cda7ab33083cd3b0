/** Opens the file `BENCH_DATABASE`. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import * as schema from '../database/schema'

const open = () => {
  const client = new Database(process.env.BENCH_DATABASE, { fileMustExist: true })
  client.pragma('journal_mode = WAL')
  client.pragma('synchronous = NORMAL')
  client.pragma('foreign_keys = ON')
  return drizzle({ client, schema })
}

let db: ReturnType<typeof open> | undefined

export const useDatabase = () => db ??= open()
