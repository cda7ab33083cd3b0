/** The benchmark: builds the app and the database, checks that all implementations return the same responses, then measures in rounds. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { appFolder, BARE, comparedWith, IMPLEMENTATIONS, type Implementation } from './implementations.ts'
import { buildDatabase, type Sample } from './dataset.ts'
import { compareBuilds } from './builds.ts'
import { CACHED_LIST, compareCache, compareKnownTotals, KNOWN_TOTAL } from './cache.ts'
import { compareCursors, CURSOR } from './cursor.ts'
import { compareGrowth } from './growth.ts'
import { accept, guard } from './guard.ts'
import { compareLive } from './live/run.ts'
import { measure, startGenerator, toTargets, type Generator } from './measure.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { HELP, readOptions, type BenchOptions } from './options.ts'
import { compareOutbox, OUTBOX_OPERATIONS } from './outbox.ts'
import { comparePages, PAGE } from './pages.ts'
import { isPeer, preparePeers, type Peer } from './peers.ts'
import { PLUGIN_OPERATIONS, comparePlugins } from './plugins.ts'
import { profileCpu } from './profile.ts'
import { compareRemote, REMOTE_SERVERS } from './remote.ts'
import { publish as publishResults } from './publish.ts'
import { describeRun, toLines, type Measured } from './report.ts'
import { startServer, type RunningServer } from './server.ts'
import { compareServers } from './servers.ts'
import { compareSaves } from './saves.ts'
import { soak } from './soak.ts'
import { compareStarts } from './starts.ts'
import { compareSystems } from './systems/run.ts'
import { compareTypes } from './types.ts'
import { toFootnotes, toMarkdown, toPeerTable, type Line } from './tables.ts'
import { compareVariant, variantsOf } from './variants.ts'
import { assertSameResponses, assertSameRefusals, assertSameRows, refusesAnonymous } from './verify.ts'
import { compareWebhooks } from './webhooks/run.ts'

/** The implementations that `--quick` measures, beside `bare`. */
const QUICK: readonly string[] = ['a', 'd']

const folder = fileURLToPath(new URL('.', import.meta.url))

async function main(options: BenchOptions): Promise<void> {
  if (options.builds) return compareBuilds()
  if (options.starts) return compareStarts()
  if (options.saves) return compareSaves()
  if (options.types) return compareTypes()
  if (options.growth !== undefined) return growth(options, options.growth)
  if (options.servers) return compareServers()
  if (options.systems) return compareSystems(options)
  const operations = OPERATIONS.filter(({ title }) => title.includes(options.only ?? ''))
  const outbox = OUTBOX_OPERATIONS.filter(({ title }) => title.includes(options.only ?? ''))
  const variants = variantsOf(options)
  const audited = PLUGIN_OPERATIONS.filter(title => title.includes(options.only ?? ''))
  const cached = [CACHED_LIST, KNOWN_TOTAL].filter(({ title }) => title.includes(options.only ?? ''))
  const count = operations.length + outbox.length + variants.length + audited.length + cached.length
  if (count === 0 && ![CURSOR, PAGE].some(title => title.includes(options.only ?? '')))
    throw new Error(`No operation has "${options.only}" in its name.`)
  if (operations.length + outbox.length + cached.length === 0 && options.profile)
    throw new Error(`"${options.only}" cannot be profiled. Use "list".`)

  buildApp(options)
  const temporary = mkdtempSync(join(tmpdir(), 'auto-api-bench-'))
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
  const generator = startGenerator()
  try {
    const database = join(temporary, 'posts.sqlite')
    console.info('building the database …')
    const sample = await buildDatabase(database)
    if (options.live) await compareLive(database)
    else if (options.webhooks) await compareWebhooks(database, sample)
    else if (options.soak) await soak(database, sample)
    else if (options.profile) await showProfiles(options, operations, database, sample, generator)
    else await measureRoutes(options, operations, database, sample, generator)
  }
  finally {
    generator.stop()
  }
}

async function measureRoutes(
  options: BenchOptions, operations: readonly Operation[], database: string, sample: Sample, generator: Generator,
): Promise<void> {
  const measureOnce = async () => {
    // Servers of an earlier run have left their logs beside the copies of the database.
    const copy = join(mkdtempSync(join(dirname(database), 'run-')), 'posts.sqlite')
    copyFileSync(database, copy)
    return await compare(options, operations, copy, sample, generator)
  }
  if (options.accept) await accept(measureOnce)
  else if (!options.guard) await measureOnce()
  else if (!await guard(measureOnce)) process.exitCode = 1
}

async function growth({ effort, only }: BenchOptions, largest: number): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'auto-api-bench-'))
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
  const generator = startGenerator()
  try {
    await compareGrowth({ largest, only, effort: { ...effort, connections: 4 } }, temporary, generator)
  }
  finally {
    generator.stop()
  }
}

/** Builds the app for production. */
function buildApp({ built }: BenchOptions): void {
  if (built && existsSync(IMPLEMENTATIONS[0].entry)) return
  console.info('building the app …')
  const { status, stdout, stderr } = spawnSync('nuxi', ['build', appFolder], {
    env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1' },
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`The app does not build.\n${stdout}\n${stderr}`)
}

async function compare(
  { against, built, effort, json, only, peers: withPeers, publish, quick, remote, variants: withVariants }: BenchOptions,
  operations: readonly Operation[],
  database: string,
  sample: Sample,
  generator: Generator,
): Promise<readonly Line[]> {
  const servers: RunningServer[] = []
  const measured: Measured[] = []
  /** Writes and prints what has been measured. A part that fails late does not lose the parts before it. */
  const showResults = () => {
    const results = { ...describeRun(effort, servers.map(({ implementation }) => implementation)), lines: toLines(measured) }
    mkdirSync(dirname(json), { recursive: true })
    writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`)
    const others = servers.flatMap(({ implementation }) => isPeer(implementation) ? [implementation.key] : [])
    const byPeer = others.length > 0 ? `${toPeerTable(results.lines, others)}\n\n` : ''
    console.info(`\n${toMarkdown(results.lines)}\n\n${byPeer}${toFootnotes(results)}`)
    return results
  }
  try {
    const peers = await startPeers(quick || !withPeers ? [] : preparePeers(), database)
    servers.push(...peers)
    const accepts = ({ key }: Implementation) => !quick || QUICK.includes(key)
    for (const implementation of against ? comparedWith(against) : IMPLEMENTATIONS.filter(accepts)) {
      // Each server has its own file, so that servers share neither locks nor cached pages.
      const copy = database.replace('.sqlite', `-${implementation.key}.sqlite`)
      copyFileSync(database, copy)
      servers.push(await startServer(implementation, copy))
    }
    const own = servers.filter(({ implementation }) => !isPeer(implementation))
    const bare = against ? [] : [await startServer(BARE, database)]
    servers.push(...bare)
    const serversFor = ({ title }: Operation) => BARE.operations.includes(title) ? [...own, ...bare] : own

    await assertSameRefusals(own, sample)
    const d = own.find(({ implementation }) => implementation.key === 'd')!
    const reads = operations.filter(({ writes }) => writes === undefined)
    const writes = operations.filter(({ writes }) => writes !== undefined)
    const sizes = new Map<Operation, number>()
    const comparablePeers = new Map<Operation, RunningServer[]>()
    const verify = async (operations: readonly Operation[]) => {
      for (const operation of operations) {
        sizes.set(operation, await assertSameResponses(operation, serversFor(operation), sample))
        comparablePeers.set(operation, await findComparablePeers(operation, d, peers, sample))
      }
      console.info(`${own.length} implementations return the same responses, byte for byte, and refuse the same requests`)
    }
    await verify(reads)
    for (const peer of peers)
      if (!(await refusesAnonymous(peer, sample))) console.warn(`${peer.implementation.title} returns a list to anonymous callers`)

    const measureAll = async (operations: readonly Operation[]) => {
      for (const operation of operations) {
        console.info(`measuring ${operation.title} …`)
        const targets = toTargets(operation, [...serversFor(operation), ...comparablePeers.get(operation)!], sample)
        const readings = await measure(targets, generator, effort)
        measured.push({ operation: operation.title, bytes: sizes.get(operation)!, writes: operation.writes, readings })
      }
    }
    await measureAll(reads)
    if (!quick && CURSOR.includes(only ?? '')) measured.push(...await compareCursors(own, sample, generator, effort))
    if (!against && CACHED_LIST.title.includes(only ?? '')) measured.push(...await compareCache(database, sample, generator, effort))
    if (!against && KNOWN_TOTAL.title.includes(only ?? ''))
      measured.push(await compareKnownTotals(database, sample, generator, effort))
    if (!against && PAGE.includes(only ?? '')) measured.push(await comparePages(database, sample, generator, effort))
    for (const variant of variantsOf({ only, variants: withVariants }))
      measured.push(...(await compareVariant(variant, d, database, sample, generator, effort)))
    for (const name of remote) measured.push(...(await compareRemote(REMOTE_SERVERS[name], built, database, sample, generator, effort)))
    // Writes come last: they change what lists return, they make the files larger, and faster implementations write more rows.
    await verify(writes)
    await measureAll(writes)
    for (const operation of against ? [] : OUTBOX_OPERATIONS.filter(({ title }) => title.includes(only ?? '')))
      measured.push(await compareOutbox(operation, accepts, database, sample, generator, effort))
    if (!against && PLUGIN_OPERATIONS.some(title => title.includes(only ?? '')))
      measured.push(...await comparePlugins(only, database, sample, generator, effort))

    const results = showResults()
    if (publish) publishResults(results, only === undefined)
    return results.lines
  }
  catch (error) {
    if (measured.length > 0) showResults()
    throw error
  }
  finally {
    await Promise.all(servers.map(server => server.stop()))
  }
}

/** Starts the peers. A peer that does not start is left out with a warning. */
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
      console.warn(`left out: ${peer.title}: ${(error as Error).message}`)
    }
  }
  return started
}

/** The peers that return the same rows as `d`. A peer with other rows is left out with a warning that shows them. */
async function findComparablePeers(
  operation: Operation,
  ours: RunningServer,
  peers: readonly RunningServer[],
  sample: Sample,
): Promise<RunningServer[]> {
  const comparable: RunningServer[] = []
  for (const peer of peers) {
    try {
      await assertSameRows(operation, ours, peer, sample)
      comparable.push(peer)
    }
    catch (error) {
      console.warn(`left out: ${(error as Error).message}`)
    }
  }
  return comparable
}

async function showProfiles(
  { effort, only, profile: key }: BenchOptions,
  operations: readonly Operation[],
  database: string,
  sample: Sample,
  generator: Generator,
): Promise<void> {
  const known = [...IMPLEMENTATIONS, ...CACHED_LIST.implementations]
  if (!known.some(implementation => implementation.key === key))
    throw new Error(`There is no implementation "${key}". Use one of ${known.map(({ key }) => key).join(', ')}`)
  const profiled: readonly { readonly operation: Operation, readonly implementations: readonly Implementation[] }[] = [
    ...operations.map(operation => ({ operation, implementations: IMPLEMENTATIONS })),
    ...operations.filter(({ title }) => BARE.operations.includes(title)).map(operation => ({ operation, implementations: [BARE] })),
    ...[...OUTBOX_OPERATIONS, CACHED_LIST]
      .filter(({ title }) => title.includes(only ?? ''))
      .map(operation => ({ operation, ...operation })),
  ]
  for (const { operation, implementations } of profiled) {
    const implementation = implementations.find(implementation => implementation.key === key)
    if (!implementation) continue
    const { file, shares } = await profileCpu(
      implementation,
      operation,
      database,
      join(folder, '.output/profiles', implementation.key),
      sample,
      generator,
      effort,
    )
    console.info(`\n${operation.title}, ${implementation.title}: ${file}`)
    for (const { name, share } of shares) console.info(`${(share * 100).toFixed(1).padStart(5)} %  ${name}`)
  }
}

// Each server adds listeners for the end of the process.
process.setMaxListeners(50)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const options = readOptions(process.argv.slice(2), folder)
if (options === 'help') console.info(HELP)
else await main(options)
