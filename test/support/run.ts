/**
 * The test command: prepares the apps, runs every vitest project, prints failed, flaky and skipped tests and the slowest files, and ends
 * with
 * `N passed, N failed`. Arguments are those of vitest. Environment variables:
 *
 * - `FULL=1`: the full tier instead of the one that every change has to pass.
 * - `SEED`: the seed of all property tests, to repeat a run. The run prints it.
 * - `TIMES_FILE`: where to write the seconds of each file, as JSON.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare, TESTED } from './prepare.ts'
import type { Written } from './reporter.ts'
import { addressOf, unreachable } from './services.ts'
import { lastLine, type Tally } from './tally.ts'
import { isFull, TIER } from './tiers.ts'
import { describeFiles, describeGrowth, keptFiles } from './times.ts'

const folder = mkdtempSync(join(tmpdir(), 'tally-'))
const file = join(folder, 'tally.json')
const seed = process.env.SEED ?? String(Math.floor(Math.random() * 2 ** 31))

await prepare(TESTED)
console.log(`tier: ${TIER}, seed of the property tests: ${seed}`)

const { status } = spawnSync(
  'vitest',
  ['run', ...process.argv.slice(2)],
  { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, TALLY_FILE: file, SEED: seed }, shell: process.platform === 'win32' },
)

const nothing: Tally = { passed: 0, failed: 0, skipped: {}, failures: [], flaky: [] }
const { tally, times }: Written = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { tally: nothing, times: {} }
rmSync(folder, { recursive: true })
if (process.env.TIMES_FILE) writeFileSync(process.env.TIMES_FILE, JSON.stringify(times))

// Vitest can fail a run in which no test failed.
if (status !== 0 && tally.failed === 0) tally.failed = 1

console.log('\nseconds of each file, worst first')
for (const line of describeFiles(times)) console.log(line)
// A part of the tests has other shares.
if (process.argv.length === 2) for (const line of describeGrowth(times, keptFiles(TIER))) console.log(`grew: ${line}`)
for (const failure of tally.failures) console.log(`failed: ${failure}`)
for (const test of tally.flaky) console.log(`flaky: ${test}`)
for (const [name, count] of Object.entries(tally.skipped)) console.log(`skipped: ${count} of ${name}`)
for (const service of await unreachable())
  if (isFull || !service.fullOnly) console.log(`not reachable: ${service.name} at ${addressOf(service)}`)
console.log(lastLine(tally))

process.exitCode = tally.failed > 0 || tally.passed === 0 ? 1 : 0
