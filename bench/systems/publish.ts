/** The charts and the section of the report that are made from the comparison with other systems. */
import { drawChart, type Chart } from '../chart.ts'
import { grouped, toEarlierTable, toTables, type SystemsResults } from './report.ts'

type SystemResult = SystemsResults['systems'][number]

/** Who measured when: with each chart, because it is shown without its page too. */
const unit = (text: string, { date }: SystemsResults) => `${text}; shorter is better; measured by this project on ${date.slice(0, 10)}`

const need = (results: SystemsResults, groups: Readonly<Record<string, (system: SystemResult) => number>>): Chart['groups'] =>
  Object.entries(groups).map(([label, valueOf]) => ({
    label,
    bars: results.systems.map(system => toBar(results, system.key, valueOf(system))),
  }))

const toBar = ({ systems }: SystemsResults, key: string, value: number) => ({ label: key, value, own: key === systems[0]!.key })

const CHARTS: Readonly<Record<string, (results: SystemsResults) => Chart>> = {
  'systems-cpu': results => ({
    title: 'What a request costs, compared with other systems',
    unit: unit('processor time, nuxt-auto-api = 1', results),
    groups: [...new Set(results.lines.map(({ operation }) => operation))].map(label => ({
      label,
      bars: results.lines.filter(({ operation }) => operation === label).map(({ system, ratio }) => toBar(results, system, ratio)),
    })),
  }),
  'systems-memory': results => ({
    title: 'Memory of the server',
    unit: unit('MiB', results),
    groups: need(results, { 'after the first response': ({ idle }) => idle, 'at most, under load': ({ peak }) => peak }),
  }),
  'systems-start': results => ({
    title: 'Start of the server',
    unit: unit('seconds', results),
    groups: need(results, { 'until the first list': ({ firstAnswer }) => firstAnswer }),
  }),
  'systems-disk': results => ({
    title: 'Size on disk',
    unit: unit('MiB, without Node', results),
    groups: need(results, { 'the installed server': ({ disk }) => disk }),
  }),
}

/** Returns the text of each chart. */
export const toSystemCharts = (results: SystemsResults): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(CHARTS).map(([name, toChart]) => [`docs/images/${name}.svg`, drawChart(toChart(results))]))

/** The conditions and the tables, for the report. */
export const toSystemSection = (results: SystemsResults): string => {
  const { date, machine, node, effort, systems } = results
  const [authors, posts, comments] = [results.data.authors, results.data.posts, results.data.comments].map(grouped)
  return `This project measured them on ${date.slice(0, 10)}, on ${machine}, Node ${node}. \`npm run bench -- --systems\` installs the same
versions and measures again, on Linux with two cores and \`taskset\`.

- ${authors} authors, ${posts} posts, ${comments} comments, with the same indexes. Anonymous callers read published posts, members
  create posts. The body of each request is checked once before it is measured: rows, order, total, authors.
- One server at a time, pinned to one core, with a fresh copy of its database; autocannon with ${effort.connections} connections on the other core.
  ${effort.rounds} rounds, in which the systems take turns; ${effort.seconds} s for each operation; medians. Ratios are computed for each round.
- Processor time and memory are those of all processes of a server. The size on disk does not contain Node.

| system | SQLite | setup |
|---|---|---|
${systems.map(({ title, pragmas, setup }) => `| ${title} | ${pragmas} | ${setup} |`).join('\n')}

${toTables(results)}${toEarlierTable(results)}`
}
