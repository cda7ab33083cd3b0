/** Six kinds of tests: pure code, types, real databases, those with Drizzle 1.0 too, built Nuxt servers, the packed package. */
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { drizzleModule, packageAliases, virtualModules } from './test/support/aliases.ts'
import { tallyReporter } from './test/support/reporter.ts'

const minutes = (n: number) => n * 60_000

/** Files of a group run side by side, groups one after another: a build of Nuxt never runs beside the tests of the engines. */
const inGroup = (groupOrder: number, maxWorkers: number) => ({ maxWorkers, sequence: { groupOrder } })

/** Built servers, browsers and package registries are slow at times: their tests run again once. Tests of pure code never do. */
const RETRY = { retry: 1 }

/** The tests that run with both major versions of Drizzle: those of columns, sessions and statements. */
const DRIZZLE_1 = [
  'test/drizzle-1/**/*.test.ts',
  'test/unit/engines/**/*.test.ts',
  'test/unit/schema/!(relations).test.ts',
  process.env.FULL === '1'
    // These create their tables with Drizzle Kit 0.31, which does not read the tables of 1.0.
    ? 'test/engines/**/!(tasks|idempotency|audit-log|activity|api-tokens).test.ts'
    : 'test/engines/{suite,values,unfit,reading,bulk,links,in-commit-values,missing,replicas}.test.ts',
]

export default defineConfig({
  resolve: {
    alias: [
      { find: '#auto-api/drizzle', replacement: drizzleModule },
      { find: /^#auto-api\/(.+)$/, replacement: `${virtualModules}/$1` },
      ...Object.entries(packageAliases()).map(([name, source]) => ({ find: new RegExp(`^${name}$`), replacement: source })),
    ],
  },
  test: {
    reporters: ['default', tallyReporter],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: minutes(1),
          hookTimeout: minutes(1),
          ...inGroup(0, Math.max(2, availableParallelism() - 1)),
        },
      },
      {
        extends: true,
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            checker: 'vue-tsc',
            tsconfig: './test/types/tsconfig.json',
            include: ['test/types/**/*.{test,test-d}.ts'],
          },
          ...inGroup(1, 1),
        },
      },
      {
        extends: true,
        test: {
          name: 'engines',
          include: ['test/engines/**/*.test.ts'],
          testTimeout: minutes(4),
          hookTimeout: minutes(1),
          ...inGroup(2, 2),
        },
      },
      {
        extends: true,
        // The same tests with Drizzle 1.0. With `FULL=1`, all tests of `test/engines`.
        resolve: { alias: [{ find: /^drizzle-orm(?=$|\/)/, replacement: 'drizzle-orm-1' }] },
        test: {
          name: 'drizzle-1',
          include: DRIZZLE_1,
          testTimeout: minutes(4),
          hookTimeout: minutes(1),
          ...inGroup(2, 2),
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: minutes(1),
          hookTimeout: minutes(5),
          // Another server may be built at the same time.
          expect: { poll: { timeout: 5_000 } },
          // Concurrent tests share a browser.
          maxConcurrency: 3,
          ...RETRY,
          ...inGroup(3, 2),
        },
      },
      {
        extends: true,
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          testTimeout: minutes(2),
          hookTimeout: minutes(10),
          ...RETRY,
          ...inGroup(3, 2),
        },
      },
    ],
  },
})
