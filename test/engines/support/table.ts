/** Runs the suite of engines and prints one line for each: how many tests passed, failed and were left out. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Results { testResults: { assertionResults: { ancestorTitles: string[], status: string }[] }[] }

const folder = mkdtempSync(join(tmpdir(), 'engines-'))
const file = join(folder, 'results.json')
const { status } = spawnSync(
  'vitest',
  ['run', '--project', 'engines', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Results
rmSync(folder, { recursive: true })

const counts = new Map<string, { passed: number, failed: number, skipped: number }>()
for (const { ancestorTitles: [engine = ''], status } of testResults.flatMap(({ assertionResults }) => assertionResults)) {
  const count = counts.get(engine) ?? { passed: 0, failed: 0, skipped: 0 }
  counts.set(engine, count)
  count[status === 'passed' || status === 'failed' ? status : 'skipped']++
}
console.table(Object.fromEntries(counts))
process.exitCode = status ?? 1
