/** A new database with the migrations of the app. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/libsql'
import { migrate } from 'drizzle-orm/libsql/migrator'
import { tasks, user } from '../server/database/schema'
import * as rows from './rows'

export async function openDatabase() {
  const database = drizzle(`file:${join(mkdtempSync(join(tmpdir(), 'tasks-')), 'test.db')}`)
  await migrate(database, { migrationsFolder: 'server/database/migrations' })
  await database.insert(user).values(rows.users)
  await database.insert(tasks).values(rows.tasks)
  return { database, engine: 'libsql' as const }
}
