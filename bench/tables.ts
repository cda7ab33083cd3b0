/** The tables of a run in Markdown. */
import type { Reading } from './measure.ts'
import { median } from './median.ts'
import type { describeRun } from './report.ts'

export interface Line {
  readonly operation: string
  readonly bytes: number
  readonly implementation: string
  readonly perSecond: number
  /** Median of the ratios to the first implementation, one per round. A slow round affects both values of its ratio. */
  readonly ratio: number
  readonly lowest: number
  readonly highest: number
  readonly p99: number
  /** Only for writes. */
  readonly rowsPerSecond?: number
  readonly cpu?: number
  /** Processor time of the first implementation divided by that of this one. */
  readonly cpuRatio?: number
  readonly rounds: readonly Reading[]
}

export function toMarkdown(lines: readonly Line[]): string {
  const rows = lines.map(({ operation, implementation, perSecond, ratio, lowest, highest, p99, rowsPerSecond, cpu, cpuRatio }) => [
    operation,
    implementation,
    grouped(perSecond),
    rowsPerSecond === undefined ? '' : grouped(rowsPerSecond),
    ratio.toFixed(2),
    `${lowest.toFixed(2)}–${highest.toFixed(2)}`,
    String(Math.round(p99)),
    cpu === undefined ? '' : String(Math.round(cpu)),
    cpuRatio === undefined ? '' : cpuRatio.toFixed(2),
  ])
  return [
    [
      'operation',
      '',
      'requests/s',
      'rows written/s',
      `ratio to ${lines[0]!.implementation}`,
      'lowest–highest',
      'p99 ms',
      'CPU µs/request',
      'CPU ratio',
    ],
    ['---', '---', '--:', '--:', '--:', '--:', '--:', '--:', '--:'],
    ...rows,
  ]
    .map(cells => `| ${cells.join(' | ')} |`)
    .join('\n')
}

const grouped = (value: number) => Math.round(value).toLocaleString('en-US').replaceAll(',', ' ')

/** Requests per second of d divided by those of each peer: the median of the rounds, or "–" if the peer cannot do the operation. */
export function toPeerTable(lines: readonly Line[], peers: readonly string[]): string {
  const operations = [...new Set(lines.map(({ operation }) => operation))]
  const rows = operations.flatMap((operation) => {
    const of = (key: string) => lines.find(line => line.operation === operation && line.implementation === key)
    const ours = of('d')
    return ours ? [[operation, ...peers.map(key => toRatio(ours, of(key)))]] : []
  })
  return [['d, times as many requests/s as', ...peers], ['---', ...peers.map(() => '--:')], ...rows]
    .map(cells => `| ${cells.join(' | ')} |`)
    .join('\n')
}

function toRatio(ours: Line, theirs: Line | undefined): string {
  return theirs ? median(ours.rounds.map(({ perSecond }, round) => perSecond / theirs.rounds[round]!.perSecond)).toFixed(2) : '–'
}

/** The conditions as a list below the table. */
export function toFootnotes({ date, machine, versions, database, effort, implementations }: ReturnType<typeof describeRun>): string {
  return [
    ...Object.entries(implementations).map(([key, title]) => `- ${key}: ${title}`),
    `- ${date.slice(0, 10)}, ${machine}; ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    `- SQLite: ${database.posts} posts, ${database.users} users, ${database.organizations} organizations; `
    + `journal ${database.journal}, synchronous ${database.synchronous}`,
    `- ${effort.rounds} rounds of ${effort.seconds} s, ${effort.connections} connections; medians; ratios are computed per round`,
  ].join('\n')
}
