/** Random queries over computed fields instead of columns: the oracle of the columns knows every answer. */
import fc from 'fast-check'
import { alias, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { dataExport } from '../../../src/runtime/plugins'
import { NEWSROOM } from '../../support/newsdata/columns'
import { createRegistrations, openNewsdata, type Newsdata } from '../../support/newsdata/server'
import { createTwinTables, withTwins } from '../../support/newsdata/twins'
import { byTier } from '../../support/tiers'
import { Coverage } from './coverage'
import { PROPERTIES } from './properties'

/** `CASES=10000` looks longer. */
const cases = Number(process.env.CASES ?? byTier({ push: 100, full: 300, release: 1000 }))

describe.each(['expression', 'subquery'] as const)('%s', (source) => {
  let server: Newsdata
  const coverage = new Coverage()

  beforeAll(async () => {
    const twins = createTwinTables('sqlite', NEWSROOM)
    server = await openNewsdata({
      modules: [twins],
      registered: withTwins(createRegistrations(twins), source, table => alias(table as SQLiteTable, 'other') as never),
      plugins: [dataExport()],
    })
  })

  afterAll(() => server.client.close())

  it.each(Object.entries(PROPERTIES))('%s', async (_, { share, create }) => {
    await fc.assert(create(server, coverage), { numRuns: Math.ceil(cases * share) })
  }, 60_000 + cases * 400)
})
