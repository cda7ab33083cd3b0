/** Opens the database. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { definePlugin } from 'nitro'

export default definePlugin(() => {
  const client = new Database(':memory:')
  client.exec(`
    CREATE TABLE books (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL);
    INSERT INTO books (title) VALUES ('Middlemarch'), ('Emma'), ('Villette');
  `)
  initializeDatabase(drizzle({ client }), 'better-sqlite3')
})
