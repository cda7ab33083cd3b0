/** What was read, as one Markdown table for people and one object for programs. */
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { createRequire } from 'node:module'
import { SIZE } from './dataset.ts'
import { median, type Effort, type Reading } from './measure.ts'
import { isPeer, peersFolder } from './peers.ts'
import type { Contestant } from './contestants.ts'

export interface Measured {
  readonly operation: string
  /** Mean size of an answer. */
  readonly bytes: number
  /** Rows that one request writes. */
  readonly writes?: number
  readonly readings: ReadonlyMap<string, readonly Reading[]>
}

export interface Line {
  readonly operation: string
  readonly bytes: number
  readonly contestant: string
  readonly perSecond: number
  /** To the first contestant, round by round: what slows both of a pair down is not in it. */
  readonly ratio: number
  readonly lowest: number
  readonly highest: number
  readonly p99: number
  /** Of a write: rows per second. */
  readonly rowsPerSecond?: number
  readonly cpu?: number
  /** The first contestant's processor time through this one's. */
  readonly cpuRatio?: number
  readonly rounds: readonly Reading[]
}

export function toLines(measured: readonly Measured[]): Line[] {
  return measured.flatMap(({ operation, bytes, writes, readings }) => {
    const [baseline] = readings.values()
    return [...readings].map(([contestant, rounds]) => {
      const ratios = rounds.map(({ perSecond }, round) => perSecond / baseline![round]!.perSecond)
      const cpuRatios = rounds.flatMap(({ cpu }, round) => cpu === undefined ? [] : baseline![round]!.cpu! / cpu)
      return {
        operation,
        bytes,
        contestant,
        perSecond: median(rounds.map(({ perSecond }) => perSecond)),
        ratio: median(ratios),
        lowest: Math.min(...ratios),
        highest: Math.max(...ratios),
        p99: median(rounds.map(({ p99 }) => p99)),
        ...writes !== undefined && { rowsPerSecond: writes * median(rounds.map(({ perSecond }) => perSecond)) },
        ...cpuRatios.length > 0 && { cpu: median(rounds.map(({ cpu }) => cpu!)), cpuRatio: median(cpuRatios) },
        rounds,
      }
    })
  })
}

export function toMarkdown(lines: readonly Line[]): string {
  const rows = lines.map(({ operation, contestant, perSecond, ratio, lowest, highest, p99, rowsPerSecond, cpu, cpuRatio }) => [
    operation,
    contestant,
    grouped(perSecond),
    rowsPerSecond === undefined ? '' : grouped(rowsPerSecond),
    ratio.toFixed(2),
    `${lowest.toFixed(2)}–${highest.toFixed(2)}`,
    String(Math.round(p99)),
    cpu === undefined ? '' : String(Math.round(cpu)),
    cpuRatio === undefined ? '' : cpuRatio.toFixed(2),
  ])
  return [
    ['operation', '', 'requests/s', 'rows written/s', 'ratio to a', 'lowest–highest', 'p99 ms', 'CPU µs/request', 'CPU ratio'],
    ['---', '---', '--:', '--:', '--:', '--:', '--:', '--:', '--:'],
    ...rows,
  ].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

const grouped = (value: number) => Math.round(value).toLocaleString('en-US').replaceAll(',', ' ')

/** How many times d's requests per second are a peer's, round by round; "–" where the peer cannot do it. */
export function toPeerTable(lines: readonly Line[], peers: readonly string[]): string {
  const operations = [...new Set(lines.map(({ operation }) => operation))]
  const rows = operations.flatMap((operation) => {
    const of = (key: string) => lines.find(line => line.operation === operation && line.contestant === key)
    const ours = of('d')
    return ours ? [[operation, ...peers.map(key => toRatio(ours, of(key)))]] : []
  })
  return [['d, times as many requests/s as', ...peers], ['---', ...peers.map(() => '--:')], ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

function toRatio(ours: Line, theirs: Line | undefined): string {
  return theirs ? median(ours.rounds.map(({ perSecond }, round) => perSecond / theirs.rounds[round]!.perSecond)).toFixed(2) : '–'
}

/** Everything a reader needs to judge the figures, or to repeat them. */
export function describeRun(effort: Effort, contestants: readonly Contestant[]) {
  return {
    date: new Date().toISOString(),
    machine: `${cpus().length} × ${cpus()[0]!.model.trim()}, ${process.platform} ${process.arch}`,
    versions: Object.fromEntries([['node', process.versions.node], ...['nuxt', 'nitropack', 'h3', 'drizzle-orm', 'better-sqlite3', 'autocannon', 'pg'].map(name => [name, versionOf(name)]), ...contestants.filter(isPeer).flatMap(({ packages }) => packages.map(name => [name, versionOf(name, `${peersFolder}/node_modules`)]))]),
    database: { ...SIZE, journal: 'WAL', synchronous: 'NORMAL' },
    effort,
    contestants: Object.fromEntries(contestants.map(({ key, title }) => [key, title])),
  }
}

/** The conditions, below the table. */
export function toFootnotes({ date, machine, versions, database, effort, contestants }: ReturnType<typeof describeRun>): string {
  return [
    ...Object.entries(contestants).map(([key, title]) => `- ${key}: ${title}`),
    `- ${date.slice(0, 10)}, ${machine}; ${Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(', ')}`,
    `- SQLite: ${database.posts} posts, ${database.users} users, ${database.organizations} organisations; journal ${database.journal}, synchronous ${database.synchronous}`,
    `- ${effort.rounds} rounds of ${effort.seconds} s, ${effort.connections} connections; medians; ratios are taken round by round`,
  ].join('\n')
}

function versionOf(name: string, ...folders: string[]): string {
  const require = createRequire(import.meta.url)
  const folder = [...folders, ...require.resolve.paths(name)!].map(path => `${path}/${name}/package.json`)
  for (const file of folder) {
    try {
      return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
    }
    catch { /* not in this folder */ }
  }
  return 'unknown'
}
