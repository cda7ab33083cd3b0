/** Opens the file of the environment variable `DATABASE_FILE`. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'

export default defineNitroPlugin(() => {
  const client = new Database(process.env.DATABASE_FILE)
  client.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA busy_timeout = 10000;
    CREATE TABLE IF NOT EXISTS books (
      id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, copies INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL, updated_at INTEGER, deleted_at INTEGER
    );
    CREATE TABLE IF NOT EXISTS reviews (id INTEGER PRIMARY KEY AUTOINCREMENT, book_id INTEGER NOT NULL REFERENCES books, text TEXT NOT NULL);
  `)
  initializeDatabase(drizzle({ client }), 'better-sqlite3')
})
