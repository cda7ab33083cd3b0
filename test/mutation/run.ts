/**
 * Mutation tests: changes the code of a folder of `folders.ts` in small ways, one at a time, and checks that a unit test fails each time. A
 * copy of the repository is changed. What has not changed since the last run is not tested again.
 *
 *     npm run test:mutation -- row-scope api-tokens
 *     npm run test:mutation -- --all
 */
import { Stryker } from '@stryker-mutator/core'
import { globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { FOLDERS } from './folders.ts'
import { findNoticed } from './known.ts'
import { toRange } from './places.ts'
import { report } from './report.ts'
import { isSampling } from './sample.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
process.chdir(root)

const given = process.argv.slice(2)
const names = given.includes('--all') ? Object.keys(FOLDERS) : given
const unknown = names.find(name => !Object.hasOwn(FOLDERS, name))
if (names.length === 0 || unknown !== undefined) {
  console.error(`${unknown === undefined ? 'Name a folder' : `There is no folder \`${unknown}\``}: ${Object.keys(FOLDERS).join(', ')}.`)
  process.exit(2)
}

/** The results of the last run, and the report with all mutants. */
const results = 'node_modules/.cache/mutation'
mkdirSync(results, { recursive: true })

for (const name of names) {
  const { code, tests, goal, places } = FOLDERS[name]!
  // The workers of Stryker read these in the configuration of vitest and in `runner.ts`.
  process.env.MUTATED = name
  process.env.SWEEP_RESULTS = `${root}${results}/${name}.sweep.json`
  rmSync(process.env.SWEEP_RESULTS, { force: true })
  process.env.SWEEP_ALL_TESTS = places ? '1' : ''
  process.env.SWEEP_KNOWN = isSampling || places ? '' : findNoticed(`${results}/${name}.json`, tests.flatMap(pattern => globSync(pattern))).join()
  const mutants = await new Stryker({
    testRunner: 'sweeping-vitest',
    plugins: [fileURLToPath(new URL('runner.ts', import.meta.url))],
    mutate: places?.map(place => toRange(place, readFileSync(`src/runtime/${place.file}`, 'utf8'))) ?? [...code],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false, pool: 'forks' },
    // The text of a message is no behavior.
    mutator: { excludedMutations: ['StringLiteral'] },
    // Vitest reads the TypeScript settings of `.nuxt`, which Stryker does not copy by itself.
    ignorePatterns: ['!.nuxt', '/bench', '/docs', '/dist', '.output', '.data', '/test/e2e', '/test/package', '/test/fixtures/*/.nuxt'],
    incremental: !isSampling && !places,
    incrementalFile: `${results}/${name}.json`,
    reporters: ['html', 'progress-append-only'],
    htmlReporter: { fileName: `${results}/${name}.html` },
    tempDirName: '.stryker',
    concurrency: Number(process.env.CONCURRENCY ?? 1),
    timeoutMS: 30_000,
    thresholds: { high: 100, low: goal, break: null },
  }).runMutationTest()
  if (!report(name, mutants)) process.exitCode = 1
}
