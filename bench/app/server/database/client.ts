/** Opens the database of the benchmark, with the settings that the report states. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import * as schema from './schema'

/** @throws When `BENCH_DATABASE` does not name the file. */
export function openDatabase() {
  const file = process.env.BENCH_DATABASE
  if (!file) throw new Error('BENCH_DATABASE is not set. Start the app with `npm run bench`.')
  const connection = new Database(file, { fileMustExist: true })
  connection.pragma('journal_mode = WAL')
  connection.pragma('synchronous = NORMAL')
  connection.pragma('foreign_keys = ON')
  return drizzle({ client: connection, schema })
}
