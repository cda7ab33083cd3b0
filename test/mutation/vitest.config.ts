/** Runs the unit tests of one folder of `folders.ts`, for Stryker. */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'
import { FOLDERS } from './folders.ts'

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: (base as { readonly resolve: object }).resolve,
  test: {
    include: [...FOLDERS[process.env.MUTATED ?? '']?.tests ?? []],
    runner: fileURLToPath(new URL('sweep.ts', import.meta.url)),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
