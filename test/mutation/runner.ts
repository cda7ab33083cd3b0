/**
 * The test runner of Stryker for Vitest, which first tries all changes in one process (`sweep.ts`). Stryker then starts a process for
 * each change that could not be tried there, such as one in code that runs when a module loads.
 */
import { strykerPlugins as vitestPlugins } from '@stryker-mutator/vitest-runner'
import { appendFileSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { FOLDERS } from './folders.ts'
import { isInSample } from './sample.ts'

type Coverage = Record<string, number>
interface Run {
  readonly status: string
  readonly tests?: readonly { readonly id: string, readonly timeSpentMs: number }[]
  readonly mutantCoverage?: { readonly perTest: Record<string, Coverage>, readonly static: Coverage }
}
interface Test {
  readonly type: 'test'
  readonly name: string
  readonly meta: { readonly noticed?: Record<string, string>, readonly missed?: readonly string[], readonly stopped?: string }
}
interface Suite { readonly tasks: readonly (Test | Suite & { readonly type: 'suite' })[] }
/** The parts of Stryker's runner that are used here. Its package does not export the class. */
interface VitestRunner {
  readonly ctx: {
    provide: (key: string, value: unknown) => void
    readonly state: { getFiles: () => readonly Suite[], readonly errorsSet: ReadonlySet<unknown> }
    readonly projects: readonly { readonly config: { bail?: number } }[]
    readonly config: { bail?: number }
  }
  init: () => Promise<void>
  dryRun: (options: { readonly files?: readonly string[] }) => Promise<Run>
  mutantRun: (options: { readonly activeMutant: { readonly id: string }, readonly testFilter?: readonly string[] }) => Promise<object>
  run: (options: { readonly testIds: readonly string[] }) => Promise<object>
}
/** `null`: every test that runs the change passed with it. */
type Results = Record<string, { readonly tests: string[], readonly message: string } | null>

/** Where the results of the sweep are, for processes that Stryker starts later. */
const file = process.env.SWEEP_RESULTS ?? ''
/** Changes that the last run noticed. */
const known = new Set(process.env.SWEEP_KNOWN?.split(','))
/** Whether every test tries every change. Otherwise a change is done with the first test that notices it. */
const inAllTests = process.env.SWEEP_ALL_TESTS === '1'

type Factory = ((injector: unknown) => VitestRunner) & { readonly inject: readonly string[] }
const [vitest] = vitestPlugins as unknown as readonly { readonly factory: Factory }[]

function createRunner(injector: unknown): VitestRunner {
  const runner = vitest!.factory(injector)
  const init = runner.init.bind(runner)
  const mutantRun = runner.mutantRun.bind(runner)
  const dryRun = runner.dryRun.bind(runner)
  let results: Results = {}
  let unchanged: Run | undefined
  runner.init = async () => {
    await init()
    if (!existsSync(file)) {
      unchanged = await dryRun({ files: [] })
      writeFileSync(file, JSON.stringify(await sweep(runner, unchanged)))
    }
    results = JSON.parse(readFileSync(file, 'utf8')) as Results
  }
  runner.dryRun = async options => unchanged ?? dryRun(options)
  runner.mutantRun = async (options) => {
    const { id } = options.activeMutant
    if (!isInSample(id)) return { status: 'error', errorMessage: 'The change is not in the sample.' }
    const found = results[id]
    if (found === undefined) return mutantRun(options)
    if (found === null) return { status: 'survived', nrOfTests: options.testFilter?.length ?? 0 }
    return { status: 'killed', failureMessage: found.message, killedBy: found.tests, nrOfTests: 1 }
  }
  return runner
}
createRunner.inject = vitest!.factory.inject

/** Milliseconds. Fast tests try the changes first, so that slow ones try only those that no fast test noticed. */
const PACES: readonly (readonly [from: number, below: number])[] = [[0, 30], [30, 150], [150, Infinity]]

/** Tries the changes, one test file after another. A change is not in the results if a test that runs it could not try it. */
async function sweep(runner: VitestRunner, { tests: timed = [], mutantCoverage }: Run): Promise<Results> {
  const times = new Map(timed.map(({ id, timeSpentMs }) => [id, timeSpentMs]))
  const covered = new Map<string, [test: string, mutants: string[]][]>()
  /** How many tests run a change and have not tried it. Loading the code is one of them. */
  const untried = new Map<string, number>(Object.keys(mutantCoverage?.static ?? {}).map(mutant => [mutant, 1]))
  for (const [test, mutants] of Object.entries(mutantCoverage?.perTest ?? {})) {
    const path = fileOf(test)
    covered.set(path, [...covered.get(path) ?? [], [test, Object.keys(mutants)]])
    for (const mutant of Object.keys(mutants)) untried.set(mutant, (untried.get(mutant) ?? 0) + 1)
  }
  const results: Results = {}
  const configs = [runner.ctx.config, ...runner.ctx.projects.map(({ config }) => config)]
  const bail = configs.map(config => config.bail)
  for (const config of configs) config.bail = 0
  const paths = FOLDERS[process.env.MUTATED!]!.tests.flatMap(pattern => globSync(pattern))
  for (const { path, from, below } of PACES.flatMap(([from, below]) => paths.map(path => ({ path, from, below })))) {
    const tests = (covered.get(path) ?? []).filter(([test]) => {
      const time = times.get(test) ?? 0
      return time >= from && time < below
    })
    const isOpen = (mutant: string) => isInSample(mutant) && !known.has(mutant) && (inAllTests || !Object.hasOwn(results, mutant))
    const plan = Object.fromEntries(tests.map(([test, mutants]) => [test, mutants.filter(isOpen)]))
    if (Object.values(plan).flat().length === 0) continue
    const start = Date.now()
    runner.ctx.provide('sweep', plan)
    // An error outside of a test, such as a promise that nobody awaits, must not end the sweep.
    await runner.run({ testIds: Object.keys(plan) }).catch((error: unknown) => {
      const messages = [error, ...runner.ctx.state.errorsSet].map(found => String((found as { readonly message?: unknown }).message))
      appendFileSync(`${file}.log`, `${path}: ${messages.map(message => message.slice(0, 200)).join(', ')}\n`)
    })
    const ran = runner.ctx.state.getFiles().flatMap(testsOf)
    for (const { name, meta } of ran) {
      for (const [mutant, message] of Object.entries(meta.noticed ?? {}))
        (results[mutant] ??= { tests: [], message }).tests.push(Object.keys(plan).find(test => test.endsWith(name.trim())) ?? path)
      for (const mutant of meta.missed ?? []) untried.set(mutant, untried.get(mutant)! - 1)
    }
    const count = Object.keys(results).length
    for (const { name, meta: { stopped } } of ran) if (stopped) appendFileSync(`${file}.log`, `${path}, ${name}: ${stopped}\n`)
    appendFileSync(
      `${file}.log`,
      `${path}, tests of at least ${from} ms: ${count} of ${untried.size} changes noticed so far, ${Date.now() - start} ms\n`,
    )
  }
  for (const [mutant, count] of untried) if (count === 0 && !known.has(mutant)) results[mutant] ??= null
  runner.ctx.provide('sweep', undefined)
  configs.forEach((config, index) => {
    config.bail = bail[index]
  })
  return results
}

const fileOf = (test: string) => test.slice(0, test.indexOf('#'))

function testsOf(suite: Suite): Test[] {
  return suite.tasks.flatMap(task => task.type === 'suite' ? testsOf(task) : [task])
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'sweeping-vitest', factory: createRunner }]
export { strykerValidationSchema } from '@stryker-mutator/vitest-runner'
