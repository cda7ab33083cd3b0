/** The charts of the benchmark, and its database. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getTableColumns } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { drawChart } from '../../bench/chart'
import { findLosses } from '../../bench/guard'
import { toFiles, type Results } from '../../bench/publish'
import type { SystemsResults } from '../../bench/systems/report'
import { auditLogTable } from '../../src/runtime/plugins/schema-sqlite'
import { root } from '../support/once'

describe('a chart', () => {
  const svg = drawChart({ title: 'a < b', unit: 'requests', groups: [{ label: 'get', bars: [{ label: 'x', value: 1 }, { label: 'y', value: 4000, own: true }] }] })

  it('escapes its texts, and contains every value as text', () => {
    expect(svg).toContain('<title id="t">a &lt; b</title>')
    expect(svg).toContain('<desc id="d">requests. get: x 1.00, y 4 000.</desc>')
  })

  it('draws the longest bar over the whole width, and small values too', () => {
    expect([...svg.matchAll(/width="(\d+)" height="18"/g)].map(([, width]) => Number(width))).toEqual([2, 466])
  })
})

describe('the guard', () => {
  const accepted = { get: 2, list: 3 }
  const runs = (...ratios: readonly (readonly [get: number, list: number])[]) => {
    let run = 0
    const measure = () => Promise.resolve([
      ...Object.keys(accepted).map(operation => ({ operation, implementation: 'a', cpuRatio: 1 })),
      { operation: 'get', implementation: 'd', cpuRatio: ratios[run]![0] },
      { operation: 'list', implementation: 'd', cpuRatio: ratios[run++]![1] },
    ])
    return findLosses(measure, accepted).then(losses => ({ runs: run, losses: losses.map(({ operation }) => operation) }))
  }

  it.each([
    ['nothing is slower', [[1.61, 2.41]], 1, []],
    ['one is slower once', [[1.5, 3], [2, 3], [2, 3]], 3, []],
    ['two are slower once each', [[1.5, 3], [2, 2], [2, 3]], 3, []],
    ['one is slower twice', [[1.5, 3], [1.5, 3]], 2, ['get']],
    ['one is slower in the first and the last run', [[2, 2.3], [2, 3], [2, 2.3]], 3, ['list']],
  ] as const)('measures until it knows: %s', async (_what, ratios, count, losses) => {
    expect(await runs(...ratios)).toEqual({ runs: count, losses })
  })

  it('leaves out an operation that was never accepted, or that is compared with something else', async () => {
    const measure = () => Promise.resolve([
      { operation: 'new', implementation: 'a', cpuRatio: 1 },
      { operation: 'new', implementation: 'd', cpuRatio: 0.1 },
      { operation: 'get', implementation: 'bare', cpuRatio: 1 },
      { operation: 'get', implementation: 'd', cpuRatio: 0.1 },
    ])
    expect(await findLosses(measure, accepted)).toEqual([])
  })
})

describe('the published results', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(root, `bench/results/${name}.json`), 'utf8')) as unknown
  const files = toFiles(read('handlers') as Results, read('systems') as SystemsResults)

  it.each(Object.keys(files))('are those of %s', (path) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(files[path])
  })
})

it('has an audit log with the columns of the plugin', () => {
  // The app of the benchmark is not prepared on a fresh machine, so its file cannot be imported.
  const schema = readFileSync(join(root, 'bench/app/server/database/schema.ts'), 'utf8')
  const [, columns = ''] = /sqliteTable\('audit_log', \{([\s\S]+?)\n\}/.exec(schema)!
  const names = [...columns.matchAll(/\w+\('(\w+)'/g)].map(([, name]) => name)
  expect(names.sort()).toEqual(Object.values(getTableColumns(auditLogTable())).map(({ name }) => name).sort())
})
