/**
 * Clients write lists, registers and sets through two servers, each of which is killed again and again. A request without a response has
 * written everything or nothing, and no acknowledged write is lost.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReachable, SERVICES } from '../support/services'
import { byTier, isRelease } from '../support/tiers'
import { bundleChild, createChild } from './histories/children'
import { createRandom } from './histories/client'
import { createWorld } from './histories/databases'
import { inWords, runClients } from './histories/run'

/** D1 has no process of its own that could be killed. */
const ENGINES = [
  { name: 'better-sqlite3' }, { name: 'libsql' }, { name: 'node-postgres', service: 'postgres' }, { name: 'mysql2', service: 'mariadb' },
]
const KILLS = Number(process.env.KILLS ?? byTier({ push: 3, full: 12, release: 100 }))
const CHOSEN = process.env.ENGINE?.split(',')
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000)

const reachable = async (name: string | undefined) => name === undefined || isReachable(SERVICES.find(service => service.name === name)!)

let bundle: Awaited<ReturnType<typeof bundleChild>>
beforeAll(async () => {
  bundle = await bundleChild()
}, 60_000)
afterAll(() => bundle?.remove())

const isChosen = ({ name }: { readonly name: string }) => !CHOSEN || CHOSEN.some(part => name.includes(part))

describe.each(ENGINES.filter(isChosen))('histories on $name', async ({ name, service }) => {
  it.skipIf(!await reachable(service)).each([['with', true], ['without', false]])(
    `have no anomaly while servers are killed ${KILLS} times, %s an audit log`,
    async (_, log) => {
      const world = await createWorld(name, log)
      const children = [0, 1].map(() => createChild(bundle.file, world, log))
      const random = createRandom(SEED)
      await Promise.all(children.map(({ start }) => start()))
      let kills = 0
      const killing = (async () => {
        for (; kills < KILLS; kills++) {
          await wait(300 + random() * 700)
          const { kill, start } = children[kills % 2]!
          await kill()
          await wait(random() * 200)
          await start()
        }
      })()
      try {
        const running = runClients({
          servers: children.map(({ send }) => send), world, log, seed: SEED, requests: 0, settling: 300, isDone: () => kills >= KILLS,
        })
        const [summary] = await Promise.all([running, killing])
        console.log(`${name}, ${log ? 'audit log' : 'no log'}, ${kills} kills, seed ${SEED}: ${inWords(summary)}`)
        expect(summary.problems).toEqual([])
        expect(summary.anomalies.slice(0, 3).map(({ type, text }) => `${type}\n${text}`)).toEqual([])
        expect(summary.statuses.none).toBeGreaterThan(0)
      }
      finally {
        await killing
        await Promise.all(children.map(({ kill }) => kill()))
        await world.remove()
      }
    },
    isRelease ? 1_200_000 : 300_000,
  )
})
