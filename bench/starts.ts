/**
 * Measures the time until the first response of a server, with 6 and with 200 resources, beside an empty Nuxt app, and the size of a Worker
 * with 200 resources.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDatabase, type Sample } from './dataset.ts'
import { appFolder, IMPLEMENTATIONS, type Implementation } from './implementations.ts'
import { median } from './median.ts'
import { startServer } from './server.ts'
import { printWorker } from './worker.ts'

const ROUNDS = 9
const RESOURCES = [6, 200]
const MAX_RATIO = 1.5
/** What the start with 6 resources can take: a multiple of the processor time of an empty Nuxt app, and seconds. */
const MAX_OF_EMPTY = { ratio: 1.15, seconds: 0.3 }

const folderOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

interface Start {
  readonly seconds: number
  /** Processor time; only on Linux. */
  readonly cpu?: number
}

/** Prints the medians and the ratios. @throws When an app does not build, or 200 resources need too much more time. */
export async function compareStarts(): Promise<void> {
  const d = IMPLEMENTATIONS.find(({ key }) => key === 'd')!
  const empty = { resources: 'empty app', implementation: { ...d, entry: build(folderOf('empty'), 'empty') }, starts: [] as Start[] }
  const apps = [
    ...RESOURCES.map(resources => ({
      resources: String(resources),
      implementation: { ...d, entry: build(appFolder, `start-${resources}`, resources) },
      starts: [] as Start[],
    })),
    empty,
  ]
  const temporary = mkdtempSync(join(tmpdir(), 'auto-api-bench-'))
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
  const database = join(temporary, 'posts.sqlite')
  const sample = await buildDatabase(database)
  // The first start of each app is not measured: it fills the caches of the machine.
  for (let round = -1; round < ROUNDS; round++) {
    for (const { implementation, starts } of round % 2 === 0 ? apps : apps.toReversed()) {
      const taken = await start(implementation, database, sample)
      if (round >= 0) starts.push(taken)
    }
  }
  const [few] = apps
  const ratios = apps.map(({ starts }) => median(starts.map(({ seconds, cpu }, round) => {
    const baseline = few!.starts[round]!
    return cpu === undefined ? seconds / baseline.seconds : cpu / baseline.cpu!
  })))
  console.info([
    `| resources | ms until the first response, median of ${ROUNDS} | CPU ms | ratio of the CPU time |`,
    '| --: | --: | --: | --: |',
    ...apps.map(({ resources, starts }, index) => `| ${[
      resources,
      (1000 * median(starts.map(({ seconds }) => seconds))).toFixed(0),
      starts[0]!.cpu === undefined ? '' : (1000 * median(starts.map(({ cpu }) => cpu!))).toFixed(0),
      ratios[index]!.toFixed(2),
    ].join(' | ')} |`),
  ].join('\n'))
  printWorker(RESOURCES.at(-1)!)
  const cpuOf = ({ starts }: typeof empty) => median(starts.map(({ cpu = 0 }) => cpu))
  const limit = MAX_OF_EMPTY.ratio * cpuOf(empty) + MAX_OF_EMPTY.seconds
  if (cpuOf(few!) > limit)
    throw new Error(`The start takes ${cpuOf(few!).toFixed(2)} s of the processor, and at most ${limit.toFixed(2)} s beside an empty app.`)
  if (ratios[1]! > MAX_RATIO) throw new Error(`The start with ${RESOURCES[1]} resources takes more than ${MAX_RATIO} times as long.`)
}

/** Starts a server, sends a request to it, and stops it. */
async function start(implementation: Implementation, database: string, { writer }: Sample): Promise<Start> {
  const begin = performance.now()
  const server = await startServer(implementation, database)
  try {
    const response = await fetch(`${server.posts}?limit=20&count=none`, { headers: { 'x-caller': String(writer) } })
    const { data } = await response.json() as { data?: unknown[] }
    if (data?.length !== 20) throw new Error(`The first response is ${response.status}, with ${data?.length} posts.`)
    return { seconds: (performance.now() - begin) / 1000, cpu: server.cpuSeconds() }
  }
  finally {
    await server.stop()
  }
}

/** Builds an app, with a number of resources. Returns the script of its server. */
function build(folder: string, name: string, resources = 0): string {
  const output = folderOf(`.output/${name}`)
  console.info(`building ${name} …`)
  const { status, stdout, stderr } = spawnSync('nuxi', ['build', folder], {
    env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1', BENCH_RESOURCES: String(resources), BENCH_OUTPUT: output },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`The app does not build.\n${stdout}\n${stderr}`)
  return `${output}/server/index.mjs`
}
