/** The results of a run, and its conditions. */
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { createRequire } from 'node:module'
import { SIZE } from './dataset.ts'
import type { Effort, Reading } from './measure.ts'
import { median } from './median.ts'
import { isPeer, peersFolder } from './peers.ts'
import type { Implementation } from './implementations.ts'
import type { Line } from './tables.ts'

export interface Measured {
  readonly operation: string
  /** Mean size of a response. */
  readonly bytes: number
  /** Only for writes: rows that one request writes. */
  readonly writes?: number
  readonly readings: ReadonlyMap<string, readonly Reading[]>
}

export function toLines(measured: readonly Measured[]): Line[] {
  return measured.flatMap(({ operation, bytes, writes, readings }) => {
    const [baseline] = readings.values()
    return [...readings].map(([implementation, rounds]) => {
      const ratios = rounds.map(({ perSecond }, round) => perSecond / baseline![round]!.perSecond)
      const cpuRatios = rounds.flatMap(({ cpu }, round) => cpu === undefined ? [] : baseline![round]!.cpu! / cpu)
      return {
        operation,
        bytes,
        implementation,
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

/** The conditions of a run: what a reader needs to interpret and to repeat it. */
export function describeRun(effort: Effort, implementations: readonly Implementation[]) {
  return {
    date: new Date().toISOString(),
    machine: `${cpus().length} × ${cpus()[0]!.model.trim()}, ${process.platform} ${process.arch}`,
    versions: Object.fromEntries([
      ['node', process.versions.node],
      ...['nuxt', 'nitropack', 'h3', 'drizzle-orm', 'better-sqlite3', 'autocannon', 'pg'].map(name => [name, versionOf(name)]),
      ...implementations
        .filter(isPeer)
        .flatMap(({ packages }) => packages.map(name => [name, versionOf(name, `${peersFolder}/node_modules`)])),
    ]),
    database: { ...SIZE, journal: 'WAL', synchronous: 'NORMAL' },
    effort,
    implementations: Object.fromEntries(implementations.map(({ key, title }) => [key, title])),
  }
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
