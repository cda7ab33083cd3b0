/** Counts the results of a run: passed, failed, skipped and flaky tests, suites whose set-up failed, and unhandled errors. */

/** The part of vitest's `TestModule` that is counted. */
export interface FinishedModule {
  readonly relativeModuleId: string
  errors: () => readonly unknown[]
  readonly children: {
    allTests: () => Iterable<FinishedTest>
    allSuites: () => Iterable<{ readonly fullName: string, errors: () => readonly unknown[] }>
  }
}

/** The part of vitest's `TestCase` that is counted. */
export interface FinishedTest {
  readonly fullName: string
  result: () => { readonly state: string, readonly errors?: readonly unknown[] }
  diagnostic: () => { readonly flaky: boolean } | undefined
}

export interface Tally {
  passed: number
  failed: number
  /** Counts of skipped tests, by file. */
  skipped: Record<string, number>
  /** The failed tests, each with the first lines of its error. */
  failures: string[]
  /** Tests that passed only on their retry. */
  flaky: string[]
}

/** A suite whose set-up failed counts as one failure, because its tests never ran. */
export function tally(modules: readonly FinishedModule[], unhandledErrors: readonly unknown[]): Tally {
  const result: Tally = { passed: 0, failed: 0, skipped: {}, failures: [], flaky: [] }
  for (const error of unhandledErrors) fail(result, 'an unhandled error', [error])
  for (const module of modules) {
    const file = module.relativeModuleId
    if (module.errors().length > 0) fail(result, file, module.errors())
    for (const suite of module.children.allSuites()) {
      if (suite.errors().length > 0) fail(result, `${file} > ${suite.fullName}`, suite.errors())
    }
    for (const test of module.children.allTests()) {
      const { state, errors = [] } = test.result()
      if (state === 'passed') {
        result.passed++
        if (test.diagnostic()?.flaky) result.flaky.push(`${file} > ${test.fullName}`)
      }
      else if (state === 'skipped') result.skipped[file] = (result.skipped[file] ?? 0) + 1
      // `failed`, and `pending`: a test that was collected and never finished.
      else fail(result, `${file} > ${test.fullName}`, errors)
    }
  }
  return result
}

/** The message of a failed property holds the seed and the counterexample, in more than one line. */
const LINES_OF_A_FAILURE = 6

function fail(result: Tally, name: string, errors: readonly unknown[]): void {
  const [message = 'never finished'] = errors.map(error => String((error as { message?: unknown } | null)?.message ?? error))
  result.failed++
  result.failures.push(`${name}: ${message.split('\n', LINES_OF_A_FAILURE).map(line => line.slice(0, 500)).join(' ↵ ')}`)
}

/** The last line of a test run: `12 passed, 0 failed`, with `, 3 skipped` when tests were skipped. */
export function lastLine({ passed, failed, skipped }: Tally): string {
  const count = Object.values(skipped).reduce((sum, n) => sum + n, 0)
  return `${passed} passed, ${failed} failed${count > 0 ? `, ${count} skipped` : ''}`
}
