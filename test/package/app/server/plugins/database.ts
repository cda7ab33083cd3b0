/** Opens the database; `initializeDatabase` is auto-imported, which is part of what is tested. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'

export default defineNitroPlugin(() => {
  const client = new Database(':memory:')
  client.exec(`
    CREATE TABLE likes (id TEXT PRIMARY KEY, resource TEXT, record_id TEXT, user_id TEXT, created_at INTEGER);
    CREATE UNIQUE INDEX likes_of_user ON likes (user_id, resource, record_id);
    CREATE TABLE books (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL);
    INSERT INTO books (title) VALUES ('Middlemarch'), ('Emma'), ('Villette');
  `)
  initializeDatabase(drizzle({ client }), 'better-sqlite3')
})
