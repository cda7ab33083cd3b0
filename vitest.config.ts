/** Five kinds of tests: pure code, types, real databases, built Nuxt servers, the packed package. */
import { defineConfig } from 'vitest/config'
import { packageAliases, virtualModules } from './test/support/aliases.ts'
import { tallyReporter } from './test/support/reporter.ts'

const minutes = (n: number) => n * 60_000

/** Groups run one after another, so that a Nuxt build never shares the machine with a timing-sensitive test. */
const inTurn = (groupOrder: number) => ({ fileParallelism: false, maxWorkers: 1, sequence: { groupOrder } })

/** Built servers and other processes share a noisy machine with the test: one that fails is asked once more. Pure code never is. */
const onceMore = { retry: 1 }

export default defineConfig({
  resolve: {
    alias: [
      { find: /^#auto-api\/(.+)$/, replacement: `${virtualModules}/$1` },
      ...Object.entries(packageAliases()).map(([name, source]) => ({ find: new RegExp(`^${name}$`), replacement: source })),
    ],
  },
  test: {
    reporters: ['default', tallyReporter],
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: minutes(0.5), hookTimeout: minutes(1), sequence: { groupOrder: 0 } } },
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
          ...inTurn(1),
        },
      },
      {
        extends: true,
        test: {
          name: 'engines',
          include: ['test/engines/**/*.test.ts'],
          testTimeout: minutes(2),
          hookTimeout: minutes(1),
          ...inTurn(2),
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: minutes(1),
          hookTimeout: minutes(5),
          ...onceMore,
          ...inTurn(3),
        },
      },
      {
        extends: true,
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          testTimeout: minutes(2),
          hookTimeout: minutes(10),
          ...onceMore,
          ...inTurn(4),
        },
      },
    ],
  },
})
