/** The results of the last published run: the file in the repository, the charts of the docs and the report, which are made from it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawChart, type Chart } from './chart.ts'
import { toSystemCharts, toSystemSection } from './systems/publish.ts'
import type { SystemsResults } from './systems/report.ts'
import type { describeRun } from './report.ts'
import { toFootnotes, toMarkdown, toPeerTable, type Line } from './tables.ts'

export type Results = ReturnType<typeof describeRun> & { readonly lines: readonly Line[] }

const root = fileURLToPath(new URL('..', import.meta.url))
const FILE = join(root, 'bench/results/handlers.json')
const SYSTEMS_FILE = join(root, 'bench/results/systems.json')
const NAMES: Readonly<Record<string, string>> = { a: 'by hand, Drizzle', c: 'by hand, raw SQL', d: 'nuxt-auto-api' }

/**
 * Stores the results and writes the files that are made from them.
 * @param isWhole whether all operations were measured. Otherwise, the results replace those of the same operations.
 */
export function publish(measured: Results, isWhole: boolean): void {
  const results = isWhole ? measured : replaceLines(JSON.parse(readFileSync(FILE, 'utf8')) as Results, measured)
  store(FILE, results)
}

/** The same with the results of the comparison with other systems. The run that was published before stays in the report. */
export function publishSystems(results: SystemsResults): void {
  const { date, machine, lines } = JSON.parse(readFileSync(SYSTEMS_FILE, 'utf8')) as SystemsResults
  store(SYSTEMS_FILE, { ...results, before: { date, machine, lines } })
}

function store(file: string, results: object): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(results, toShort, 1)}\n`)
  // From the rounded values, so that the stored results give the same files.
  const [handlers, systems] = [FILE, SYSTEMS_FILE].map(file => JSON.parse(readFileSync(file, 'utf8')) as unknown)
  for (const [path, text] of Object.entries(toFiles(handlers as Results, systems as SystemsResults))) writeFileSync(join(root, path), text)
}

function replaceLines(published: Results, { lines }: Results): Results {
  const operations = new Set(lines.map(({ operation }) => operation))
  const replaced = new Set<string>()
  return {
    ...published,
    lines: published.lines.flatMap((line) => {
      if (!operations.has(line.operation)) return [line]
      if (replaced.has(line.operation)) return []
      replaced.add(line.operation)
      return lines.filter(({ operation }) => operation === line.operation)
    }),
  }
}

/** Three digits after the point are more than the measurement has. */
const toShort = (_key: string, value: unknown) => typeof value === 'number' ? Math.round(value * 1000) / 1000 : value

/** Returns the text of each file that is made from the results. */
export function toFiles(results: Results, systems: SystemsResults): Readonly<Record<string, string>> {
  const charts = Object.entries(CHARTS).map(([name, toChart]) => [`docs/images/${name}.svg`, drawChart(toChart(results))])
  return {
    ...Object.fromEntries(charts) as Record<string, string>,
    ...toSystemCharts(systems),
    'docs/6.project/2.benchmark.md': toPage(results, systems),
  }
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

const PACKAGES = `| package | setup | differences |
|---|---|---|
| remult | Express, better-sqlite3, \`apiPrefilter\` | a total is a second request; no include over REST |
| zenstack | ZenStack 3: access policies, RPC handler on Express, better-sqlite3 | a total is a transaction of two operations; the list of an anonymous caller is empty instead of refused |
| feathers | Feathers 5 on Koa, Knex with better-sqlite3, hooks; include as a join | returns columns as they are in the database, times as numbers |
| auto-api 0.0.8 | \`@websideproject/nuxt-auto-api\` with tenancy and \`listFilter\` | counts rows for every page |
| auto-crud | nuxt-auto-crud 3 on libSQL | has no tenants: the client filters by its own organization, and \`get\` is not limited to it; no bulk writes |`

const toPage = (results: Results, systems: SystemsResults) => `# Benchmark report

This report contains the measurements of the last published run. [Performance](../5.concepts/2.performance.md) explains the method and the results.

\`npm run bench -- --publish\` measures again, and writes this page.

## Conditions

${toFootnotes(results)}

## Results

${toMarkdown(results.lines)}

## Other packages

${toPeerTable(results.lines, peersOf(results))}

Each package runs in a small server that follows its documentation, in production mode, with its own copy of the database. An operation
leaves out packages that return other rows, another order or other columns.

${PACKAGES}

## Other systems

${toSystemSection(systems)}

Reference: [options](../3.reference/1.options.md), [errors](../3.reference/4.errors.md).
`
