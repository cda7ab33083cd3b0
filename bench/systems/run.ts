/** Compares this package with other systems: one server at a time, on one core, in rounds in which the systems take turns. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishSystems } from '../publish.ts'
import { startGenerator, type Generator } from '../measure.ts'
import { check, checkRule } from './check.ts'
import { createData, type Data } from './data.ts'
import { directus } from './directus.ts'
import { sizeOf } from './install.ts'
import { OPERATIONS } from './operations.ts'
import { own } from './own.ts'
import { pocketbase } from './pocketbase.ts'
import { pinClient, start, type Started } from './process.ts'
import { describeSystems, toTables, type SystemRound, type SystemsEffort } from './report.ts'
import type { BenchOptions } from '../options.ts'
import { strapi } from './strapi.ts'
import type { System, SystemRequest } from './system.ts'

const SYSTEMS: readonly System[] = [own, pocketbase, directus, strapi]

const FULL: SystemsEffort = { rounds: 5, seconds: 1.5, warmUp: 0.5, connections: 10 }
const QUICK: SystemsEffort = { rounds: 2, seconds: 1, warmUp: 0.5, connections: 10 }
/** Seconds of all reads in turns after a start, for the compiler of Node. */
const WARM_UP = 5

/** A system that is installed, with the folder of its filled database. */
interface Ready { readonly system: System, readonly seed: string }

export async function compareSystems({ quick, publish, json, built, only = '' }: BenchOptions): Promise<void> {
  if (publish && only) throw new RangeError('--publish needs all systems: it cannot be combined with --only.')
  pinClient()
  const effort = quick ? QUICK : FULL
  const temporary = mkdtempSync(join(tmpdir(), 'auto-api-systems-'))
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
  const data = createData()
  const ready: Ready[] = []
  for (const system of SYSTEMS.filter(({ key }) => key === own.key || key.toLowerCase().includes(only.toLowerCase()))) {
    const seed = join(temporary, `${system.key}-seed`)
    mkdirSync(seed)
    try {
      await system.prepare(data, seed, built)
      ready.push({ system, seed })
    }
    catch (error) {
      console.warn(`left out: ${system.key}: ${(error as Error).message}`)
    }
  }
  console.info('left out: PostgREST: it has no setup here yet')
  const generator = startGenerator()
  const rounds: SystemRound[] = []
  const failed = new Set<System>()
  try {
    for (let round = 0; round < effort.rounds; round++) {
      for (const { system, seed } of ready.filter(({ system }) => !failed.has(system))) {
        console.info(`round ${round + 1} of ${effort.rounds}: ${system.key} …`)
        const folder = join(temporary, 'data')
        cpSync(seed, folder, { recursive: true })
        try {
          rounds.push(await measureRound(system, folder, data, generator, effort))
        }
        catch (error) {
          // The others are compared with ours.
          if (system === own) throw error
          failed.add(system)
          console.warn(`left out: ${(error as Error).message}`)
        }
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }
  finally {
    generator.stop()
  }
  const systems = ready.flatMap(({ system }) => failed.has(system) ? [] : system)
  const disk = Object.fromEntries(systems.map(({ key, installation }) => [key, sizeOf(installation)]))
  const results = describeSystems(systems, disk, rounds, effort)
  mkdirSync(join(json, '..'), { recursive: true })
  writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`)
  console.info(`\n${toTables(results)}\n`)
  if (publish && failed.size > 0) throw new Error('Not published, because a system failed.')
  if (publish) publishSystems(results)
}

async function measureRound(system: System, folder: string, data: Data, generator: Generator, effort: SystemsEffort): Promise<SystemRound> {
  const first = system.toRequest({ kind: 'list', list: { page: 1 } })!
  const server = await start(port => system.command(folder, port), first.path, join(folder, 'log'))
  try {
    const idle = server.usage().memory
    const member = await system.member(server.url, folder)
    await checkRule(system, server, data)
    const run = (requests: readonly SystemRequest[], seconds: number) => load(server, requests, generator, seconds, effort.connections)
    const requests = new Map<string, readonly SystemRequest[] | undefined>()
    const reads = OPERATIONS.filter(({ writes }) => !writes)
    for (const operation of reads) requests.set(operation.title, await check(system, operation, server, member, data))
    for (const { title } of reads) await run(requests.get(title)!, WARM_UP / reads.length)
    const measured: Record<string, Awaited<ReturnType<typeof run>>> = {}
    for (const operation of OPERATIONS) {
      const sent = requests.get(operation.title) ?? await check(system, operation, server, member, data)
      if (!sent) continue
      await run(sent, effort.warmUp)
      measured[operation.title] = await run(sent, effort.seconds)
    }
    return { system: system.key, firstAnswer: server.seconds, idle, peak: server.usage().peak, operations: measured }
  }
  catch (error) {
    throw new Error(`${system.key}: ${(error as Error).message}`, { cause: error })
  }
  finally {
    await server.stop()
  }
}

/** @throws When a request fails: errors are faster than responses. */
async function load(server: Started, requests: readonly SystemRequest[], generator: Generator, seconds: number, connections: number) {
  const before = server.usage().cpu
  const { succeeded, failed, perSecond, p99 } = await generator.run({
    url: server.url, requests: requests.map(request => ({ headers: {}, ...request })), connections, seconds,
  })
  if (failed > 0) throw new Error(`${failed} of ${succeeded + failed} requests fail, such as ${requests[0]!.path}.`)
  return { perSecond, p99, cpu: (server.usage().cpu - before) / succeeded * 1e6 }
}
