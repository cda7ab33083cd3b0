/** What the types cost the compiler: so much per table, however many tables there are. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { writeTypedProject } from '../../support/typed-project'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'tables-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Instantiations of a project with so many tables, each used by a page. */
async function instantiationsOf(count: number): Promise<number> {
  const at = join(folder, String(count))
  mkdirSync(at)
  await writeTypedProject(at, count)
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', at, '--extendedDiagnostics'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`it does not compile\n${stdout}`)
  return Number(/^Instantiations:\s+(\d+)/m.exec(stdout)![1])
}

/** Measured: 6 400 for a table of twelve columns and a page that uses it. */
const BUDGET = 8_000

it('ten tables and fifty cost the same per table, and no more than the budget', async () => {
  const [ten, fifty] = [await instantiationsOf(10), await instantiationsOf(50)]
  const perTable = (fifty - ten) / 40
  expect(perTable).toBeLessThanOrEqual(BUDGET)
  // What is there without any table is paid once, so linear growth is less than five times.
  expect(fifty).toBeLessThanOrEqual(ten * 5)
  const twenty = await instantiationsOf(20)
  // The second ten cost what the first thirty after them do: no table pays for the others.
  expect(Math.abs((twenty - ten) / 10 - (fifty - twenty) / 30)).toBeLessThan(perTable * 0.1)
}, 120_000)
