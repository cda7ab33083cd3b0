/** On every engine, random queries over computed twins of columns return the result of the oracle of the columns. */
import fc from 'fast-check'
import type { Table } from 'drizzle-orm'
import { alias as mysqlAlias, type MySqlTable } from 'drizzle-orm/mysql-core'
import { alias as pgAlias, type PgTable } from 'drizzle-orm/pg-core'
import { alias, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { dataExport } from '../../src/runtime/plugins'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { READING } from '../scenarios/query/properties'
import { Coverage } from '../scenarios/query/coverage'
import { NEWSROOM } from '../support/newsdata/columns'
import { createRows } from '../support/newsdata/rows'
import { createRegistrations } from '../support/newsdata/server'
import { createTwinTables, withTwins } from '../support/newsdata/twins'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { openFilled, type Filled } from './support/tables'

const ALIASES: Readonly<Record<Dialect, (table: Table) => Table>> = {
  sqlite: table => alias(table as SQLiteTable, 'other'),
  pg: table => pgAlias(table as PgTable, 'other'),
  mysql: table => mysqlAlias(table as MySqlTable, 'other'),
}

/** Each case of the columns has a fifth as many of the twins. */
const SHARE = 0.2

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase)).each(['expression', 'subquery'] as const)('random queries, with the fields of each %s', (source) => {
    let newsroom: Filled
    const cases = Number(process.env.RUNS ?? engineCase.runs * SHARE)

    beforeAll(async () => {
      newsroom = await openFilled(engineCase, NEWSROOM, createRows(), {
        create: createTwinTables,
        registrations: tables => withTwins(createRegistrations(tables), source, ALIASES[engineCase.dialect]),
        plugins: [dataExport()],
      })
    })
    afterAll(() => newsroom?.opened.close())

    it.each(Object.entries(READING))('%s', async (_, { share, create }) => {
      await fc.assert(create(newsroom, new Coverage()), { numRuns: Math.ceil(cases * share) })
    })
  })
})
