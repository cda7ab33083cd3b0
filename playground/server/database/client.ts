/** Opens the SQLite file and applies the migrations. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import type { Logger } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import * as schema from './schema'

export type NewsroomDatabase = ReturnType<typeof openDatabase>

export function openDatabase(file: string, logger?: Logger) {
  if (file !== ':memory:')
    mkdirSync(dirname(file), { recursive: true })
  const connection = new Database(file)
  connection.pragma('journal_mode = WAL')
  connection.pragma('foreign_keys = ON')
  return drizzle({ client: connection, schema, logger })
}

/**
 * Applies the migrations that are missing, given as file name → content.
 * Drizzle's migrator reads a folder, but a built server has the files as text: this writes them to a temporary folder.
 */
export function applyMigrations(db: NewsroomDatabase, files: Readonly<Record<string, string>>): void {
  const folder = mkdtempSync(join(tmpdir(), 'newsroom-migrations-'))
  try {
    for (const [name, content] of Object.entries(files)) {
      const file = join(folder, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
    }
    migrate(db, { migrationsFolder: folder })
  }
  finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
