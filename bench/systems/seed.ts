/** Fills tables with SQL, the fastest way into a file of SQLite. */
import type Database from 'better-sqlite3'

/** Inserts rows with the same columns in one transaction. */
export function insert(db: Database.Database, table: string, rows: readonly Readonly<Record<string, unknown>>[]): void {
  const columns = Object.keys(rows[0]!)
  const names = columns.map(name => `"${name}"`).join(', ')
  const statement = db.prepare(`insert into "${table}" (${names}) values (${columns.map(() => '?').join(', ')})`)
  db.transaction(() => {
    for (const row of rows) statement.run(columns.map(name => row[name]))
  })()
}
