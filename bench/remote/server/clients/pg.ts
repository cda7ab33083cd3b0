/** Postgres with node-postgres. */
import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'
import * as schema from '../database/pg'

export const open = () => drizzle({ client: new Pool({ connectionString: process.env.BENCH_DATABASE, max: 10 }), schema })

export const engine = 'postgres'

const statements = new Map<string, { name: string, text: string }>()

/** Runs SQL with `?` as a named statement, so that each connection plans it once. */
export async function readRows(
  { $client }: ReturnType<typeof open>,
  text: string,
  values: readonly unknown[],
): Promise<Record<string, unknown>[]> {
  let statement = statements.get(text)
  if (!statement) {
    let count = 0
    statements.set(text, (statement = { name: `raw_${statements.size}`, text: text.replace(/\?/g, () => `$${++count}`) }))
  }
  return (await $client.query({ ...statement, values: [...values] })).rows as Record<string, unknown>[]
}

/** A name that keeps its upper-case letters. */
export const quote = (name: string) => `"${name}"`
