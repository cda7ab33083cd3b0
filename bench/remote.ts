/** Measures the handwritten handler and the registered resource on a database server, with the same rows: list, include and get. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import type { Sample } from './dataset.ts'
import type { Implementation } from './implementations.ts'
import { measure, toTargets, type Effort, type Generator } from './measure.ts'
import { OPERATIONS } from './operations.ts'
import { mariadb, postgres, type RemoteServer } from './remote/servers.ts'
import type { Measured } from './report.ts'
import { startServer, type RunningServer } from './server.ts'
import { CLUSTER } from './variants.ts'
import { assertSameResponses } from './verify.ts'

const MEASURED = ['list 20', 'include author', 'get']
const TABLES = ['organizations', 'users', 'posts']

export const REMOTE_SERVERS: Readonly<Record<'postgres' | 'mariadb', RemoteServer>> = { postgres, mariadb }

/** The compared implementations. The first one is the baseline. */
const implementationsOn = ({ title, dialect, prepares }: RemoteServer): readonly Implementation[] => {
  const entry = entryIn(dialect)
  return [
    { key: 'a', title: `handwritten, on ${title}`, posts: '/hand/posts', entry },
    { key: 'c', title: `handwritten raw SQL, on ${title}`, posts: '/raw/posts', entry },
    { key: 'd', title: `nuxt-auto-api, on ${title}`, posts: '/api/posts', entry },
    ...(prepares
      ? [{ key: 'named', title: `d on ${title} with \`prepare\``, posts: '/api/posts', entry, environment: () => ({ BENCH_PREPARE: '1' }) }]
      : []),
    {
      key: 'd, two processes',
      title: `d on ${title}, two processes`,
      posts: '/api/posts',
      entry: entryIn(clusterOf(dialect)),
      environment: () => CLUSTER,
    },
  ]
}

const clusterOf = (dialect: string) => `${dialect}-cluster`
const entryIn = (output: string) => fileURLToPath(new URL(`.output/${output}/server/index.mjs`, import.meta.url))

function build(dialect: string, environment: Readonly<Record<string, string>> = {}): void {
  const { status, stdout, stderr } = spawnSync('nuxi', ['build', fileURLToPath(new URL('./remote', import.meta.url))], {
    env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1', BENCH_DIALECT: dialect, ...environment },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`The app does not build.\n${stdout}\n${stderr}`)
}

/** Prints a warning and returns nothing if the server does not run on this machine. */
export async function compareRemote(
  remote: RemoteServer, built: boolean, file: string, sample: Sample, generator: Generator, effort: Effort,
): Promise<Measured[]> {
  const { title, dialect } = remote
  if (!await remote.isReachable()) {
    console.warn(`left out: ${title} does not respond on ${remote.address}`)
    return []
  }
  const database = `auto_api_bench_${process.pid}`
  const servers: RunningServer[] = []
  try {
    console.info(`building the app and the database on ${title} …`)
    if (!built || !existsSync(entryIn(clusterOf(dialect)))) {
      build(dialect)
      build(dialect, { NITRO_PRESET: 'node-cluster', BENCH_OUTPUT: clusterOf(dialect) })
    }
    const url = await remote.create(database, readTables(file))
    for (const implementation of implementationsOn(remote)) servers.push(await startServer(implementation, url))
    const measured: Measured[] = []
    for (const operation of OPERATIONS.filter(({ title }) => MEASURED.includes(title))) {
      const bytes = await assertSameResponses(operation, servers, sample)
      console.info(`measuring ${operation.title} on ${title} …`)
      measured.push({
        operation: `${operation.title}, ${title}`,
        bytes,
        readings: await measure(toTargets(operation, servers, sample), generator, effort),
      })
    }
    return measured
  }
  finally {
    await Promise.all(servers.map(server => server.stop()))
    await remote.remove(database)
  }
}

/** The rows of the SQLite file. Times are Dates, and flags booleans. */
function readTables(file: string): ReadonlyMap<string, readonly Record<string, unknown>[]> {
  const source = new Database(file, { readonly: true })
  const tables = new Map(
    TABLES.map(table => [table, source.prepare<[], Record<string, unknown>>(`select * from ${table}`).all().map(toValues)]),
  )
  source.close()
  return tables
}

function toValues(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    name === 'featured' ? value === 1 : name.endsWith('_at') && value !== null ? new Date(value as number) : value,
  ])
  return Object.fromEntries(entries) as Record<string, unknown>
}
