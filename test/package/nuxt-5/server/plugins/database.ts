/** Opens the database, with the native driver left outside of the bundle. */
import { createRequire } from 'node:module'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { definePlugin } from 'nitro'

export default definePlugin(() => {
  const Database = createRequire(import.meta.url)('better-sqlite3')
  const client = new Database(':memory:')
  client.exec(`
    CREATE TABLE books (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL);
    INSERT INTO books (title) VALUES ('Middlemarch'), ('Emma'), ('Villette');
  `)
  initializeDatabase(drizzle({ client }), 'better-sqlite3')
})
