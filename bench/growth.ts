/**
 * Measures the same requests on tables of 10^4 to 10^7 rows, on SQLite and Postgres: the cost of a request must follow its page, not the
 * table. The sizes take turns in each round.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { growthDatabases, SIZES, type GrowthDatabase } from './growth/databases.ts'
import { checkRecords, GROWTH_OPERATIONS, measureCascades } from './growth/operations.ts'
import { load, type Effort, type Generator, type Target } from './measure.ts'
import { median } from './median.ts'
import { startServer, type RunningServer } from './server.ts'
import { buildApp } from './growth/build.ts'

/** Microseconds per request. */
interface Reading {
  readonly time: number
  /** Processor time of the app server, and of the database. */
  readonly app: number
  readonly database: number
}

const MAX_SECONDS = 30

/** The ratios compare with this size. */
const BASE = 100_000

interface GrowthOptions {
  /** The number of rows of the largest tables. */
  readonly largest: number
  /** Only operations with this text in their title. */
  readonly only?: string
  readonly effort: Effort
}

/** Prints a table for each engine. The files of SQLite are in `folder`. */
export async function compareGrowth({ largest, only, effort }: GrowthOptions, folder: string, generator: Generator): Promise<void> {
  const sizes = SIZES.filter(size => size <= largest)
  for (const { title, dialect, open } of growthDatabases(folder)) {
    const entry = buildApp(dialect)
    const databases: GrowthDatabase[] = []
    const servers: RunningServer[] = []
    try {
      for (const size of sizes) {
        console.info(`filling ${title} with ${grouped(size)} rows per table …`)
        const database = await open(size)
        databases.push(database)
        servers.push(await startServer({ key: String(size), title, entry, posts: '/api/posts' }, database.address))
      }
      const rows: string[][] = []
      const add = (row: string[]) => {
        rows.push(row)
        // The whole run takes long, and can end before its table.
        console.info(row.join(' | '))
      }
      for (const operation of GROWTH_OPERATIONS.filter(({ title }) => title.includes(only ?? ''))) {
        console.info(`measuring ${operation.title}, ${title} …`)
        const targets = await Promise.all(servers.map(async (server, index) => ({
          key: String(sizes[index]),
          server: { ...server, posts: server.posts.replace(/posts$/, operation.path ?? 'posts') },
          requests: await operation.requests({ size: sizes[index]!, server }),
        })))
        for (const { server, requests } of targets) await checkRecords(operation, server, requests)
        const own = operation.grows ? { ...effort, connections: 1 } : effort
        for (const target of targets) await measureTarget(target, generator, { ...own, seconds: own.warmUp })
        add(toRow(operation.title, sizes, await inRounds(own.rounds, targets, target => measureTarget(target, generator, own))))
      }
      const cascade = 'delete with 10 comments, and restore'
      if (cascade.includes(only ?? '')) {
        console.info(`measuring ${cascade}, ${title} …`)
        for (const server of servers) await measureCascades(server)
        add(toRow(cascade, sizes, await inRounds(effort.rounds, servers, async (server) => {
          const [app, database] = [server.cpuSeconds()!, databaseSeconds()]
          const { time, requests } = await measureCascades(server)
          return {
            time,
            app: perRequest(server.cpuSeconds()! - app, requests),
            database: perRequest(databaseSeconds() - database, requests),
          }
        })))
      }
      console.info(`\n${title}\n\n${toTable(rows, sizes)}\n`)
    }
    finally {
      await Promise.all(servers.map(server => server.stop()))
      for (const database of databases) await database.remove()
    }
  }
}

/** Requests of the largest tables can take longer than a round. */
async function measureTarget(target: Target, generator: Generator, effort: Effort): Promise<Reading> {
  for (let { seconds } = effort; ; seconds *= 2) {
    const before = databaseSeconds()
    const { perSecond, succeeded, cpu } = await load(target, generator, { ...effort, seconds })
    if (perSecond > 0) return { time: 1e6 / perSecond, app: cpu!, database: perRequest(databaseSeconds() - before, succeeded) }
    if (seconds > MAX_SECONDS) throw new Error(`No request to ${target.key} ended within ${seconds} seconds.`)
  }
}

const perRequest = (seconds: number, requests: number) => 1e6 * seconds / requests

/** Processor time of all processes of Postgres so far, in seconds. */
function databaseSeconds(): number {
  return readdirSync('/proc').filter(name => /^\d+$/.test(name)).reduce((sum, pid) => {
    try {
      const [, name, rest] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!
      const fields = rest!.split(' ')
      return name === 'postgres' ? sum + (Number(fields[11]) + Number(fields[12])) / 100 : sum
    }
    catch {
      // The process has ended.
      return sum
    }
  }, 0)
}

/** Measures each item once per round, in turns. */
async function inRounds<T>(rounds: number, items: readonly T[], run: (item: T) => Promise<Reading>): Promise<Reading[][]> {
  const readings = items.map(() => [] as Reading[])
  for (let round = 0; round < rounds; round++) {
    const order = items.map((_, index) => index)
    // The order is reversed after each round, so that no size always follows the same other one.
    for (const index of round % 2 === 0 ? order : order.toReversed()) readings[index]!.push(await run(items[index]!))
  }
  return readings
}

function toRow(title: string, sizes: readonly number[], readings: readonly (readonly Reading[])[]): string[] {
  const base = readings[sizes.indexOf(BASE)]!
  const middle = (column: readonly Reading[], name: keyof Reading) => String(Math.round(median(column.map(reading => reading[name]))))
  return [title, middle(base, 'time'), ...readings.map((column) => {
    const ratios = column.map(({ time }, round) => time / base[round]!.time)
    return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`
  }), middle(readings.at(-1)!, 'app'), middle(readings.at(-1)!, 'database')]
}

const grouped = (value: number) => value.toLocaleString('en-US').replaceAll(',', ' ')

function toTable(rows: readonly (readonly string[])[], sizes: readonly number[]): string {
  const head = ['operation', `µs at ${grouped(BASE)}`, ...sizes.map(grouped), 'CPU µs of the app', 'CPU µs of the database']
  return [head, ['---', ...head.slice(1).map(() => '--:')], ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}
