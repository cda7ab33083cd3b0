/**
 * Concurrent requests whose statements run in the order of a seed, on two servers, with a database that fails: no order shows or changes a
 * row of another tenant, loses an acknowledged write, applies half of one, or leaves rows that no order of whole requests leaves.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Answered } from '../../support/server'
import { byTier, isFull } from '../../support/tiers'
import { checkCommit, checkList, normalized, sameRows } from './checks'
import { CALLERS, plans, send, type Plan } from './plans'
import { Scheduler } from './scheduler'
import { openSimulation, type Fault, type Simulation } from './simulation'

const RUNS = Number(process.env.RUNS ?? byTier({ push: 600, full: 30_000, release: 100_000 }))
const LIMIT_MS = byTier({ push: 20_000, full: 14 * 60_000, release: 60 * 60_000 })
const SEED = Number(process.env.SEED ?? Date.now() % 2 ** 31)
/** The `path` of a failed run: with its seed, and `RUNS=1`, only this one runs. */
const REPLAY = process.env.REPLAY

/** Of 200 statements, a few fail. */
const toFault = (luck: number): Fault => luck < 3 ? 'busy' : luck < 6 ? 'lost' : luck < 10 ? 'unknown' : undefined

let simulation: Simulation
/** The same requests, one after another. */
let serial: Simulation

beforeAll(async () => {
  // The API reports each lost connection.
  vi.spyOn(console, 'error').mockImplementation(() => {})
  simulation = await openSimulation()
  serial = await openSimulation()
})
afterAll(() => {
  vi.restoreAllMocks()
  simulation?.close()
  serial?.close()
})

async function etagsOf({ servers }: Simulation): Promise<Map<number, string>> {
  const etags = new Map<number, string>()
  for (const id of [1, 2, 3]) {
    const { headers } = await servers[0]!.request('GET', `/api/posts/${id}`, { caller: CALLERS[0]! })
    etags.set(id, headers.get('etag') ?? '')
  }
  return etags
}

const counts = { runs: 0, steps: 0, commits: 0, faults: 0, statuses: new Map<number, number>() }

async function run({ requests, order, luck }: Plan): Promise<{ answers: readonly Answered[], trace: readonly string[] }> {
  const scheduler = new Scheduler(count => order.next().value % count)
  simulation.begin(scheduler, () => toFault(luck.next().value))
  const etags = await etagsOf(simulation)
  const answers = await scheduler.run(requests.map(request => () => send(simulation.servers, request, etags)))
  return { answers, trace: scheduler.trace }
}

async function check(plan: Plan): Promise<void> {
  const { requests } = plan
  const { answers, trace } = await run(plan)
  const { commits, faults } = simulation
  counts.runs++
  counts.steps += trace.length
  counts.commits += commits.length
  counts.faults += faults.size
  for (const commit of commits) checkCommit(commit, CALLERS[requests[commit.task]!.who]!)

  const changing = commits.filter(({ before, after }) => !sameRows(before, after))
  for (const [task, { status, body, headers }] of answers.entries()) {
    counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1)
    const { kind, who } = requests[task]!
    const label = `${task} ${kind}: ${status} ${JSON.stringify(body)}`
    const own = changing.filter(commit => commit.task === task).length
    expect(own, `${label} commits at most once`).toBeLessThanOrEqual(1)
    if (status >= 500) expect(faults.has(task), `${label} without a fault`).toBe(true)
    else if (status >= 400) expect(own, `${label} changes nothing`).toBe(0)
    else if (kind === 'list') checkList(body, CALLERS[who]!.tenant)
    else if (!MAY_CHANGE_NOTHING.has(kind) && !headers.has('idempotent-replayed')) expect(own, `${label} is committed`).toBe(1)
  }

  // The requests that committed, one after another in the order of their commits, leave the same rows.
  serial.begin()
  const etags = await etagsOf(serial)
  for (const { task } of changing) {
    const { status, body } = await send(serial.servers, requests[task]!, etags)
    const label = `${task} ${requests[task]!.kind} alone: ${JSON.stringify(body)}`
    if (answers[task]!.status < 300) expect(status, label).toBe(answers[task]!.status)
    else expect(status, label).toBeLessThan(300)
  }
  expect(normalized(simulation.dump())).toEqual(normalized(serial.dump()))
  expect(onceCreated(), 'a request with a key takes effect once').toEqual([...new Set(onceCreated())])
}

/** The writes that a row can already satisfy. */
const MAY_CHANGE_NOTHING: ReadonlySet<string> = new Set(['link', 'unlink', 'replace links', 'move comment', 'move reply'])

/** Callers with one key and one title create it once each: who, and the title. */
const onceCreated = () => simulation.commits.flatMap(({ entries }) => entries)
  .filter(([kind, resource]) => kind === 'create' && resource === 'posts')
  .map(([, , record, , user]) => {
    const title = simulation.dump().posts.find(([id]) => String(id) === record)?.[2]
    return String(title).startsWith('once') ? `${String(user)} ${String(title)}` : `post ${String(record)}`
  })

describe('requests whose statements run in the order of a seed', () => {
  it('take effect as if they ran one after another', { timeout: 20 * 60_000 + RUNS * 30 }, async () => {
    await fc.assert(fc.asyncProperty(plans, check), { numRuns: RUNS, seed: SEED, path: REPLAY, interruptAfterTimeLimit: LIMIT_MS })
    const statuses = [...counts.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status} × ${count}`).join(' · ')
    const { runs, steps, commits, faults } = counts
    console.info(`interleavings: ${runs} runs from seed ${SEED}, ${steps} steps, ${commits} commits, ${faults} requests with faults; ${statuses}`)
    if (REPLAY === undefined) expect(counts.statuses.size).toBeGreaterThan(5)
  })

  // On a busy machine, a request can still be on the way to its next step when the next one is chosen: not on push.
  if (isFull) it('run in the same order again with the same seed', async () => {
    // The first pass only loads modules that few requests need, which takes a time of its own.
    const traces: string[][] = [[], [], []]
    for (const list of traces) {
      await fc.assert(fc.asyncProperty(plans, async (plan) => {
        const { answers, trace } = await run(plan)
        list.push([...trace, ...answers.map(({ status }) => String(status)), JSON.stringify(normalized(simulation.dump()))].join('\n'))
      }), { numRuns: 50, seed: 7 })
    }
    expect(traces[2]).toEqual(traces[1])
  })
})
