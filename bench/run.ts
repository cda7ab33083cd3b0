/** The bench: builds app and database, proves that everybody answers the same, then measures in rounds. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { appFolder, CONTESTANTS } from './contestants.ts'
import { buildDatabase, type Sample } from './dataset.ts'
import { compareBuilds } from './builds.ts'
import { cursorLanes } from './cursor.ts'
import { measure, startGenerator, toLanes, type Generator } from './measure.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { HELP, readOptions, type BenchOptions } from './options.ts'
import { isPeer, preparePeers, type Peer } from './peers.ts'
import { comparePostgres } from './postgres.ts'
import { profile } from './profile.ts'
import { describeRun, toFootnotes, toLines, toMarkdown, toPeerTable, type Measured } from './report.ts'
import { compareResources } from './resources.ts'
import { startServer, type RunningServer } from './server.ts'
import { soak } from './soak.ts'
import { compareTypes } from './types.ts'
import { assertSameAnswers, assertSameRefusals, assertSameRows, refusesNobody } from './verify.ts'

/** Who is measured when it has to be quick. */
const QUICK: readonly string[] = ['a', 'd']

/** A page deep in the list against the first one, both by cursor, of the contestant itself. */
const CURSOR = 'cursor, page 1 and at 95 %'

const folder = fileURLToPath(new URL('.', import.meta.url))

async function main(options: BenchOptions): Promise<void> {
  if (options.builds) return compareBuilds()
  if (options.types) return compareTypes()
  const operations = OPERATIONS.filter(({ title }) => title.includes(options.only ?? ''))
  if (operations.length === 0 && !CURSOR.includes(options.only ?? '')) throw new Error(`no operation is called "${options.only}"`)
  if (operations.length === 0 && options.profile) throw new Error(`"${CURSOR}" is not an operation of its own that could be profiled; "list" is`)

  buildApp(options)
  const temporary = mkdtempSync(join(tmpdir(), 'auto-api-bench-'))
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
  const generator = startGenerator()
  try {
    const database = join(temporary, 'posts.sqlite')
    console.info('building the database …')
    const sample = await buildDatabase(database)
    if (options.soak) await soak(database, sample)
    else if (options.profile) await showProfiles(options, operations, database, sample, generator)
    else await compare(options, operations, database, sample, generator)
  }
  finally {
    generator.stop()
  }
}

/** As it would be deployed. */
function buildApp({ built }: BenchOptions): void {
  if (built && existsSync(CONTESTANTS[0].entry)) return
  console.info('building the app …')
  const { status, stdout, stderr } = spawnSync('nuxi', ['build', appFolder], {
    env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1' },
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`the app does not build\n${stdout}\n${stderr}`)
}

async function compare({ effort, json, only, peers: withPeers, postgres: withPostgres, quick, resources }: BenchOptions, operations: readonly Operation[], database: string, sample: Sample, generator: Generator): Promise<void> {
  const servers: RunningServer[] = []
  try {
    const peers = await startPeers(quick || !withPeers ? [] : preparePeers(), database)
    servers.push(...peers)
    for (const contestant of CONTESTANTS.filter(({ key }) => !quick || QUICK.includes(key))) {
      // A file of its own for each: nobody waits for another one's lock or finds pages in another one's cache.
      const copy = database.replace('.sqlite', `-${contestant.key}.sqlite`)
      copyFileSync(database, copy)
      servers.push(await startServer(contestant, copy))
    }
    const own = servers.filter(({ contestant }) => !isPeer(contestant))

    await assertSameRefusals(own, sample)
    const d = own.find(({ contestant }) => contestant.key === 'd')!
    const reads = operations.filter(({ writes }) => writes === undefined)
    const writes = operations.filter(({ writes }) => writes !== undefined)
    const sizes = new Map<Operation, number>()
    const answering = new Map<Operation, RunningServer[]>()
    // What is written is read by nobody's list before all lists were compared.
    for (const operation of [...reads, ...writes]) {
      sizes.set(operation, await assertSameAnswers(operation, own, sample))
      answering.set(operation, await provePeers(operation, d, peers, sample))
    }
    console.info(`${own.length} contestants answer alike, byte by byte, and refuse alike`)
    for (const peer of peers) if (!await refusesNobody(peer, sample)) console.warn(`${peer.contestant.title} answers nobody's list`)

    const measured: Measured[] = []
    const measureAll = async (operations: readonly Operation[]) => {
      for (const operation of operations) {
        console.info(`measuring ${operation.title} …`)
        const lanes = toLanes(operation, [...own, ...answering.get(operation)!], sample)
        const readings = await measure(lanes, generator, effort)
        measured.push({ operation: operation.title, bytes: sizes.get(operation)!, writes: operation.writes, readings })
      }
    }
    await measureAll(reads)
    if (!quick && CURSOR.includes(only ?? '')) {
      console.info(`measuring ${CURSOR} …`)
      measured.push({ operation: CURSOR, bytes: 0, readings: await measure(await cursorLanes(d, sample), generator, effort) })
    }
    if (resources) measured.push(...await compareResources(d, database, sample, generator, effort))
    if (withPostgres) measured.push(...await comparePostgres(database, sample, generator, effort))
    // Last: they make the files larger, and each contestant's by as much as it is fast.
    await measureAll(writes)

    const about = describeRun(effort, [...own, ...peers].map(({ contestant }) => contestant))
    const lines = toLines(measured)
    mkdirSync(dirname(json), { recursive: true })
    writeFileSync(json, `${JSON.stringify({ ...about, lines }, null, 2)}\n`)
    console.info(`\n${toMarkdown(lines)}\n\n${peers.length > 0 ? `${toPeerTable(lines, peers.map(({ contestant }) => contestant.key))}\n\n` : ''}${toFootnotes(about)}`)
  }
  finally {
    await Promise.all(servers.map(server => server.stop()))
  }
}

/** Those that start; the others are left out with what they said. */
async function startPeers(peers: readonly Peer[], database: string): Promise<RunningServer[]> {
  const started: RunningServer[] = []
  for (const peer of peers) {
    const copy = database.replace('.sqlite', `-${peer.key.replaceAll(/\W+/g, '-')}.sqlite`)
    copyFileSync(database, copy)
    peer.prepare?.(copy)
    try {
      started.push(await startServer(peer, copy))
    }
    catch (error) {
      console.warn(`${peer.title} is left out: ${(error as Error).message}`)
    }
  }
  return started
}

/** The peers that answer with our rows; the others are left out with what they answered instead. */
async function provePeers(operation: Operation, ours: RunningServer, peers: readonly RunningServer[], sample: Sample): Promise<RunningServer[]> {
  const answering: RunningServer[] = []
  for (const peer of peers) {
    try {
      await assertSameRows(operation, ours, peer, sample)
      answering.push(peer)
    }
    catch (error) {
      console.warn(`left out: ${(error as Error).message}`)
    }
  }
  return answering
}

async function showProfiles({ effort, profile: key }: BenchOptions, operations: readonly Operation[], database: string, sample: Sample, generator: Generator): Promise<void> {
  const contestant = CONTESTANTS.find(contestant => contestant.key === key)
  if (!contestant) throw new Error(`no contestant is called "${key}"; there are ${CONTESTANTS.map(({ key }) => key).join(', ')}`)
  for (const operation of operations) {
    const { file, shares } = await profile(contestant, operation, database, join(folder, '.output/profiles', contestant.key), sample, generator, effort)
    console.info(`\n${operation.title}, ${contestant.title}: ${file}`)
    for (const { name, share } of shares) console.info(`${(share * 100).toFixed(1).padStart(5)} %  ${name}`)
  }
}

// A listener per server.
process.setMaxListeners(50)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const options = readOptions(process.argv.slice(2), folder)
if (options === 'help') console.info(HELP)
else await main(options)
