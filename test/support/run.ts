/** The test command: runs every vitest project, prints failed, flaky and skipped tests, and ends with `N passed, N failed`. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, unreachable } from './services.ts'
import { lastLine, type Tally } from './tally.ts'

const folder = mkdtempSync(join(tmpdir(), 'tally-'))
const file = join(folder, 'tally.json')

const { status } = spawnSync(
  'vitest',
  ['run', ...process.argv.slice(2)],
  { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, TALLY_FILE: file }, shell: process.platform === 'win32' },
)

const result: Tally = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { passed: 0, failed: 0, skipped: {}, failures: [], flaky: [] }
rmSync(folder, { recursive: true })

// Vitest can fail a run in which no test failed.
if (status !== 0 && result.failed === 0) result.failed = 1

for (const failure of result.failures) console.log(`failed: ${failure}`)
for (const test of result.flaky) console.log(`flaky: ${test}`)
for (const [name, count] of Object.entries(result.skipped)) console.log(`skipped: ${count} of ${name}`)
for (const service of await unreachable()) console.log(`not reachable: ${service.name} at ${addressOf(service)}`)
console.log(lastLine(result))

process.exitCode = result.failed > 0 || result.passed === 0 ? 1 : 0
