/**
 * Two servers over databases that are equal for a caller and different elsewhere. The caller reads and writes through both, and meanwhile
 * others write in one of them what the caller cannot see: the responses are the same.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineAutoApiPlugin } from '../../../src/runtime/server/define'
import { createRandom } from '../../../src/runtime/testing/noninterference/random'
import { byTier } from '../../support/tiers'
import { openEpisode, type Counts, type Name } from './two-worlds/episode'
import { openOffice, type Planted } from './two-worlds/office'

const REQUESTS = Number(process.env.REQUESTS ?? byTier({ push: 60, full: 3_000, release: 15_000 }))
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000)

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** @returns the first difference */
async function compare(caller: Name, requests: number, seed: number, planted?: Planted): Promise<{ found?: string, counts: Counts }> {
  const offices = [await openOffice(planted), await openOffice(planted)] as const
  const random = createRandom(seed)
  const counts = { reads: 0, writes: 0, ofOthers: 0, seen: 0, ended: 0 }
  while (counts.reads + counts.writes < requests) {
    const { step, ended } = await openEpisode(offices, caller, random, counts)
    for (let count = 0; count < 120 && !ended(); count++) {
      const found = await step()
      if (found) return { found, counts }
    }
    if (ended()) counts.ended++
  }
  return { counts }
}

describe('real requests through two servers', () => {
  it.each<Name>(['anonymous', 'reader', 'author', 'editor'])('have the same responses, whatever others do unseen: %s', async (caller) => {
    const { found, counts } = await compare(caller, REQUESTS, SEED)
    console.info(`${caller}, seed ${SEED}: ${JSON.stringify(counts)}`)
    expect(found, `seed ${SEED}`).toBeUndefined()
  }, 60_000 + REQUESTS * 100)

  it.each<[string, Name, RegExp, Planted]>([
    ['a reference to a hidden row', 'reader', /POST \/comments/, { mistake: 'a foreign key accepts hidden rows' }],
    ['a number that counts the writes of everybody', 'reader', /the header `x-writes` differs/, { plugins: client => [defineAutoApiPlugin({
      name: 'counter',
      async around(_ctx, next) {
        const response = await next()
        const writes = client.prepare('select count(*) from audit_log').pluck().get() as number
        return { ...response, headers: { ...response.headers, 'x-writes': String(writes) } }
      },
    })] }],
  ])('find a planted mistake: %s', async (_, caller, found, planted) => {
    expect((await compare(caller, 1_000, 1, planted)).found).toMatch(found)
  }, 120_000)
})
