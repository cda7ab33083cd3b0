/**
 * Mutation tests: changes the code of a folder of `folders.ts` in small ways, one at a time, and checks that a unit test fails each time. A
 * copy of the repository is changed. What has not changed since the last run is not tested again.
 *
 *     npm run test:mutation -- row-scope api-tokens
 */
import { Stryker } from '@stryker-mutator/core'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { FOLDERS } from './folders.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
process.chdir(root)

const names = process.argv.slice(2)
const unknown = names.find(name => !Object.hasOwn(FOLDERS, name))
if (names.length === 0 || unknown !== undefined) {
  console.error(`${unknown === undefined ? 'Name a folder' : `There is no folder \`${unknown}\``}: ${Object.keys(FOLDERS).join(', ')}.`)
  process.exit(2)
}

/** The results of the last run, and the report with all mutants. */
const results = 'node_modules/.cache/mutation'
mkdirSync(results, { recursive: true })

for (const name of names) {
  const { code, goal } = FOLDERS[name]!
  // The workers of Stryker read it in the configuration of vitest.
  process.env.MUTATED = name
  const mutants = await new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    mutate: [...code],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false, pool: 'forks' },
    // The text of a message is no behavior.
    mutator: { excludedMutations: ['StringLiteral'] },
    ignorePatterns: ['/bench', '/docs', '/dist', '.output', '.data', '/test/e2e', '/test/package', '/test/fixtures/*/.nuxt'],
    incremental: true,
    incrementalFile: `${results}/${name}.json`,
    reporters: ['clear-text', 'html', 'progress-append-only'],
    htmlReporter: { fileName: `${results}/${name}.html` },
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    tempDirName: `${results}/sandbox`,
    concurrency: Number(process.env.CONCURRENCY ?? 1),
    timeoutMS: 30_000,
    thresholds: { high: 100, low: goal, break: null },
  }).runMutationTest()
  const count = (...statuses: readonly string[]) => mutants.filter(({ status }) => statuses.includes(status)).length
  const noticed = count('Killed', 'Timeout')
  const score = 100 * noticed / (noticed + count('Survived', 'NoCoverage'))
  console.log(`${name}: ${noticed} of ${noticed + count('Survived', 'NoCoverage')} mutants were noticed, ${score.toFixed(1)} %. The goal is ${goal} %.`)
  if (score < goal) process.exitCode = 1
}
