/** On every engine random queries return the result of an independent oracle, except for documented differences. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { dataExport } from '../../src/runtime/plugins'
import { NEWSROOM } from '../support/newsdata/columns'
import { createRows } from '../support/newsdata/rows'
import { createRegistrations } from '../support/newsdata/server'
import { Coverage } from '../scenarios/query/coverage'
import { READING } from '../scenarios/query/properties'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { openFilled, type Filled } from './support/tables'

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('random queries', () => {
    let newsroom: Filled
    const cases = Number(process.env.RUNS ?? engineCase.runs)

    beforeAll(async () => {
      newsroom = await openFilled(engineCase, NEWSROOM, createRows(), { registrations: createRegistrations, plugins: [dataExport()] })
    })
    afterAll(() => newsroom?.opened.close())

    it.each(Object.entries(READING))('%s', async (_, { share, create }) => {
      await fc.assert(create(newsroom, new Coverage()), { numRuns: Math.ceil(cases * share) })
    })
  })
})
