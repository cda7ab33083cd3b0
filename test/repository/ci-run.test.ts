/** `.ci/run` with a stand-in for npm: a step that fails is reported, and the others run. */
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/once'

/** Prints a tally for the commands that run tests. A command that starts like the pattern $FAILS fails. */
const NPM = `#!/bin/sh
echo "$*" >> "$CALLS"
[ -n "$FAILS" ] && echo "$*" | grep -qE "^($FAILS)" && { echo broken; exit 1; }
case "$*" in
  test) echo "seconds"; echo "failed: one"; echo "$TALLY" ;;
  "run test:versions"*) echo "2 passed, 0 failed" ;;
esac
`
const SERVICES = 'PUSH_SERVICES=(a) FULL_SERVICES=(a b)\nstart_services() { echo "services $*" >> "$CALLS"; [ "$FAILS" != services ]; }\n'

/** Each step, and a pattern of what it runs. */
const STEPS = {
  'services': 'services',
  'install': 'ci|install',
  'lint': 'run lint',
  'prepare': 'run prepare:apps',
  'typecheck': 'run typecheck',
  'test': 'test',
  'nuxt-5': 'run test:versions -- nuxt-5 ',
  'build': 'run build',
}
/** The steps that the full tier adds. */
const OF_FULL = { 'nuxt-4.0': 'run test:versions -- nuxt-4.0 ', 'nuxt-4.1': 'run test:versions -- nuxt-4.1 ' }
const OF_RELEASES = { mutation: 'run test:mutation -- --all', benchmark: 'run bench -- --guard' }

const folder = mkdtempSync(join(tmpdir(), 'ci-run-'))
const calls = join(folder, 'calls')

beforeAll(() => {
  mkdirSync(join(folder, '.ci'))
  mkdirSync(join(folder, 'bin'))
  copyFileSync(join(root, '.ci/run'), join(folder, '.ci/run'))
  writeFileSync(join(folder, '.ci/services.sh'), SERVICES)
  writeFileSync(join(folder, 'bin/npm'), NPM)
  chmodSync(join(folder, 'bin/npm'), 0o755)
})

afterAll(() => rmSync(folder, { recursive: true }))

interface Given {
  /** The step that fails. */
  readonly fails?: string
  readonly tally?: string
  readonly tier?: 'FULL' | 'RELEASE'
}

function run({ fails = '', tally = '3 passed, 0 failed', tier }: Given = {}) {
  rmSync(calls, { force: true })
  const { FULL: _, RELEASE: __, KEEP_TIMES: ___, ...env } = process.env
  const PATH = [join(folder, 'bin'), env.PATH].join(delimiter)
  const { status, stdout } = spawnSync('bash', [join(folder, '.ci/run')], {
    encoding: 'utf8', env: { ...env, PATH, CALLS: calls, FAILS: fails, TALLY: tally, ...tier && { [tier]: '1' } },
  })
  const outcomes = Object.fromEntries(
    [...stdout.matchAll(/^([\w.-]+) +(ok|FAILED) +\d+ s$/gm)].map(([, name, outcome]) => [name!, outcome!]),
  )
  return { status, stdout, outcomes, called: readFileSync(calls, 'utf8').trimEnd().split('\n'), last: stdout.trimEnd().split('\n').at(-1) }
}

const all = (steps: object, outcome: string) => Object.fromEntries(Object.keys(steps).map(name => [name, outcome]))

it('runs every step, and prints the tally of the tests last', () => {
  const { status, outcomes, last } = run()
  expect({ status, outcomes, last }).toEqual({
    status: 0,
    outcomes: { ...all(STEPS, 'ok'), complete: 'ok', total: 'ok' },
    last: '3 passed, 0 failed',
  })
})

it.each(Object.entries(STEPS))('reports that %s failed, and runs the other steps', (name, command) => {
  const { status, outcomes, called, last, stdout } = run({ fails: command })
  // Tests that did not run have no tally.
  const without = name === 'test' ? { complete: 'FAILED' } : {}
  expect({ status, outcomes }).toEqual({
    status: 1,
    outcomes: { ...all(STEPS, 'ok'), complete: 'ok', ...without, [name]: 'FAILED', total: 'FAILED' },
  })
  for (const other of Object.values(STEPS)) expect(called.some(call => new RegExp(`^(?:${other})`).test(call))).toBe(true)
  expect(last).toBe(name === 'test' ? '0 passed, 1 failed' : '3 passed, 0 failed')
  if (name !== 'services') expect(stdout).toContain('broken')
})

it('fails if tests were skipped, or if no tally was printed', () => {
  expect(run({ tally: '3 passed, 0 failed, 1 skipped' })).toMatchObject({ status: 1, outcomes: { test: 'ok', complete: 'FAILED' } })
  expect(run({ tally: 'nothing' })).toMatchObject({ status: 1, outcomes: { complete: 'FAILED' }, last: '0 passed, 1 failed' })
})

describe('the other tiers', () => {
  it('full starts more services, tests more files with each version of Nuxt and keeps the times', () => {
    const { called, outcomes } = run({ tier: 'FULL' })
    expect(outcomes).toEqual({ ...all({ ...STEPS, ...OF_FULL }, 'ok'), complete: 'ok', total: 'ok' })
    expect(called).toContain('services a b')
    const testsOf = (set: string) => called.find(call => call.startsWith(`run test:versions -- ${set} `))!.match(/test\/e2e\/\S+/g)!.sort()
    expect(testsOf('nuxt-5')).toContain('test/e2e/browser')
    expect([...testsOf('nuxt-4.0'), ...testsOf('nuxt-4.1')].sort()).toEqual(testsOf('nuxt-5'))
    expect(called.at(-1)).toMatch(/^run --silent test:keep-times/)
  })

  it.each(Object.entries(OF_FULL))('full reports that %s failed', (name, command) => {
    const { status, outcomes } = run({ tier: 'FULL', fails: command })
    expect({ status, outcomes }).toMatchObject({ status: 1, outcomes: { ...all(STEPS, 'ok'), [name]: 'FAILED' } })
  })

  it('a failed run keeps no times', () => {
    expect(run({ tier: 'FULL', fails: 'run lint' }).called.join('\n')).not.toContain('test:keep-times')
  })

  it.each(Object.entries(OF_RELEASES))('release reports that %s failed', (name, command) => {
    const { status, outcomes } = run({ tier: 'RELEASE', fails: command })
    expect({ status, outcomes }).toMatchObject({ status: 1, outcomes: { ...all(OF_RELEASES, 'ok'), test: 'ok', [name]: 'FAILED' } })
  })
})
