/** The results of the last published run: the file in the repository, the charts of the docs and the report, which are made from it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawChart, type Chart } from './chart.ts'
import type { describeRun } from './report.ts'
import { toFootnotes, toMarkdown, toPeerTable, type Line } from './tables.ts'

export type Results = ReturnType<typeof describeRun> & { readonly lines: readonly Line[] }

const root = fileURLToPath(new URL('..', import.meta.url))
const FILE = join(root, 'bench/results/handlers.json')
const NAMES: Readonly<Record<string, string>> = { a: 'by hand, Drizzle', c: 'by hand, raw SQL', d: 'nuxt-auto-api' }

/** Stores the results and writes the files that are made from them. */
export function publish(results: Results): void {
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(FILE, `${JSON.stringify(results, toShort, 1)}\n`)
  for (const [path, text] of Object.entries(toFiles(results))) writeFileSync(join(root, path), text)
}

/** Three digits after the point are more than the measurement has. */
const toShort = (_key: string, value: unknown) => typeof value === 'number' ? Math.round(value * 1000) / 1000 : value

/** Returns the text of each file that is made from the results. */
export function toFiles(results: Results): Readonly<Record<string, string>> {
  const charts = Object.entries(CHARTS).map(([name, toChart]) => [`docs/images/${name}.svg`, drawChart(toChart(results))])
  return { ...Object.fromEntries(charts) as Record<string, string>, 'docs/6.project/2.benchmark.md': toPage(results) }
}

const CHARTS: Readonly<Record<string, (results: Results) => Chart>> = {
  'performance-handlers': results => ({
    title: 'Compared with a handler written by hand',
    unit: 'requests per second, the handler with Drizzle = 1',
    groups: ['list 20', 'list 20 + total', 'filter + sort', 'include author', 'get', 'create', 'bulk create of 100']
      .map(operation => groupOf(results, operation, ['a', 'c', 'd'], ({ ratio }) => ratio)),
  }),
  'performance-servers': results => ({
    title: 'The same on Postgres and MariaDB',
    unit: 'requests per second, the handler with Drizzle = 1',
    groups: ['list 20', 'include author', 'get'].flatMap(operation => ['Postgres', 'MariaDB'].map(engine =>
      groupOf(results, `${operation}, ${engine}`, ['a', 'c', 'd'], ({ ratio }) => ratio))),
  }),
  'performance-packages': results => ({
    title: 'Compared with other packages',
    unit: 'requests per second',
    groups: ['list 20', 'get', 'create'].map(operation =>
      groupOf(results, operation, ['d', ...peersOf(results)], ({ perSecond }) => perSecond)),
  }),
}

function groupOf({ lines }: Results, operation: string, implementations: readonly string[], valueOf: (line: Line) => number) {
  const bars = implementations.flatMap((key) => {
    const line = lines.find(line => line.operation === operation && line.implementation === key)
    return line ? [{ label: NAMES[key] ?? key, value: valueOf(line), own: key === 'd' }] : []
  })
  if (bars.length === 0) throw new Error(`The results have no operation "${operation}".`)
  return { label: operation, bars }
}

/** Implementations of our app have keys of one letter, and variants of them have no title in this list. */
const peersOf = ({ implementations }: Results) => Object.keys(implementations).filter(key => key.length > 1 && key !== 'bare')

const toPage = (results: Results) => `# Benchmark report

This report contains the measurements of the last published run. [Performance](../5.concepts/2.performance.md) explains the method and the results.

\`npm run bench -- --publish\` measures again, and writes this page.

## Conditions

${toFootnotes(results)}

## Results

${toMarkdown(results.lines)}

## Other packages

${toPeerTable(results.lines, peersOf(results))}

Reference: [options](../3.reference/1.options.md), [errors](../3.reference/4.errors.md).
`
