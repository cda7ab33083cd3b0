/**
 * The projects of `npm test`: `process`, `build`, `unit`, `types`, `engines`, `drizzle-1`, `e2e` and `package`. Their files:
 * `test/support/tiers.ts`.
 */
import { configDefaults, defineConfig } from 'vitest/config'
import { drizzleModule, packageAliases, virtualModules } from './test/support/aliases.ts'
import { LongestFirst } from './test/support/longest-first.ts'
import { createTallyReporter } from './test/support/reporter.ts'
import { DRIZZLE_1, FULL_ONLY, isFull, PROJECTS, type ProjectName } from './test/support/tiers.ts'

const minutes = (n: number) => n * 60_000

const LEFT_OUT = isFull ? [] : Object.keys(FULL_ONLY)

/** Only the projects before this one can list files of it. */
function filesOf(name: ProjectName) {
  const names = Object.keys(PROJECTS) as ProjectName[]
  const before = names.slice(0, names.indexOf(name)).flatMap(earlier => PROJECTS[earlier])
  return { name, include: [...PROJECTS[name]], exclude: [...configDefaults.exclude, ...before, ...LEFT_OUT] }
}

/** Files of a group run side by side, groups one after another: a build of Nuxt never runs beside the tests of the engines. */
const inGroup = (groupOrder: number, maxWorkers = 2) => ({ maxWorkers, sequence: { groupOrder } })

/**
 * Built servers, browsers and package registries are slow at times. On push a test that needs a second try is a fault: see `test/flaky.md`.
 */
const RETRY = { retry: isFull ? 1 : 0 }

/** The test command prints a summary itself. In the full tier, tests print what they counted. */
const { TALLY_FILE } = process.env
const reporters = TALLY_FILE
  ? [['agent', { silent: isFull ? false : 'passed-only' }] as ['agent', object], createTallyReporter(TALLY_FILE)]
  : ['default']

export default defineConfig({
  resolve: {
    alias: [
      { find: '#auto-api/drizzle', replacement: drizzleModule },
      { find: /^#auto-api\/(.+)$/, replacement: `${virtualModules}/$1` },
      ...Object.entries(packageAliases()).map(([name, source]) => ({ find: new RegExp(`^${name}$`), replacement: source })),
    ],
  },
  test: {
    reporters,
    setupFiles: ['test/support/setup.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          ...filesOf('types'),
          include: [],
          setupFiles: [],
          typecheck: {
            enabled: true,
            only: true,
            checker: 'vue-tsc',
            tsconfig: './test/types/tsconfig.json',
            include: [...PROJECTS.types],
          },
          ...inGroup(0, 1),
        },
      },
      {
        extends: true,
        // The files of a worker share their modules: loading the server takes longer than most tests.
        test: { ...filesOf('unit'), isolate: false, testTimeout: minutes(1), hookTimeout: minutes(1), ...inGroup(1) },
      },
      {
        extends: true,
        test: { ...filesOf('process'), testTimeout: minutes(1), hookTimeout: minutes(1), ...inGroup(1) },
      },
      {
        extends: true,
        test: { ...filesOf('build'), testTimeout: minutes(1), hookTimeout: minutes(1), ...inGroup(1) },
      },
      {
        extends: true,
        // In the full tier, tests measure the memory of their process.
        test: { ...filesOf('engines'), isolate: isFull, testTimeout: minutes(4), hookTimeout: minutes(1), ...inGroup(2) },
      },
      {
        extends: true,
        resolve: { alias: [{ find: /^drizzle-orm(?=$|\/)/, replacement: 'drizzle-orm-1' }] },
        test: {
          name: 'drizzle-1',
          include: [...DRIZZLE_1[isFull ? 'full' : 'push']],
          exclude: [...configDefaults.exclude, ...LEFT_OUT],
          isolate: isFull,
          // On push: one engine of each dialect that differs between the versions, both without a server.
          env: isFull ? {} : { ENGINE: process.env.ENGINE ?? 'better-sqlite3,pglite' },
          testTimeout: minutes(4),
          hookTimeout: minutes(1),
          ...inGroup(2),
        },
      },
      {
        extends: true,
        test: {
          ...filesOf('e2e'),
          testTimeout: minutes(1),
          hookTimeout: minutes(5),
          // Another server may be built at the same time.
          expect: { poll: { timeout: 5_000 } },
          // Concurrent tests share a browser.
          maxConcurrency: 3,
          ...RETRY,
          ...inGroup(3),
        },
      },
      {
        extends: true,
        test: { ...filesOf('package'), testTimeout: minutes(2), hookTimeout: minutes(10), ...RETRY, ...inGroup(3) },
      },
    ],
  },
})
