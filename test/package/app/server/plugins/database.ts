/** Opens the database; `initializeDatabase` is auto-imported, which is part of what is tested. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'

export default defineNitroPlugin(() => {
  const client = new Database(':memory:')
  client.exec(`
    CREATE TABLE books (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL);
    INSERT INTO books (title) VALUES ('Middlemarch'), ('Emma'), ('Villette');
  `)
  initializeDatabase(drizzle({ client }), 'better-sqlite3')
})
