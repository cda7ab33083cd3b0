/** Postgres with node-postgres. */
import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'
import * as schema from '../database/pg'

export const open = () => drizzle({ client: new Pool({ connectionString: process.env.BENCH_DATABASE, max: 10 }), schema })

export const engine = 'postgres'
