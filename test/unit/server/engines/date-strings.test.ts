/** Reads on mysql2 return times as text without a function of Drizzle that the driver would call for every value. */
import { drizzle } from 'drizzle-orm/mysql2'
import { drizzle as drizzle1 } from 'drizzle-orm-1/mysql2'
import { createPool, type PoolOptions } from 'mysql2/promise'
import { describe, expect, it } from 'vitest'
import { withDateStrings } from '../../../../src/runtime/server/engines/date-strings'
import { toDatabase } from '../../../../src/runtime/server/engines/drizzle-database'
import { createEngine } from '../../../../src/runtime/server/engines/index'

const STATEMENT = { text: 'select 1', values: [1] }

/** Replaces the query function of a pool with one that records its options. */
function createRecordingPool(options: PoolOptions = {}) {
  const sent: Record<string, unknown>[] = []
  const query = async (options: Record<string, unknown>, values: unknown) => {
    sent.push({ ...options, values })
    return [[['2026-01-01 00:00:00']], []]
  }
  return { pool: Object.assign(createPool(options), { query }) as never, sent }
}

describe('a read on mysql2', () => {
  it('asks the driver for times as text', async () => {
    const { pool, sent } = createRecordingPool()
    expect(await createEngine('mysql', drizzle({ client: pool })).query(STATEMENT)).toEqual([['2026-01-01 00:00:00']])
    expect(sent).toEqual([{ sql: 'select 1', rowsAsArray: true, typeCast: undefined, dateStrings: true, values: [1] }])
  })

  it.each([false, () => 'own'])('keeps the function of Drizzle beside the app\'s `typeCast` %s', async (typeCast) => {
    const { pool, sent } = createRecordingPool({ typeCast })
    await createEngine('mysql', drizzle({ client: pool })).query(STATEMENT)
    expect(sent).toEqual([{ sql: 'select 1', rowsAsArray: true, typeCast: expect.any(Function) as unknown, values: [1] }])
  })

  it('asks for text with Drizzle 1.0 too', async () => {
    const { pool, sent } = createRecordingPool()
    const { session } = withDateStrings(toDatabase(drizzle1({ client: pool })))
    const prepared = (session as { prepareQuery: (...args: unknown[]) => { execute: () => Promise<unknown> } })
      .prepareQuery({ sql: 'select 1', params: [1] }, 'arrays')
    expect(await prepared.execute()).toEqual([['2026-01-01 00:00:00']])
    expect(sent).toMatchObject([{ rowsAsArray: true, typeCast: undefined, dateStrings: true }])
  })

  it('leaves other clients as they are', () => {
    const db = toDatabase(drizzle({ client: { query: () => {} } as never }))
    expect(withDateStrings(db)).toBe(db)
  })
})
