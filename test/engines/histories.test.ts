/**
 * Clients write lists, registers and sets through two instances of the API over one database, and read them meanwhile. The dependencies
 * between their requests have no cycle, so each request takes effect at one moment between its begin and its response.
 */
import { describe, expect, it } from 'vitest'
import { isReachable, SERVICES } from '../support/services'
import { byTier, isFull, isRelease } from '../support/tiers'
import { createRandom } from './histories/client'
import { createWorld } from './histories/databases'
import { openInstances } from './histories/in-process'
import { inWords, runClients } from './histories/run'

/** Requests of a run with an audit log, and of one without it. In the release tier, they are a million operations of each engine. */
const ENGINES = [
  { name: 'better-sqlite3', requests: byTier({ push: 2_000, full: 30_000, release: 115_000 }) },
  { name: 'libsql', requests: byTier({ push: 0, full: 8_000, release: 115_000 }) },
  { name: 'd1', requests: byTier({ push: 0, full: 1_500, release: 115_000 }) },
  { name: 'node-postgres', service: 'postgres', requests: byTier({ push: 1_000, full: 20_000, release: 115_000 }) },
  { name: 'mysql2', service: 'mariadb', requests: byTier({ push: 0, full: 20_000, release: 115_000 }) },
]

const CHOSEN = process.env.ENGINE?.split(',')
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000)

const reachable = async (name: string | undefined) => name === undefined || isReachable(SERVICES.find(service => service.name === name)!)

describe.each(ENGINES.filter(({ name, requests }) => CHOSEN ? CHOSEN.some(part => name.includes(part)) : requests > 0))(
  'histories on $name',
  async ({ name, service, requests }) => {
    it.skipIf(!await reachable(service)).each([['with', true], ['without', false]])('have no anomaly, %s an audit log', async (_, log) => {
      const count = Number(process.env.REQUESTS ?? requests)
      const world = await createWorld(name, log)
      const random = createRandom(SEED)
      const pause = () => random() < 0.15 ? new Promise(resolve => setTimeout(resolve, random() * 3)) : undefined
      const { servers, close } = await openInstances(world, 2, { log, pause })
      try {
        const summary = await runClients({ servers, world, log, seed: SEED, requests: count })
        console.log(`${name}, ${log ? 'audit log' : 'no log'}, seed ${SEED}: ${inWords(summary)}`)
        expect(summary.problems).toEqual([])
        expect(summary.anomalies.slice(0, 3).map(({ type, text }) => `${type}\n${text}`)).toEqual([])
      }
      finally {
        await close()
        await world.remove()
      }
    }, isRelease ? 10_800_000 : isFull ? 900_000 : 60_000)
  },
)
