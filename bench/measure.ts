/** The rounds: every lane in turn, so that a slow minute of the machine hits all of them. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Sample } from './dataset.ts'
import type { Ask, Operation } from './operations.ts'
import { isPeer } from './peers.ts'
import type { RunningServer } from './server.ts'
import { toRequest, translate } from './verify.ts'

export interface Effort {
  readonly rounds: number
  /** Seconds per contestant, operation and round. */
  readonly seconds: number
  /** Seconds before the first round, so that the code that is measured is the code that stays. */
  readonly warmUp: number
  readonly connections: number
}

export interface Job {
  readonly url: string
  readonly requests: readonly { readonly path: string, readonly headers: Record<string, string> }[]
  readonly connections: number
  readonly seconds: number
}

/** What the load generator counted. */
export interface Load {
  readonly perSecond: number
  readonly answered: number
  readonly failed: number
  /** Milliseconds that 99 of 100 answers stayed below. */
  readonly p99: number
}

export interface Reading extends Omit<Load, 'failed'> {
  /** Processor time of the server per answer in microseconds, where the system tells. */
  readonly cpu?: number
}

/** What is compared: requests to a server. */
export interface Lane {
  readonly key: string
  readonly server: RunningServer
  readonly asks: readonly Ask[]
}

/** One operation, each server a lane. */
export const toLanes = (operation: Operation, servers: readonly RunningServer[], sample: Sample): Lane[] => servers.flatMap((server) => {
  const { contestant } = server
  const asks = isPeer(contestant) ? translate(operation, contestant, sample) : operation.asks(sample)
  return asks ? [{ key: contestant.key, server, asks }] : []
})

export interface Generator {
  readonly run: (job: Job) => Promise<Load>
  readonly stop: () => void
}

export function startGenerator(): Generator {
  const child = fork(fileURLToPath(new URL('./load.ts', import.meta.url)), { stdio: 'inherit' })
  return {
    run: job => new Promise((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`the load generator ended with ${code}`))
      child.once('exit', ended)
      child.once('message', (load: Load) => {
        child.off('exit', ended)
        resolve(load)
      })
      child.send(job)
    }),
    stop: () => child.kill(),
  }
}

/** Readings by lane and round. */
export async function measure(lanes: readonly Lane[], generator: Generator, effort: Effort): Promise<Map<string, Reading[]>> {
  const readings = new Map(lanes.map(({ key }) => [key, [] as Reading[]]))
  for (const lane of lanes) await load(lane, generator, { ...effort, seconds: effort.warmUp })
  for (let round = 0; round < effort.rounds; round++) {
    // Who goes first changes: what the one before leaves behind is not always left to the same one.
    for (const lane of round % 2 === 0 ? lanes : lanes.toReversed()) readings.get(lane.key)!.push(await load(lane, generator, effort))
  }
  return readings
}

/** @throws When a request fails under load: its speed would be that of an error. */
export async function load({ key, server, asks }: Lane, generator: Generator, { connections, seconds }: Effort): Promise<Reading> {
  const { pathname } = new URL(server.posts)
  const requests = asks.map(ask => ({ path: pathname + ask.path, ...toRequest(ask) }))
  const before = server.cpuSeconds()
  const { failed, ...counted } = await generator.run({ url: server.posts, requests, connections, seconds })
  const after = server.cpuSeconds()
  if (failed > 0) throw new Error(`${failed} requests to ${key} failed under load: ${pathname}${asks[0]!.path} and the like`)
  return { ...counted, ...before !== undefined && { cpu: (after! - before) / counted.answered * 1e6 } }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
