/** Measures `list` and `get` of one resource in an app with 5 resources and in an app with 200. */
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { appFolder, IMPLEMENTATIONS } from './implementations.ts'
import type { Sample } from './dataset.ts'
import { measure, toTargets, type Effort, type Generator } from './measure.ts'
import { OPERATIONS } from './operations.ts'
import type { Measured } from './report.ts'
import { startServer, type RunningServer } from './server.ts'
import { assertSameResponses } from './verify.ts'

const MANY = 200
const MEASURED = ['list 20', 'get']
const output = fileURLToPath(new URL('.output/resources', import.meta.url))

export async function compareResources(
  few: RunningServer,
  database: string,
  sample: Sample,
  generator: Generator,
  effort: Effort,
): Promise<Measured[]> {
  console.info(`building the app with ${MANY} resources …`)
  const { status, stdout, stderr } = spawnSync('nuxi', ['build', appFolder], {
    env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1', BENCH_RESOURCES: String(MANY), BENCH_OUTPUT: output },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`The app does not build.\n${stdout}\n${stderr}`)
  const copy = database.replace('.sqlite', '-many.sqlite')
  copyFileSync(database, copy)
  const d = IMPLEMENTATIONS.find(({ key }) => key === 'd')!
  const many = await startServer({ ...d, key: `d, ${MANY} resources`, entry: `${output}/server/index.mjs` }, copy)
  const servers = [{ ...few, implementation: { ...few.implementation, key: 'd, 5 resources' } }, many]
  try {
    const measured: Measured[] = []
    for (const operation of OPERATIONS.filter(({ title }) => MEASURED.includes(title))) {
      const bytes = await assertSameResponses(operation, servers, sample)
      console.info(`measuring ${operation.title} with ${MANY} resources …`)
      measured.push({
        operation: `${operation.title}, 5 and ${MANY} resources`,
        bytes,
        readings: await measure(toTargets(operation, servers, sample), generator, effort),
      })
    }
    return measured
  }
  finally {
    await many.stop()
  }
}
