/** Closes a pool of node-postgres before its database is dropped. */
import type { Pool } from 'pg'

/**
 * `pool.end()` resolves before the server has closed the connections. If the database is dropped in between, the server ends them with an
 * error, and the pool throws it because nobody listens.
 */
export async function endPool(pool: Pool): Promise<void> {
  pool.on('error', () => {})
  await pool.end()
}
