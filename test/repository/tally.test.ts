/** The tally of a test run: every failure, skipped test and flaky test is counted. */
import { describe, expect, it } from 'vitest'
import { lastLine, tally, type FinishedModule, type FinishedTest } from '../support/tally'

/** A finished file as vitest reports it. */
function finished(states: string[], broken: { module?: boolean, suites?: number } = {}): FinishedModule {
  return {
    relativeModuleId: 'a.test.ts',
    errors: () => (broken.module ? [new Error('import failed')] : []),
    children: {
      allTests: () => states.map(toTest),
      allSuites: () =>
        Array.from({ length: broken.suites ?? 0 }, () => ({ fullName: 'a suite', errors: () => [new Error('set-up failed')] })),
    },
  }
}

/** A test as vitest reports it; `flaky` is one that passed on its retry. */
const toTest = (state: string): FinishedTest => ({
  fullName: `is ${state}`,
  result: () => ({ state: state === 'flaky' ? 'passed' : state, ...state === 'failed' && { errors: [new Error('seed 1\nmore')] } }),
  diagnostic: () => state === 'pending' ? undefined : { flaky: state === 'flaky' },
})

describe('the tally of a test run', () => {
  it.each([
    ['a passed test as passed', [finished(['passed', 'passed'])], [], '2 passed, 0 failed'],
    ['a failed test as failed', [finished(['passed', 'failed'])], [], '1 passed, 1 failed'],
    ['a skipped test as skipped', [finished(['passed', 'skipped'])], [], '1 passed, 0 failed, 1 skipped'],
    ['a test that never finished as failed', [finished(['pending'])], [], '0 passed, 1 failed'],
    ['a file that could not be loaded as failed', [finished([], { module: true })], [], '0 passed, 1 failed'],
    ['a suite whose set-up failed as failed', [finished(['skipped'], { suites: 1 })], [], '0 passed, 1 failed, 1 skipped'],
    ['a flaky test as passed', [finished(['flaky'])], [], '1 passed, 0 failed'],
    ['an unhandled error as failed', [finished(['passed'])], [new Error('later')], '1 passed, 1 failed'],
    ['several files together', [finished(['passed']), finished(['failed', 'skipped'])], [], '1 passed, 1 failed, 1 skipped'],
  ])('counts %s', (_rule, modules, errors, line) => {
    expect(lastLine(tally(modules, errors))).toBe(line)
  })

  it('names the tests that passed only on their retry', () => {
    expect(tally([finished(['passed', 'flaky', 'failed'])], []).flaky).toEqual(['a.test.ts > is flaky'])
  })

  it('names failed tests with the first lines of their errors', () => {
    expect(tally([finished(['failed', 'pending'], { suites: 1 })], [new Error('later')]).failures).toEqual([
      'an unhandled error: later',
      'a.test.ts > a suite: set-up failed',
      'a.test.ts > is failed: seed 1 ↵ more',
      'a.test.ts > is pending: never finished',
    ])
  })

  it('counts skipped tests by file', () => {
    expect(tally([finished(['skipped', 'skipped'])], []).skipped).toEqual({ 'a.test.ts': 2 })
  })
})
