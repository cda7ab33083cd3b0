/** Opens the database with the tables of the migration that drizzle-kit has generated. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'

export default defineNitroPlugin(() => {
  const db = drizzle({ client: new Database(':memory:') })
  db.$client.exec(`
    CREATE TABLE books (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL);
    INSERT INTO books (title) VALUES ('Middlemarch'), ('Emma'), ('Villette');
  `)
  migrate(db, { migrationsFolder: process.env.MIGRATIONS! })
  initializeDatabase(db, 'better-sqlite3')
})
