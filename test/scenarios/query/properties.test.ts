/** Random queries against an oracle that knows nothing of the code: every answer must be the oracle's. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataExport } from '../../../src/runtime/plugins'
import { openNewsdata, type Newsdata } from '../../support/newsdata/server'
import { Coverage } from './coverage'
import { PROPERTIES } from './properties'

/** `CASES=10000` looks longer. */
const cases = Number(process.env.CASES ?? 1000)

let server: Newsdata
const coverage = new Coverage()

beforeAll(async () => {
  server = await openNewsdata({ plugins: [dataExport()] })
})

afterAll(() => server.client.close())

describe(`${cases} random queries`, () => {
  it.each(Object.entries(PROPERTIES))('%s', async (_, { share, create }) => {
    await fc.assert(create(server, coverage), { numRuns: Math.ceil(cases * share) })
  }, 60_000 + cases * 200)

  it('cover every operator, column type, relation kind, NULLs and ties in cursors, and mostly find rows', () => {
    console.info(coverage.report())
    expect(coverage.missing()).toEqual([])
    expect(coverage.share).toBeGreaterThanOrEqual(0.5)
  })
})
