/** Random queries over D1 against the oracle that knows nothing of the code: every answer must be the oracle's. */
import { drizzle } from 'drizzle-orm/d1'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyTo, openD1, type LocalD1 } from '../../support/d1'
import { openNewsdata, type Newsdata } from '../../support/newsdata/server'
import { Coverage } from '../query/coverage'
import { PROPERTIES } from '../query/properties'

const cases = Number(process.env.CASES ?? 50)
const seed = process.env.SEED === undefined ? Date.now() % 2_147_483_647 : Number(process.env.SEED)

let local: LocalD1
let server: Newsdata

beforeAll(async () => {
  local = await openD1()
  server = await openNewsdata({
    async copy(client) {
      await copyTo(local, client)
      return { db: drizzle(local.d1 as never), engine: 'd1' }
    },
  })
})

afterAll(async () => {
  server.client.close()
  await local.close()
})

/** Those that only read: rows that come and go in between are written past the API, into the original. */
const READING = Object.entries(PROPERTIES).filter(([name]) => !name.includes('inserted and deleted'))

describe(`${cases} random queries over D1`, () => {
  it('ask of the very same rows', async () => {
    for (const [table, column] of [['d_articles', 'price'], ['d_entries', 'id'], ['d_tags', 'hits']]) {
      const text = `select typeof(${column}), cast(${column} as text) from ${table} order by rowid`
      expect(await local.rows(text)).toEqual(server.client.prepare(text).raw().all())
    }
  })

  it.each(READING)('%s', async (_, { share, create }) => {
    await fc.assert(create(server, new Coverage()), { seed, numRuns: Math.ceil(cases * share) })
  }, 60_000)
})
