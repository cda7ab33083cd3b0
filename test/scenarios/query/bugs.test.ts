/** The oracle is worth something: each planted bug makes a property fail, and without one none does. */
import { existsSync } from 'node:fs'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openNewsdata } from '../../support/newsdata/server'
import { BUGS, type Bug } from './bugs'
import { Coverage } from './coverage'
import { PROPERTIES } from './properties'

const pathOf = (file: string) => `../../../src/runtime/server/core/${file}.ts`
const SEED = 7

/** The properties that fail, as far as the first. */
async function findFailing(cases: number): Promise<string[]> {
  // Loaded anew for each bug, like the core that the plugin uses.
  const { dataExport } = await import('../../../src/runtime/plugins')
  const server = await openNewsdata({ plugins: [dataExport()] })
  try {
    for (const [title, { create }] of Object.entries(PROPERTIES)) {
      const { failed } = await fc.check(create(server, new Coverage()), { seed: SEED, numRuns: cases, endOnFailure: true })
      if (failed) return [title]
    }
    return []
  }
  finally {
    server.client.close()
  }
}

describe('the core without a bug', () => {
  it('passes every property with the same seed', async () => {
    expect(await findFailing(150)).toEqual([])
  }, 60_000)
})

describe.each(BUGS)('the core with a bug: $title', ({ file, plant, cases = 150 }: Bug) => {
  it('is planted into a file of the core', () => {
    expect(existsSync(new URL(pathOf(file), import.meta.url))).toBe(true)
  })

  beforeEach(() => {
    vi.resetModules()
    vi.doMock(pathOf(file), async importOriginal =>
      plant(await importOriginal(), await import('../../../src/runtime/server/core/sql/where')),
    )
  })

  afterEach(() => {
    vi.doUnmock(pathOf(file))
    vi.resetModules()
    vi.restoreAllMocks()
  })

  it('fails a property', async () => {
    // A bug may as well make the server stumble: what it logs is expected here.
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await findFailing(cases)).toHaveLength(1)
    expect(log.mock.calls).toEqual([])
  }, 60_000)
})
