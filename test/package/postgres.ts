/** Runs SQL on the server of PostgreSQL: to create and drop the databases of the apps, and in one of them. */
import pg from 'pg'

export async function runOnPostgres(sql: string, database = 'postgres'): Promise<void> {
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', database })
  await client.connect()
  await client.query(sql)
  await client.end()
}
