/**
 * Runs each test once per change, in one process: the code has all changes of Stryker in it, and a variable selects one. Loading the code
 * and starting a process takes much longer than most tests.
 *
 * A test takes part if it passes twice without a change. A failure counts only if the test passes again afterwards without the change:
 * then it was the change that made it fail, and not what an earlier change left behind.
 */
import { relative } from 'node:path'
import { inject, TestRunner, type RunnerTestCase } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The changes to try, by test. Absent in a run of Stryker itself. */
    sweep?: Readonly<Record<string, readonly string[]>>
    testNameSeparator: string
  }

  interface TaskMeta {
    /** The changes that made the test fail, with the message of the failure. */
    noticed?: Record<string, string>
    /** The changes that the test passed with. */
    missed?: string[]
    /** Why the test did not try the other changes. */
    stopped?: string
  }
}

/** What Stryker's instrumented code reads. */
interface Switch { activeMutant?: string, hitCount?: number, hitLimit?: number }

/** A change can make a loop endless. The code throws after this many passes through the change. */
const HIT_LIMIT = 100_000

type Attempt
  = | { readonly kind: 'unchanged' }
    | { readonly kind: 'changed', readonly mutant: string }
    | { readonly kind: 'again', readonly mutant: string, readonly message: string }

interface Progress {
  readonly queue: string[]
  readonly noticed: Record<string, string>
  readonly missed: string[]
  unchanged: number
  attempt: Attempt | undefined
}

export default class SweepingRunner extends TestRunner {
  readonly #tried = new Map<RunnerTestCase, Progress>()
  /** Changes that a test of this file has noticed. */
  readonly #noticed = new Set<string>()
  readonly #plan = inject('sweep')
  readonly #switch = ((globalThis as { __stryker__?: Switch }).__stryker__ ??= {})

  override async onBeforeRunTask(test: RunnerTestCase) {
    await super.onBeforeRunTask(test)
    if (this.#plan === undefined) return
    const queue = (this.#plan[testId(test)] ?? []).filter(mutant => process.env.SWEEP_ALL_TESTS === '1' || !this.#noticed.has(mutant))
    if (queue.length === 0 || test.fails === true) {
      // Tests can depend on each other: it runs once, unchanged.
      return
    }
    test.repeats = 1 + 2 * queue.length
    this.#tried.set(test, { queue, noticed: {}, missed: [], unchanged: 0, attempt: undefined })
  }

  override onBeforeTryTask(test: RunnerTestCase, options: { retry: number, repeats: number }) {
    const progress = this.#tried.get(test)
    if (progress !== undefined) {
      progress.attempt = nextAttempt(progress)
      if (progress.attempt === undefined) throw new Error('Every change was tried.')
      this.#switch.hitCount = 0
      this.#switch.hitLimit = HIT_LIMIT
      this.#switch.activeMutant = progress.attempt.kind === 'changed' ? progress.attempt.mutant : undefined
    }
    super.onBeforeTryTask(test, options)
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: { retry: number, repeats: number }) {
    await super.onAfterRetryTask(test, options)
    const progress = this.#tried.get(test)
    if (progress?.attempt === undefined) return
    this.#switch.activeMutant = undefined
    const failed = test.result?.state === 'fail'
    const message = test.result?.errors?.[0]?.message ?? ''
    delete test.result?.errors
    const { attempt } = progress
    progress.attempt = undefined
    if (attempt.kind === 'unchanged') {
      progress.unchanged++
      if (failed) stop(test, progress, `does not pass ${progress.unchanged === 1 ? 'once' : 'twice'}: ${message}`)
    }
    else if (attempt.kind === 'changed') {
      if (!failed) progress.missed.push(attempt.mutant)
      // A slow machine can be the reason for a timeout. Stryker runs it again.
      else if (!/timed out/i.test(message)) progress.attempt = { kind: 'again', mutant: attempt.mutant, message }
    }
    else if (failed) {
      stop(test, progress, `does not pass after the change ${attempt.mutant}: ${message}`)
    }
    else {
      progress.noticed[attempt.mutant] = message
      this.#noticed.add(attempt.mutant)
    }
  }

  override onAfterRunTask(test: RunnerTestCase) {
    const progress = this.#tried.get(test)
    if (progress !== undefined) {
      test.meta.noticed = progress.noticed
      test.meta.missed = progress.missed
      test.result!.state = 'pass'
    }
    super.onAfterRunTask(test)
  }
}

function stop(test: RunnerTestCase, { queue }: Progress, reason: string): void {
  test.meta.stopped = `${queue.length} changes are left, because it ${reason.split('\n', 1)[0]}`
  queue.length = 0
}

/** The next attempt, or `undefined` when there is none. */
function nextAttempt({ attempt, unchanged, queue }: Progress): Attempt | undefined {
  if (attempt !== undefined) return attempt
  if (queue.length === 0) return undefined
  if (unchanged < 2) return { kind: 'unchanged' }
  return { kind: 'changed', mutant: queue.shift()! }
}

/** The id that Stryker gives a test. */
function testId(test: RunnerTestCase): string {
  const names = [test.name]
  for (let suite = test.suite; suite; suite = suite.suite) names.unshift(suite.name)
  return `${relative(process.cwd(), test.file.filepath).replaceAll('\\', '/')}#${names.join(inject('testNameSeparator')).trim()}`
}
