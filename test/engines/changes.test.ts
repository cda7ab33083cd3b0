/** On every engine the changes that plugins receive equal a diff of the database: after random writes, and commit by commit. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { command, FIRST_COMMANDS, World } from './changes/world'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { byTier, isFull } from '../support/tiers'

/** Sequences of writes. A database that runs elsewhere takes longer for each. */
const RUNS = byTier({ push: 8, full: 60, release: 300 })

const VARIANTS = [
  ['the changes that plugins receive', false],
  ['the changes that plugins receive, and the rows with images that a plugin inserts for them', true],
] as const

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase)).each(VARIANTS)('%s', (_what, audited) => {
    let world: World
    beforeAll(async () => {
      vi.spyOn(console, 'warn').mockImplementation(() => {})
      world = await World.open(engineCase, audited)
    })
    afterAll(async () => {
      vi.restoreAllMocks()
      await world?.opened.close()
    })

    it('equal a diff of the database after every commit', async () => {
      await world.reset()
      for (const each of FIRST_COMMANDS) await world.run(each)
      await fc.assert(fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 20 }), async (commands) => {
        await world.reset()
        for (const each of commands) await world.run(each)
      }), { numRuns: Number(process.env.RUNS ?? RUNS), endOnFailure: process.env.QUICK === '1' })
      if (isFull || process.env.SHOW)
        console.log(
          `${engineCase.name}: ${[...world.counts]
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([what, count]) => `${what} × ${count}`)
            .join(' · ')}`,
        )
      expect([...world.counts.keys()]).toEqual(expect.arrayContaining(['create', 'update', 'delete', 'restore', 'purge', 'link', 'unlink']))
    })
  })
})
