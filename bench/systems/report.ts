/** The results of a run, its conditions, and its tables. */
import { cpus } from 'node:os'
import { median } from '../median.ts'
import { INDEXES, SIZE } from './data.ts'
import { OPERATIONS } from './operations.ts'
import type { System } from './system.ts'

export interface SystemsEffort {
  readonly rounds: number
  /** Seconds per operation and round, and before each of them. */
  readonly seconds: number
  readonly warmUp: number
  readonly connections: number
}

/** What a round measures of a system. */
export interface SystemRound {
  readonly system: string
  /** Seconds from the start of the process to the first list. */
  readonly firstAnswer: number
  /** MiB after the first response, and the peak of the round. */
  readonly idle: number
  readonly peak: number
  /** By operation. `cpu` are microseconds of processor time per request, `p99` milliseconds. */
  readonly operations: Readonly<Record<string, { readonly perSecond: number, readonly cpu: number, readonly p99: number }>>
}

export interface SystemLine {
  readonly operation: string
  readonly system: string
  readonly perSecond: number
  readonly cpu: number
  /** Processor time divided by that of ours: the median of the rounds, and their range. */
  readonly ratio: number
  readonly lowest: number
  readonly highest: number
  readonly p99: number
}

export type SystemsResults = ReturnType<typeof describeSystems> & {
  /** The run that was published before, which shows how far the ratios depend on the machine and the day. */
  readonly before?: Pick<ReturnType<typeof describeSystems>, 'date' | 'machine' | 'lines'>
}

/** The medians of the rounds. A ratio is computed within each round. The first system is ours. */
export function describeSystems(
  systems: readonly System[], disk: Readonly<Record<string, number>>, rounds: readonly SystemRound[], effort: SystemsEffort,
) {
  const of = (key: string) => rounds.filter(({ system }) => system === key)
  const ours = of(systems[0]!.key)
  const lines: SystemLine[] = OPERATIONS.flatMap(({ title }) => systems.flatMap(({ key }) => {
    const readings = of(key).flatMap(({ operations }) => operations[title] ?? [])
    if (readings.length === 0) return []
    const ratios = readings.map(({ cpu }, round) => cpu / ours[round]!.operations[title]!.cpu)
    const middle = (name: 'perSecond' | 'cpu' | 'p99') => median(readings.map(reading => reading[name]))
    return [{
      operation: title, system: key, perSecond: middle('perSecond'), cpu: middle('cpu'), ratio: median(ratios),
      lowest: Math.min(...ratios), highest: Math.max(...ratios), p99: middle('p99'),
    }]
  }))
  return {
    date: new Date().toISOString(),
    machine: `${cpus().length} × ${cpus()[0]!.model.trim()}, ${process.platform} ${process.arch}`,
    node: process.versions.node,
    effort,
    data: SIZE,
    indexes: INDEXES,
    systems: systems.map(({ key, title, pragmas, setup }) => {
      const middle = (name: 'firstAnswer' | 'idle' | 'peak') => median(of(key).map(round => round[name]))
      return { key, title, pragmas, setup, firstAnswer: middle('firstAnswer'), idle: middle('idle'), peak: middle('peak'), disk: disk[key]! }
    }),
    lines,
  }
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map((_, index) => index === 0 ? '---' : '--:'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')

export const grouped = (value: number) => Math.round(value).toLocaleString('en-US').replaceAll(',', ' ')

/** The ratios of the run before, in Markdown. */
export function toEarlierTable({ systems, before }: SystemsResults): string {
  if (!before) return ''
  const cell = (operation: string, key: string) =>
    before.lines.find(line => line.operation === operation && line.system === key)?.ratio.toFixed(2) ?? '–'
  const operations = [...new Set(before.lines.map(({ operation }) => operation))]
  const head = `ratio in the run of ${before.date.slice(0, 10)}, on ${before.machine}`
  return `\n\n${table([head, ...systems.map(({ key }) => key)], operations.map(name => [name, ...systems.map(({ key }) => cell(name, key))]))}`
}

/** The tables of a run in Markdown: requests and processor time by operation, and what a system needs. */
export function toTables({ systems, lines }: SystemsResults): string {
  const operations = [...new Set(lines.map(({ operation }) => operation))]
  const cell = (operation: string, key: string) => {
    const line = lines.find(line => line.operation === operation && line.system === key)
    return line ? `${grouped(line.cpu)} µs, ${line.ratio.toFixed(2)} (${line.lowest.toFixed(2)}–${line.highest.toFixed(2)})` : '–'
  }
  const perSecond = (operation: string, key: string) => {
    const line = lines.find(line => line.operation === operation && line.system === key)
    return line ? grouped(line.perSecond) : '–'
  }
  const keys = systems.map(({ key }) => key)
  return [
    table(['processor time of a request, ratio to ours', ...keys], operations.map(name => [name, ...keys.map(key => cell(name, key))])),
    table(['requests per second', ...keys], operations.map(name => [name, ...keys.map(key => perSecond(name, key))])),
    table(['', ...keys], [
      ['seconds to the first response', ...systems.map(({ firstAnswer }) => firstAnswer.toFixed(2))],
      ['MiB after the first response', ...systems.map(({ idle }) => grouped(idle))],
      ['MiB at most', ...systems.map(({ peak }) => grouped(peak))],
      ['MiB of the installation', ...systems.map(({ disk }) => grouped(disk))],
    ]),
  ].join('\n\n')
}
