/** Connects to the database whose URL is `BENCH_DATABASE`. */
import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'
import * as schema from '../database/pg'

export default defineNitroPlugin((nitro) => {
  const client = new Pool({ connectionString: process.env.BENCH_DATABASE, max: 10 })
  initializeDatabase(drizzle({ client, schema }), 'postgres')
  nitro.hooks.hook('close', () => client.end())
})
