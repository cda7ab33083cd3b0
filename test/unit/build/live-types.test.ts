/** The option `live` of queries, which only apps with the plugin `live` have. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { writeTypedProject } from '../../support/typed-project'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'live-'))
afterAll(() => rmSync(folder, { recursive: true }))

const QUERIES = [
  'useAutoApiList(\'things0\', {}, { live: true })',
  'useAutoApiGet(\'things0\', 1, {}, { live: true })',
  'useAutoApiInfinite(\'things0\', {}, { live: true, enabled: () => true })',
  'useAutoApiAggregate(\'things0\', { aggregate: [\'count\'] }, { live: true })',
]

/** Returns the errors of the compiler, one per line. */
async function errorsOf(name: string, plugins: readonly string[], code: (at: string) => string): Promise<string[]> {
  const at = join(folder, name)
  mkdirSync(at)
  await writeTypedProject(at, 1, () => '', undefined, [...plugins])
  writeFileSync(join(at, 'page.ts'), code(at))
  const config = { extends: './tsconfig.json', files: ['page.ts', 'auto-api.d.ts', 'imports.d.ts'] }
  writeFileSync(join(at, 'tsconfig.page.json'), JSON.stringify(config))
  const { stdout } = spawnSync(
    process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(at, 'tsconfig.page.json'), '--pretty', 'false'],
    { encoding: 'utf8' },
  )
  return stdout.split('\n').filter(line => /error TS/.test(line))
}

const importOf = (at: string, names: string, file: string) => `import { ${names} } from '${relative(at, join(root, 'src/runtime', file))}'\n`
const queries = (at: string) =>
  importOf(at, 'useAutoApiList, useAutoApiGet, useAutoApiInfinite, useAutoApiAggregate', 'app/index')
  // Every app can import the composable, and its types do not bring the option.
  + importOf(at, 'useAutoApiLive', 'plugins/live/app/index')
  + `${QUERIES.join('\n')}\nuseAutoApiLive('things0', () => {})\n`

it('is an error without the plugin', async () => {
  const errors = await errorsOf('without', [], queries)
  expect(errors).toHaveLength(QUERIES.length)
  for (const error of errors) expect(error).toMatch(/'live' does not exist in type/)
}, 120_000)

it('is a boolean with the plugin', async () => {
  expect(await errorsOf('with', ['live'], queries)).toEqual([])
  const mistaken = (at: string) => importOf(at, 'useAutoApiList', 'app/index') + 'useAutoApiList(\'things0\', {}, { live: 1 })\n'
  expect(await errorsOf('mistaken', ['live'], mistaken)).toEqual([expect.stringContaining('is not assignable to type \'boolean')])
}, 120_000)
