/** MariaDB with mysql2. */
import { drizzle } from 'drizzle-orm/mysql2'
import { createPool } from 'mysql2/promise'
import * as schema from '../database/mysql'

export const open = () =>
  drizzle({ client: createPool({ uri: process.env.BENCH_DATABASE, connectionLimit: 10, timezone: 'Z' }), schema, mode: 'default' })

export const engine = 'mysql'

/** Runs SQL with `?`. */
export async function readRows(
  { $client }: ReturnType<typeof open>,
  text: string,
  values: readonly unknown[],
): Promise<Record<string, unknown>[]> {
  const [rows] = await $client.query(text, [...values])
  return rows as Record<string, unknown>[]
}

export const quote = (name: string) => `\`${name}\``
