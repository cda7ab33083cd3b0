/** The connection pool of this process, on the database of the benchmark. */
import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'
import * as schema from '../database/schema'

let db: ReturnType<typeof open> | undefined

const open = () => drizzle({ client: new Pool({ connectionString: process.env.BENCH_DATABASE, max: 10 }), schema })

export const useDatabase = () => db ??= open()
