/** Measures in rounds. Targets take turns, so that a slow moment of the machine affects all of them. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Sample } from './dataset.ts'
import type { BenchRequest, Operation } from './operations.ts'
import { isPeer } from './peers.ts'
import type { RunningServer } from './server.ts'
import { toFetchOptions, translate } from './verify.ts'

export interface Effort {
  readonly rounds: number
  /** Seconds per implementation, operation and round. */
  readonly seconds: number
  /** Seconds before the first round, for the JIT compiler to optimize the code. */
  readonly warmUp: number
  readonly connections: number
}

export interface Job {
  readonly url: string
  readonly requests: readonly { readonly path: string, readonly headers: Record<string, string> }[]
  readonly connections: number
  readonly seconds: number
  /** Whether the responses are 304. */
  readonly unmodified?: boolean
}

/** The counts of the load generator. */
export interface Load {
  readonly perSecond: number
  readonly succeeded: number
  readonly failed: number
  /** The 99th percentile of the latency, in milliseconds. */
  readonly p99: number
}

export interface Reading extends Omit<Load, 'failed'> {
  /** Processor time of the server per response, in microseconds; only on Linux. */
  readonly cpu?: number
}

/** A server and the requests that it is measured with. */
export interface Target {
  readonly key: string
  readonly server: RunningServer
  readonly requests: readonly BenchRequest[]
}

/** One target per server, for one operation. A peer that cannot do the operation has none. */
export const toTargets = (operation: Operation, servers: readonly RunningServer[], sample: Sample): Target[] =>
  servers.flatMap((server) => {
    const { implementation } = server
    const requests = isPeer(implementation) ? translate(operation, implementation, sample) : operation.requests(sample)
    return requests ? [{ key: implementation.key, server, requests }] : []
  })

export interface Generator {
  readonly run: (job: Job) => Promise<Load>
  readonly stop: () => void
}

export function startGenerator(): Generator {
  const child = fork(fileURLToPath(new URL('./load.ts', import.meta.url)), { stdio: 'inherit' })
  return {
    run: job => new Promise((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`The load generator exited with code ${code}.`))
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

/** Rounds in which a request is too slow are repeated, up to this many seconds. */
const MAX_SECONDS = 30

/** Measures all targets in every round. Returns the readings by target, one per round. */
export async function measure(targets: readonly Target[], generator: Generator, effort: Effort): Promise<Map<string, Reading[]>> {
  const readings = new Map(targets.map(({ key }) => [key, [] as Reading[]]))
  for (const target of targets) await load(target, generator, { ...effort, seconds: effort.warmUp })
  let { seconds } = effort
  for (let round = 0; round < effort.rounds;) {
    const loads = new Map<string, Reading>()
    // The order is reversed after each round, so that no target always follows the same other one.
    for (const target of round % 2 === 0 ? targets : targets.toReversed())
      loads.set(target.key, await load(target, generator, { ...effort, seconds }))
    const empty = [...loads].find(([, { succeeded }]) => succeeded === 0)
    if (!empty) {
      for (const [key, reading] of loads) readings.get(key)!.push(reading)
      round++
      continue
    }
    // A round without a response has no cost per response. Longer rounds have one.
    if (seconds > MAX_SECONDS) throw new Error(`No request to ${empty[0]} ended within ${seconds} seconds.`)
    seconds *= 2
  }
  return readings
}

/** Measures one target. @throws When a request fails: errors are faster than responses. */
export async function load({ key, server, requests }: Target, generator: Generator, { connections, seconds }: Effort): Promise<Reading> {
  const { pathname } = new URL(server.posts)
  const sent = requests.map(request => ({ path: pathname + request.path, ...toFetchOptions(request) }))
  const before = server.cpuSeconds()
  const { failed, ...counted } = await generator.run({
    url: server.posts,
    requests: sent,
    connections,
    seconds,
    unmodified: requests[0]!.ifNoneMatch !== undefined,
  })
  const after = server.cpuSeconds()
  if (failed > 0) throw new Error(`${failed} requests to ${key} failed, such as ${pathname}${requests[0]!.path}.`)
  return { ...counted, ...before !== undefined && { cpu: (after! - before) / counted.succeeded * 1e6 } }
}
