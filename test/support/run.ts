/** The test command: runs every vitest project, names what was left out, ends with the line `N passed, N failed`. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { placeOf, unreachable } from './services.ts'
import { lastLine, type Tally } from './tally.ts'

const folder = mkdtempSync(join(tmpdir(), 'tally-'))
const file = join(folder, 'tally.json')

const { status } = spawnSync(
  'vitest',
  ['run', ...process.argv.slice(2)],
  { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, TALLY_FILE: file }, shell: process.platform === 'win32' },
)

const result: Tally = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { passed: 0, failed: 0, skipped: {}, failures: [] }
rmSync(folder, { recursive: true })

// A run that vitest itself calls failed is one, even when no single test is to blame.
if (status !== 0 && result.failed === 0) result.failed = 1

for (const failure of result.failures) console.log(`failed: ${failure}`)
for (const [name, count] of Object.entries(result.skipped)) console.log(`left out: ${count} of ${name}`)
for (const service of await unreachable()) console.log(`not reachable: ${service.name} at ${placeOf(service)}`)
console.log(lastLine(result))

process.exitCode = result.failed > 0 || result.passed === 0 ? 1 : 0
