/** Transactions that fail return their connection to the pool of mysql2, or end it. */
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/mysql2'
import { createPool } from 'mysql2/promise'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../../src/runtime/server/engines/index'

/** Commits a statement with a pool whose connections fail. Counts what happens to them. */
async function commit(failing: string, errno: number) {
  const counts = { taken: 0, returned: 0, ended: 0 }
  const connection = () => ({
    query: async ({ sql }: { sql: string }) => {
      if (sql.startsWith(failing)) throw Object.assign(new Error('failed'), { errno })
      return [{ affectedRows: 1 }, []]
    },
    release: () => void counts.returned++,
    destroy: () => void counts.ended++,
  })
  const pool = Object.assign(createPool({}), { getConnection: async () => {
    counts.taken++
    return connection()
  } })
  const engine = createEngine('mysql', drizzle({ client: pool as never }))
  const { text } = engine.render(sql`insert into t values (1)`)
  const failed = await Promise.resolve(engine.commit([{ text, values: [] }])).then(() => false, () => true)
  await pool.end()
  return { failed, counts }
}

describe('a connection of a pool', () => {
  it.each(['set transaction', 'begin', 'insert', 'commit', 'rollback'])('is returned once if `%s` fails', async (failing) => {
    expect(await commit(failing, 1062)).toEqual({ failed: failing !== 'rollback', counts: { taken: 1, returned: 1, ended: 0 } })
  })

  it.each(['set transaction', 'begin', 'insert', 'commit'])('ends if `%s` fails because the node has lost its cluster', async (failing) => {
    expect(await commit(failing, 1047)).toEqual({ failed: true, counts: { taken: 8, returned: 0, ended: 8 } })
  })
})
