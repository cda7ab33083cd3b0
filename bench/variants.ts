/** Measures `d` beside another build of the app: with 200 resources instead of 6, with entity tags, and as two processes. */
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { appFolder, BARE, IMPLEMENTATIONS } from './implementations.ts'
import type { Sample } from './dataset.ts'
import { measure, toTargets, type Effort, type Generator } from './measure.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import type { BenchOptions } from './options.ts'
import type { Measured } from './report.ts'
import { startServer, type RunningServer } from './server.ts'
import { assertSameResponses } from './verify.ts'

interface Variant {
  /** Follows the title of each operation in the report. */
  readonly title: string
  readonly operations: readonly string[]
  /** The environment of the other build. The app's `nuxt.config.ts` and its modules read it. */
  readonly environment: Readonly<Record<string, string>>
  /** The environment of its server. */
  readonly serverEnvironment?: Readonly<Record<string, string>>
  /** Whether to measure {@link BARE} in both builds too. It shows what the difference costs without the API. */
  readonly bare?: true
  /** The names of `d`, the baseline of the ratios, and of the other build. */
  readonly keys: { readonly d: string, readonly other: string }
  /** The path of a handler in the other build that is measured instead of `d`. */
  readonly handler?: string
}

/** Two workers, which end with the main process: it would wait for them otherwise. */
export const CLUSTER = { NITRO_CLUSTER_WORKERS: '2', NITRO_SHUTDOWN_DISABLED: 'true' }

const VARIANTS: readonly Variant[] = [
  {
    title: '6 and 200 resources',
    operations: ['list 20', 'get'],
    environment: { BENCH_RESOURCES: '200' },
    keys: { d: 'd, 6 resources', other: 'd, 200 resources' },
  },
  {
    title: 'cost of ETags',
    operations: ['list 20', 'get'],
    environment: { BENCH_ETAG: 'on' },
    keys: { d: 'd', other: 'd, ETags' },
  },
  {
    title: 'ETags and request metadata',
    operations: ['list 20', 'get'],
    environment: { BENCH_ETAG: 'on' },
    serverEnvironment: { BENCH_METADATA: '1' },
    handler: '/raw/tagged/posts',
    keys: { d: 'c, both by hand', other: 'd, both' },
  },
  {
    title: 'one and two processes',
    operations: ['list 20', 'get', 'create'],
    environment: { NITRO_PRESET: 'node-cluster' },
    serverEnvironment: CLUSTER,
    bare: true,
    keys: { d: 'd, one process', other: 'd, two processes' },
  },
]

/** The variants that the options ask for: all of them, or those whose title contains the text of `--only`. */
export const variantsOf = ({ only, variants }: Pick<BenchOptions, 'only' | 'variants'>): readonly Variant[] =>
  VARIANTS.filter(({ title }) => only === undefined ? variants : title.includes(only))

export async function compareVariant(
  variant: Variant,
  ours: RunningServer,
  database: string,
  sample: Sample,
  generator: Generator,
  effort: Effort,
): Promise<Measured[]> {
  const { title, keys, handler } = variant
  const name = title.replaceAll(/\W+/g, '-')
  const entry = buildOnce(title, variant.environment)
  const copy = database.replace('.sqlite', `-${name}.sqlite`)
  copyFileSync(database, copy)
  const d = IMPLEMENTATIONS.find(({ key }) => key === 'd')!
  const implementation = { ...d, key: keys.other, entry, environment: () => variant.serverEnvironment ?? {} }
  const other = await startServer(implementation, copy)
  const named = (server: RunningServer) => ({ ...server, implementation: { ...server.implementation, key: keys.d } })
  const servers = [handler === undefined ? named(ours) : { ...named(other), posts: other.posts.replace(d.posts, handler) }, other]
  try {
    const measured: Measured[] = []
    const compare = async (operation: Operation, name: string, servers: readonly RunningServer[]) => {
      const bytes = await assertSameResponses(operation, servers, sample)
      console.info(`measuring ${name} …`)
      const readings = await measure(toTargets(operation, servers, sample), generator, effort)
      measured.push({ operation: name, bytes, writes: operation.writes, readings })
    }
    for (const operation of OPERATIONS.filter(operation => variant.operations.includes(operation.title))) {
      await compare(operation, `${operation.title}, ${title}`, servers)
      if (variant.bare && BARE.operations.includes(operation.title))
        await compare(operation, `${operation.title}, ${title}, without the API`, servers.map(withoutApi))
    }
    return measured
  }
  finally {
    await other.stop()
  }
}

/** Builds the app once for each environment. @returns the script that starts it */
export function buildOnce(title: string, environment: Readonly<Record<string, string>>): string {
  const settings = Object.entries(environment).flat().join('-')
  const output = fileURLToPath(new URL(`.output/${settings}`, import.meta.url))
  const entry = `${output}/server/index.mjs`
  if (built.has(entry)) return entry
  console.info(`building the app for "${title}" …`)
  const { status, stdout, stderr } = spawnSync('nuxi', ['build', appFolder], {
    env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1', ...environment, BENCH_OUTPUT: output },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`The app does not build.\n${stdout}\n${stderr}`)
  built.add(entry)
  return entry
}

const built = new Set<string>()

/** The handler with constant bytes, on the same server. */
const withoutApi = (server: RunningServer): RunningServer => ({
  ...server,
  implementation: { ...server.implementation, key: server.implementation.key.replace('d', BARE.key) },
  posts: server.posts.replace(server.implementation.posts, BARE.posts),
})
