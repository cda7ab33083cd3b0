/** Counts what a run really did: passed, failed and skipped tests, suites that broke and errors nobody caught. */

/** The part of a finished vitest run that is counted; vitest's own objects fit. */
export interface FinishedModule {
  readonly relativeModuleId: string
  errors: () => readonly unknown[]
  readonly children: {
    allTests: () => Iterable<{ readonly fullName: string, result: () => { readonly state: string, readonly errors?: readonly unknown[] } }>
    allSuites: () => Iterable<{ readonly fullName: string, errors: () => readonly unknown[] }>
  }
}

export interface Tally {
  passed: number
  failed: number
  /** Tests left out, by file. */
  skipped: Record<string, number>
  /** What failed and the first line of why: the place to begin when only the end of a log is left. */
  failures: string[]
}

/** A suite whose set-up broke counts as one failure: its tests never ran, so they cannot speak for themselves. */
export function tally(modules: readonly FinishedModule[], unhandledErrors: readonly unknown[]): Tally {
  const result: Tally = { passed: 0, failed: 0, skipped: {}, failures: [] }
  for (const error of unhandledErrors) fail(result, 'an error nobody caught', [error])
  for (const module of modules) {
    const file = module.relativeModuleId
    if (module.errors().length > 0) fail(result, file, module.errors())
    for (const suite of module.children.allSuites()) {
      if (suite.errors().length > 0) fail(result, `${file} > ${suite.fullName}`, suite.errors())
    }
    for (const test of module.children.allTests()) {
      const { state, errors = [] } = test.result()
      if (state === 'passed') result.passed++
      else if (state === 'skipped') result.skipped[file] = (result.skipped[file] ?? 0) + 1
      // `failed`, and `pending`: a test that was collected and never finished.
      else fail(result, `${file} > ${test.fullName}`, errors)
    }
  }
  return result
}

/** Of a failed property the message holds the seed and the counterexample: a few lines, not one. */
const LINES_OF_A_FAILURE = 6

function fail(result: Tally, name: string, errors: readonly unknown[]): void {
  const [message = 'never finished'] = errors.map(error => String((error as { message?: unknown } | null)?.message ?? error))
  result.failed++
  result.failures.push(`${name}: ${message.split('\n', LINES_OF_A_FAILURE).map(line => line.slice(0, 500)).join(' ↵ ')}`)
}

/** The last line of a test run: `12 passed, 0 failed`, with `, 3 skipped` when tests were left out. */
export function lastLine({ passed, failed, skipped }: Tally): string {
  const left = Object.values(skipped).reduce((sum, n) => sum + n, 0)
  return `${passed} passed, ${failed} failed${left > 0 ? `, ${left} skipped` : ''}`
}
