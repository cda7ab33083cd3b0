/** A new database with the migrations of the app. It runs in the process of the test. */
import { drizzle } from 'drizzle-orm/pglite'
import { migrate } from 'drizzle-orm/pglite/migrator'
import { tasks, user } from '../server/database/schema'
import * as rows from './rows'

export async function openDatabase() {
  const database = drizzle()
  await migrate(database, { migrationsFolder: 'server/database/migrations' })
  await database.insert(user).values(rows.users)
  await database.insert(tasks).values(rows.tasks)
  return { database, engine: 'postgres' as const }
}
