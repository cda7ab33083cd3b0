/** The dearest requests that a search over the grammar finds, and how long they block the event loop. */
import { describe, expect, it } from 'vitest'
import { searchDearest, type Found } from '../../../bench/dearest/index'
import { byTier } from '../../support/tiers'

const SEED = Number(process.env.SEED ?? 1)
const TRIES = Number(process.env.TRIES ?? byTier({ push: 0, full: 300, release: 3000 }))

function show({ scan, tried, accepted, dearest }: Found): void {
  console.info(`seed ${SEED}: ${accepted} of ${tried} requests were accepted; one $like scan blocks ${scan.toFixed(0)} ms`)
  for (const { request, status, block, ratio } of dearest.slice(0, 3))
    console.info(`${ratio.toFixed(1)} × (${block.toFixed(0)} ms) ${status} ${request}`)
}

describe('the dearest request of 10 kB', () => {
  it('that only reads blocks no longer than five $like scans of the largest table', async () => {
    const found = await searchDearest({ searched: 'reads', seed: SEED, tries: TRIES })
    show(found)
    expect(found.accepted).toBeGreaterThan(TRIES / 10)
    expect(found.dearest[0]!.ratio, found.dearest[0]!.request).toBeLessThanOrEqual(5)
  }, 3_600_000)

  // A commit of better-sqlite3 cannot wait, and a cascade is one commit. So the search shows the dearest write, without a bound.
  it('that writes is known, and no write fails', async () => {
    const found = await searchDearest({ searched: 'writes', seed: SEED, tries: Math.ceil(TRIES / 4) })
    show(found)
    expect(found.accepted).toBeGreaterThan(0)
  }, 3_600_000)
})
