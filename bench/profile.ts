/** Profiles an implementation with Node's CPU profiler: one run per operation, functions by self time. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Implementation } from './implementations.ts'
import type { Sample } from './dataset.ts'
import { load, toTargets, type Effort, type Generator } from './measure.ts'
import type { Operation } from './operations.ts'
import { startServer, type RunningServer } from './server.ts'

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string, readonly url: string, readonly lineNumber: number }
  }[]
  /** Microseconds, of the same clock as `process.hrtime`. */
  readonly startTime: number
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

export interface Share {
  readonly name: string
  readonly share: number
}

const SHOWN = 30
const SECONDS = 5

/** Microseconds. */
const now = () => Number(process.hrtime.bigint() / 1000n)

/** The functions with the largest self time, as shares of the busy time. Startup and warm-up are left out. */
export async function profileCpu(
  implementation: Implementation,
  operation: Operation,
  database: string,
  folder: string,
  sample: Sample,
  generator: Generator,
  effort: Effort,
): Promise<{ file: string, shares: Share[] }> {
  const into = join(folder, operation.title.replace(/\W+/g, '-'))
  mkdirSync(into, { recursive: true })
  const server = await startServer(implementation, database, ['--cpu-prof', `--cpu-prof-dir=${into}`])
  const { from, to } = await underLoad(server, operation, sample, generator, effort).finally(server.stop)
  const file = join(
    into,
    readdirSync(into).find(name => name.endsWith('.cpuprofile'))!,
  )
  return { file, shares: selfTimes(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile, from, to).slice(0, SHOWN) }
}

/** Start and end of the load, after the warm-up. */
async function underLoad(
  server: RunningServer,
  operation: Operation,
  sample: Sample,
  generator: Generator,
  effort: Effort,
): Promise<{ from: number, to: number }> {
  const [target] = toTargets(operation, [server], sample)
  await load(target!, generator, { ...effort, seconds: effort.warmUp })
  const from = now()
  await load(target!, generator, { ...effort, seconds: SECONDS })
  return { from, to: now() }
}

function selfTimes({ nodes, startTime, samples, timeDeltas }: CpuProfile, from: number, to: number): Share[] {
  const names = new Map(nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) =>
    [id, `${functionName || '(anonymous)'}${url ? ` ${basename(url)}:${lineNumber + 1}` : ''}`]))
  const times = new Map<string, number>()
  let clock = startTime
  samples.forEach((id, index) => {
    clock += timeDeltas[index]!
    if (clock < from || clock > to) return
    const name = names.get(id)!
    // A sample covers the time until the next sample.
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index + 1] ?? 0))
  })
  times.delete('(idle)')
  const all = times.values().reduce((sum, time) => sum + time, 0)
  return [...times].map(([name, time]) => ({ name, share: time / all })).toSorted((a, b) => b.share - a.share)
}
