/** The type instantiations per table, which must not grow with the number of tables. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { formOf, writeTypedProject } from '../../support/typed-project'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'tables-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Type instantiations of a project with a number of tables, each used by one page. */
async function instantiationsOf(count: number, codeOf?: (index: number) => string): Promise<number> {
  const at = join(folder, `${count}-${codeOf?.name ?? 'pages'}`)
  mkdirSync(at)
  await writeTypedProject(at, count, codeOf)
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', at, '--extendedDiagnostics'],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`The project does not compile.\n${stdout}`)
  return Number(/^Instantiations:\s+(\d+)/m.exec(stdout)![1])
}

/** Measured: 7 500 for a table of twelve columns and a page that uses it. */
const BUDGET = 8_000

it('stay within the budget per table, with ten tables as with fifty', async () => {
  const [ten, fifty] = [await instantiationsOf(10), await instantiationsOf(50)]
  const perTable = (fifty - ten) / 40
  expect(perTable).toBeLessThanOrEqual(BUDGET)
  // The instantiations without any table are constant, so linear growth is less than five times.
  expect(fifty).toBeLessThanOrEqual(ten * 5)
  const twenty = await instantiationsOf(20)
  // The second ten tables cost as much per table as the next thirty.
  expect(Math.abs((twenty - ten) / 10 - (fifty - twenty) / 30)).toBeLessThan(perTable * 0.1)
}, 120_000)

/** Measured: 5 200 for a table of twelve columns, a form and a table on a page. */
const FORM_BUDGET = 6_500

it('stay within the budget for a page with a form and a table', async () => {
  const [ten, thirty] = [await instantiationsOf(10, formOf), await instantiationsOf(30, formOf)]
  expect((thirty - ten) / 20).toBeLessThanOrEqual(FORM_BUDGET)
  expect(thirty).toBeLessThanOrEqual(ten * 3)
}, 120_000)
